"""Confidence in the names of a question: the calibrated probability that a name leads to a relevant document.

Being a title or a heading says little: "Status codes" heads a section, and so does "Use case". The signs are the
agreement of the passages that mention the name with vector and full text, their number, and the question's spelling.
``hoprank tune`` fits the weights, and prints how often names of each confidence lead to a relevant document.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.retrieve.expansion import Neighbourhood
from pipeline.retrieve.fusion import Ranked
from pipeline.settings import NameSettings
from pipeline.text.names import name_key

_RANK_K = 5  # agreement falls from 1 at rank 1 to 0.4 at rank 10; chosen by hand, not measured


@dataclass(frozen=True, slots=True)
class NamedEntity:
    """An entity that the question names; ``name`` is its usual spelling.

    ``frequency`` is the number of chunks that mention it, and ``only_chunk`` the chunk if it is a single one.
    ``titled``: it is the title of a document or a heading. ``capitalised``: the question writes it as a name.
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

    @property
    def folded(self) -> str:
        """The key in whole words: it is of stems where names are inflected."""
        return name_key(self.name)


class Signs(NamedTuple):
    """The evidence for a name.

    ``cosine`` is the standard score in the vector leg of the nearest chunk about the name, or, without one, of the
    nearest chunk that mentions it. ``agreement`` is 1 if the first chunk of the hybrid leg mentions it, and falls with
    the rank of the first chunk that does. ``frequency`` is the logarithm of the number of chunks that mention it.
    ``capitals`` is 1 if the question capitalises it.
    """

    cosine: float
    agreement: float
    frequency: float
    capitals: float


def signs_of(name: NamedEntity, vector: Ranked, hybrid: Ranked, around: Neighbourhood) -> Signs:
    """Return the evidence for a name from the legs and the question."""
    chunks = mentions_of(name, around)
    nearest = led_to(chunks)
    ranks = (rank for rank, id_ in enumerate(hybrid.scores, 1) if id_ in chunks)
    return Signs(
        cosine=float(standard_scores(nearest or [""], vector).max()),
        agreement=next(((_RANK_K + 1) / (_RANK_K + rank) for rank in ranks), 0.0),
        frequency=math.log(max(name.frequency, 1)),
        capitals=float(name.capitalised),
    )


def mentions_of(name: NamedEntity, around: Neighbourhood) -> Mapping[str, bool]:
    """Return the chunks in the neighbourhood that mention a name, ``True`` for chunks about it."""
    if name.id in around.entities:
        return around.entities[name.id].chunks
    return {name.only_chunk: name.titled} if name.only_chunk else {}


def led_to(mentions: Mapping[str, bool]) -> list[str]:
    """Return the chunks that a name leads to: the chunks about it, or all that mention it if there are none."""
    return [chunk for chunk, about in mentions.items() if about] or list(mentions)


def with_confidence(
    names: Sequence[NamedEntity], vector: Ranked, hybrid: Ranked, around: Neighbourhood, settings: NameSettings
) -> tuple[NamedEntity, ...]:
    """Return the names with their confidence."""
    return tuple(
        replace(name, confidence=probability(signs_of(name, vector, hybrid, around), settings)) for name in names
    )


def probability(signs: Signs, settings: NameSettings) -> float:
    """Return the probability that a name with these signs leads to a relevant document, by logistic regression."""
    weights = Signs(settings.cosine, settings.agreement, settings.frequency, settings.capitals)
    total = settings.intercept + math.fsum(weight * sign for weight, sign in zip(weights, signs, strict=True))
    # Not 1 / (1 + exp(-total)), which overflows where weights are large.
    return (1 + math.tanh(total / 2)) / 2


def confidence_in(names: Sequence[NamedEntity]) -> float:
    """Return the highest confidence in a name of a question, 0 without names."""
    return max((name.confidence for name in names), default=0.0)


def standard_scores(ids: Sequence[str], leg: Ranked) -> NDArray[np.float64]:
    """Return the scores of a leg for chunks, in standard deviations from the mean of its ranking.

    A chunk that the leg lacks gets its lowest score. If all its scores are equal, the result is 0.
    """
    mean, spread = leg.moments
    if spread == 0:
        return np.zeros(len(ids))
    least = min(leg.scores.values())
    return np.array([(leg.scores.get(id_, least) - mean) / spread for id_ in ids])
