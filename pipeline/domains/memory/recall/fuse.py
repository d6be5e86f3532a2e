"""Fusion of the levels: reciprocal ranks, weighted by what a level knows of an item's kind.

Texts know memories best, the low level entities; each leads for its own. The others shift an item by a few places:
two weak rankings with equal weight would outvote one good one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pipeline.domains.memory.recall.records import Level, LevelRank

_K = 60

TEXT_WEIGHTS = {Level.TEXTS: 8.0, Level.LOW: 1.0, Level.HIGH: 0.5}
"""Weights of the levels for memories."""

ENTITY_WEIGHTS = {Level.LOW: 8.0, Level.HIGH: 1.0}
"""Weights of the levels for entities."""

Ranks = Mapping[str, int]
"""Ranks by id, from 1; equal ones share a rank."""


def ranks_of(scores: Mapping[str, float]) -> dict[str, int]:
    """Return ranks by score, the highest first; equal scores share the rank of the first."""
    ordered = sorted(scores.values(), reverse=True)
    first: dict[float, int] = {}
    for rank, score in enumerate(ordered, 1):
        first.setdefault(score, rank)
    return {id_: first[score] for id_, score in scores.items()}


def fuse(rankings: Mapping[Level, Ranks], weights: Mapping[Level, float]) -> dict[str, float]:
    """Return the fused scores by id, best first; ties go by id."""
    scores: dict[str, float] = {}
    for level, ranks in rankings.items():
        for id_, rank in ranks.items():
            scores[id_] = scores.get(id_, 0.0) + _score(weights[level], rank)
    return dict(sorted(scores.items(), key=lambda item: (-item[1], item[0])))


def levels_of(id_: str, rankings: Mapping[Level, Ranks], weights: Mapping[Level, float]) -> dict[Level, LevelRank]:
    """Return the rank of an item in each level that has it, with its share of the fused score."""
    parts = {level: _score(weights[level], ranks[id_]) for level, ranks in rankings.items() if id_ in ranks}
    total = sum(parts.values()) or 1.0
    return {level: LevelRank(rankings[level][id_], part / total) for level, part in parts.items()}


def first_by(ids: Sequence[str]) -> dict[str, int]:
    """Return the ranks of ids in order."""
    return {id_: rank for rank, id_ in enumerate(dict.fromkeys(ids), 1)}


def _score(weight: float, rank: int) -> float:
    return weight / (_K + rank)
