"""How likely it is that a name in a question leads to what is asked for: a calibrated probability for each.

Being a title or a heading says little: "Status codes" heads a section, and so does "Use case". The signs are whether
the passages that mention the name agree with vector and full text, how many they are, and how the question writes it.
``hoprank tune`` fits the weights and prints how often names of each confidence do lead to a relevant document.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from pipeline.retrieve.expansion import Neighbourhood
from pipeline.retrieve.fusion import Ranked
from pipeline.retrieve.scoring.standard_scores import standard_scores
from pipeline.settings import NameSettings

_RANK_K = 5


@dataclass(frozen=True, slots=True)
class NamedEntity:
    """An entity that the question names, by its usual spelling: how many chunks mention it, the only one if it is one.

    ``titled`` if a document or a section is named after it, ``capitalised`` if the question writes it as a name;
    ``confidence`` is the probability that it leads to a relevant document, 0 to 1.
    """

    id: str
    key: str
    name: str
    frequency: int
    only_chunk: str | None
    titled: bool
    capitalised: bool = False
    confidence: float = 0.0


class Signs(NamedTuple):
    """What a name's confidence is made from.

    ``cosine`` is the standard score, among the vector leg's, of the nearest chunk that is about the name, or else
    mentions it; ``agreement`` 1 if the hybrid leg's first chunk mentions it, and less the lower the first that does;
    ``frequency`` the logarithm of how many chunks mention it; ``capitals`` 1 if the question capitalises it.
    """

    cosine: float
    agreement: float
    frequency: float
    capitals: float


def signs_of(name: NamedEntity, vector: Ranked, hybrid: Ranked, around: Neighbourhood) -> Signs:
    """Return what the legs and the question say of a name."""
    chunks = mentions_of(name, around)
    nearest = led_to(chunks)
    return Signs(
        cosine=float(standard_scores(nearest or [""], vector).max()),
        agreement=next((_agreement(rank) for rank, id_ in enumerate(hybrid.scores, 1) if id_ in chunks), 0.0),
        frequency=math.log(max(name.frequency, 1)),
        capitals=float(name.capitalised),
    )


def mentions_of(name: NamedEntity, around: Neighbourhood) -> Mapping[str, bool]:
    """Return the chunks at hand that mention a name of the question, ``True`` for those about it."""
    if name.id in around.entities:
        return around.entities[name.id].chunks
    return {name.only_chunk: name.titled} if name.only_chunk else {}


def led_to(mentions: Mapping[str, bool]) -> list[str]:
    """Return the chunks that a name leads to: those about it, or else all that mention it."""
    return [chunk for chunk, about in mentions.items() if about] or list(mentions)


def with_confidence(
    names: Sequence[NamedEntity], vector: Ranked, hybrid: Ranked, around: Neighbourhood, settings: NameSettings
) -> tuple[NamedEntity, ...]:
    """Return the names, each with its confidence."""
    return tuple(
        replace(name, confidence=probability(signs_of(name, vector, hybrid, around), settings)) for name in names
    )


def probability(signs: Signs, settings: NameSettings) -> float:
    """Return how likely a name with these signs leads to a relevant document: a logistic regression."""
    weights = Signs(settings.cosine, settings.agreement, settings.frequency, settings.capitals)
    total = settings.intercept + math.fsum(weight * sign for weight, sign in zip(weights, signs, strict=True))
    # Not 1 / (1 + exp(-total)), which overflows where weights are large.
    return (1 + math.tanh(total / 2)) / 2


def confidence_in(names: Sequence[NamedEntity]) -> float:
    """Return the confidence in the surest of a question's names, 0 without one."""
    return max((name.confidence for name in names), default=0.0)


def _agreement(rank: int) -> float:
    return (_RANK_K + 1) / (_RANK_K + rank)
