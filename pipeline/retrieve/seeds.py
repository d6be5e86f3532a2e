"""What the walk and the hops start from: the best of vector and full text, and the names in the question."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from pipeline.retrieve.fuse import Ranked
from pipeline.settings import WalkSettings


@dataclass(frozen=True, slots=True)
class NamedEntity:
    """An entity that the question names: in how many chunks it is, and the only one if it is one."""

    id: str
    key: str
    frequency: int
    only_chunk: str | None


@dataclass(frozen=True, slots=True)
class Seeds:
    """Restart weights by node id, which sum to 1, and whether names lead."""

    chunks: Mapping[str, float]
    entities: Mapping[str, float]
    named: bool

    @property
    def ids(self) -> list[str]:
        """The ids, the heaviest first, ties by id."""
        weights = {**self.chunks, **self.entities}
        return sorted(weights, key=lambda id_: (-weights[id_], id_))


def plant(hybrid: Ranked, names: list[NamedEntity], chunks: int, settings: WalkSettings) -> Seeds:
    """Weigh the seeds: steeply by rank where the question has names, gently where it has none.

    ``chunks`` is the corpus's size. An entity that one chunk alone mentions is no node of the projection: its
    share goes to that chunk.
    """
    steep = settings.steepness if names else settings.steepness_unnamed
    raw = {id_: rank**-steep for rank, id_ in enumerate(hybrid.ids[: settings.chunk_seeds], 1)}
    chunk_weights = _scaled(raw, 1.0)
    rarity = {name.id: math.log(1 + chunks / name.frequency) for name in names}
    entity_weights = _scaled(rarity, settings.names)
    for name in names:
        if name.only_chunk is not None:
            share = entity_weights.pop(name.id)
            chunk_weights[name.only_chunk] = chunk_weights.get(name.only_chunk, 0.0) + share
    total = sum(chunk_weights.values()) + sum(entity_weights.values()) or 1.0
    return Seeds(
        {id_: weight / total for id_, weight in chunk_weights.items()},
        {id_: weight / total for id_, weight in entity_weights.items()},
        bool(names),
    )


def _scaled(weights: Mapping[str, float], total: float) -> dict[str, float]:
    present = sum(weights.values())
    return {id_: weight * total / present for id_, weight in weights.items()}
