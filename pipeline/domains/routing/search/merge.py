"""Merging the rankings of several corpora into one, on scores that can be compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from pipeline.records import Hit


class MergedHit(NamedTuple):
    """A hit with its project; its rank and score are those of the merged ranking."""

    project: str
    hit: Hit


def _score(share: float, rank: int) -> float:
    return share / (1 + rank)


def can_enter(share: float, merged: Sequence[MergedHit], top_k: int) -> bool:
    """Return whether the first hit of a project with this share would enter the best ``top_k`` that are merged."""
    return len(merged) < top_k or _score(share, 1) >= merged[top_k - 1].hit.score


def merge(rankings: Mapping[str, Sequence[Hit]], shares: Mapping[str, float], top_k: int) -> list[MergedHit]:
    """Return the best ``top_k`` hits of projects' rankings, best first.

    The scores of different corpora can't be compared: they come from ranks, and from words that each corpus counts by
    itself. The probability that a project answers and the rank within it can: a hit's score is the share of its project
    divided by 1 + its rank. Ties go by the project's and the hit's id.
    """
    scored = [
        MergedHit(project, replace(hit, score=_score(shares[project], hit.rank)))
        for project, hits in rankings.items()
        for hit in hits
    ]
    scored.sort(key=lambda one: (-one.hit.score, one.project, one.hit.id))
    return [MergedHit(one.project, replace(one.hit, rank=rank)) for rank, one in enumerate(scored[:top_k], start=1)]
