"""Seeds: the nodes that the walk and the hops start from, which are the best candidates and the question's names."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipeline.retrieve.fusion import Ranked
from pipeline.retrieve.scoring.confidence import NamedEntity, confidence_in
from pipeline.settings import WalkSettings


@dataclass(frozen=True, slots=True)
class Seeds:
    """Restart weights by node id; they sum to 1."""

    chunks: Mapping[str, float]
    entities: Mapping[str, float]

    @property
    def ids(self) -> list[str]:
        """The ids, heaviest first, ties by id."""
        weights = {**self.chunks, **self.entities}
        return sorted(weights, key=lambda id_: (-weights[id_], id_))


NO_SEEDS = Seeds({}, {})


def weigh_seeds(hybrid: Ranked, names: Sequence[NamedEntity], chunks: int, settings: WalkSettings) -> Seeds:
    """Weigh the first chunks of ``hybrid`` by rank, and names by confidence and rarity among ``chunks`` chunks.

    The total weight of the names follows from the confidence in the surest of them. An entity that a single chunk
    mentions is not in the projection, so that chunk gets its weight.
    """
    raw = {id_: rank**-settings.steepness for rank, id_ in enumerate(hybrid.ids[: settings.chunk_seeds], 1)}
    chunk_weights = _scaled(raw, 1.0)
    rarity = {name.id: name.confidence * math.log(1 + chunks / name.frequency) for name in names}
    entity_weights = _scaled(rarity, settings.names * confidence_in(names))
    for name in names:
        if name.only_chunk is not None:
            share = entity_weights.pop(name.id)
            chunk_weights[name.only_chunk] = chunk_weights.get(name.only_chunk, 0.0) + share
    total = math.fsum(chunk_weights.values()) + math.fsum(entity_weights.values()) or 1.0
    return Seeds(
        {id_: weight / total for id_, weight in chunk_weights.items()},
        {id_: weight / total for id_, weight in entity_weights.items()},
    )


def _scaled(weights: Mapping[str, float], total: float) -> dict[str, float]:
    sum_ = math.fsum(weights.values())
    return {id_: weight * total / sum_ if sum_ else 0.0 for id_, weight in weights.items()}
