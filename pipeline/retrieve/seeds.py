"""What the walk and the hops start from: the best of vector and full text, and the names in the question."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pipeline.retrieve.fuse import Ranked
from pipeline.settings import EvidenceSettings, WalkSettings

_FEW = 5
"""Chunks; what so few mention is rare in a corpus of any size."""


@dataclass(frozen=True, slots=True)
class NamedEntity:
    """An entity that the question names, by its usual spelling: how many chunks mention it, the only one if it is one.

    ``titled`` if a document or a section is named after it.
    """

    id: str
    key: str
    name: str
    frequency: int
    only_chunk: str | None
    titled: bool


class Strength(StrEnum):
    """How much a question's names say about where its answer is."""

    TITLED = "titled"
    """One is what a document or section is named after, and rare: the question starts from there."""
    RARE = "rare"
    """One is rare."""
    WEAK = "weak"
    """None is."""


@dataclass(frozen=True, slots=True)
class Seeds:
    """Restart weights by node id, which sum to 1."""

    chunks: Mapping[str, float]
    entities: Mapping[str, float]

    @property
    def ids(self) -> list[str]:
        """The ids, the heaviest first, ties by id."""
        weights = {**self.chunks, **self.entities}
        return sorted(weights, key=lambda id_: (-weights[id_], id_))


@dataclass(frozen=True, slots=True)
class Planted:
    """Seeds, and how strong the names are, which says how they are weighed."""

    strength: Strength
    seeds: Seeds


def weigh(names: Sequence[NamedEntity], chunks: int, settings: EvidenceSettings) -> Strength:
    """Say how much the names in a question tell, in a corpus of so many chunks."""
    if any(name.titled and name.frequency <= _at_most(settings.titled_share, chunks) for name in names):
        return Strength.TITLED
    if any(name.frequency <= _at_most(settings.rare_share, chunks) for name in names):
        return Strength.RARE
    return Strength.WEAK


def plant(
    hybrid: Ranked,
    names: Sequence[NamedEntity],
    chunks: int,
    evidence: EvidenceSettings,
    settings: WalkSettings,
) -> Planted:
    """Weigh the seeds, in a corpus of so many ``chunks``: by rank, and the names by how rare they are.

    Where the names are strong evidence they weigh more in all. An entity that one chunk alone mentions is no node of
    the projection: its share goes to that chunk.
    """
    first = hybrid.ids[: settings.chunk_seeds]
    strength = weigh(names, chunks, evidence)
    of_names = settings.names_titled if strength is Strength.TITLED else settings.names
    return Planted(strength, _weighed(first, names, chunks, settings.steepness, of_names))


def _weighed(
    first: Sequence[str], names: Sequence[NamedEntity], chunks: int, steepness: float, of_names: float
) -> Seeds:
    raw = {id_: rank**-steepness for rank, id_ in enumerate(first, 1)}
    chunk_weights = _scaled(raw, 1.0)
    rarity = {name.id: math.log(1 + chunks / name.frequency) for name in names}
    entity_weights = _scaled(rarity, of_names)
    for name in names:
        if name.only_chunk is not None:
            share = entity_weights.pop(name.id)
            chunk_weights[name.only_chunk] = chunk_weights.get(name.only_chunk, 0.0) + share
    total = sum(chunk_weights.values()) + sum(entity_weights.values()) or 1.0
    return Seeds(
        {id_: weight / total for id_, weight in chunk_weights.items()},
        {id_: weight / total for id_, weight in entity_weights.items()},
    )


def _at_most(share: float, chunks: int) -> float:
    return max(_FEW, share * chunks)


def _scaled(weights: Mapping[str, float], total: float) -> dict[str, float]:
    present = sum(weights.values())
    return {id_: weight * total / present for id_, weight in weights.items()}
