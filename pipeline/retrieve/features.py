"""What speaks for each candidate, as numbers: where the legs have it, what it is about, and how it goes on from others.

The last three compare a candidate with the first passages of the walk: the second passage of a question that takes two
seldom looks like the question, but the first one leads to it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pipeline.records import EdgeKind
from pipeline.retrieve.fuse import Ranked
from pipeline.retrieve.neighbourhood import Neighbourhood
from pipeline.retrieve.seeds import NamedEntity

Matrix: TypeAlias = NDArray[np.float64]

FEATURES = (
    "cosine",
    "walk_rank",
    "words_rank",
    "cosine_fall",
    "about_named",
    "about_linked",
    "referred_to",
    "refers_back",
)
"""The columns of :func:`features`, in order."""

_FIRST = 5
"""Passages of the walk that candidates are compared with as what may come before them."""

_RANK_K = 5


@dataclass(frozen=True, slots=True)
class Evidence:
    """All that was found for a question, which the features are made from."""

    vector: Ranked
    words: Ranked
    hybrid: Ranked
    walk: Ranked
    names: tuple[NamedEntity, ...]
    neighbourhood: Neighbourhood


def candidates(evidence: Evidence, of_each: int) -> list[str]:
    """Return the first ``of_each`` chunks of hybrid and of the walk, each once."""
    return list(dict.fromkeys(id_ for leg in (evidence.hybrid, evidence.walk) for id_ in leg.ids[:of_each]))


def features(ids: Sequence[str], evidence: Evidence) -> Matrix:
    """Return the features of the candidates ``ids``, shape ``(len(ids), len(FEATURES))``."""
    cosines = evidence.vector.scores
    # What the vector leg leaves out is no nearer than the last that it has.
    cosine = np.array([cosines.get(id_, min(cosines.values(), default=0.0)) for id_ in ids])
    columns = {
        "cosine": cosine,
        "walk_rank": _reciprocal(ids, evidence.walk),
        "words_rank": _reciprocal(ids, evidence.words),
        "cosine_fall": cosine - max(cosines.values(), default=0.0),
        "about_named": _about_named(ids, evidence),
        **_chain(ids, evidence),
    }
    return np.stack([columns[name] for name in FEATURES], axis=1)


def _chain(ids: Sequence[str], evidence: Evidence) -> dict[str, Matrix]:
    """Compare each candidate with what may come before it: the strongest tie to one of the walk's first."""
    rows = {id_: row for row, id_ in enumerate(ids)}
    first = [rows[id_] for id_ in evidence.walk.ids[:_FIRST] if id_ in rows]
    about = _about_linked(rows, first, evidence)
    forth, back = _referring(rows, first, evidence.neighbourhood)
    ties = {"about_linked": about, "referred_to": forth, "refers_back": back}
    for matrix in ties.values():
        matrix[first, range(len(first))] = 0
    return {name: matrix.max(axis=1, initial=0) for name, matrix in ties.items()}


def _about_linked(rows: Mapping[str, int], first: Sequence[int], evidence: Evidence) -> Matrix:
    """Return how rare the names are that each of ``first`` mentions and a candidate is about.

    ``rows`` are the candidates' by id; the shape is ``(len(rows), len(first))``. The question's own names are left out.
    """
    here = evidence.neighbourhood
    named = {name.id for name in evidence.names}
    others = [id_ for id_ in here.entities if id_ not in named]
    mentions = np.zeros((len(rows), len(others)))
    about = np.zeros_like(mentions)
    for column, id_ in enumerate(others):
        for chunk, is_about in here.entities[id_].chunks.items():
            if chunk in rows:
                mentions[rows[chunk], column] = 1
                about[rows[chunk], column] = is_about
    rarity = np.array([here.rarity(id_) for id_ in others]) / _most(here)
    rare: Matrix = about @ (mentions[first] * rarity).T
    return rare


def _referring(rows: Mapping[str, int], first: Sequence[int], here: Neighbourhood) -> tuple[Matrix, Matrix]:
    """Return what the links from each of ``first`` to the candidates are worth, and those back to them."""
    ids = list(rows)
    places = {ids[row]: place for place, row in enumerate(first)}
    forth, back = np.zeros((len(rows), len(first))), np.zeros((len(rows), len(first)))
    for link in here.links:
        if link.kind in (EdgeKind.REFERS_TO, EdgeKind.LINKS_TO):
            if link.source in places and link.target in rows:
                forth[rows[link.target], places[link.source]] = link.share
            if link.target in places and link.source in rows:
                back[rows[link.source], places[link.target]] = link.share
    return forth, back


def _about_named(ids: Sequence[str], evidence: Evidence) -> Matrix:
    """Return how rare the rarest name of the question is that each candidate is about."""
    here = evidence.neighbourhood
    rows = {id_: row for row, id_ in enumerate(ids)}
    about = np.zeros(len(ids))
    for name in evidence.names:
        chunks = {name.only_chunk: name.titled} if name.only_chunk else {}
        if name.id in here.entities:
            chunks = dict(here.entities[name.id].chunks)
        rarity = math.log(1 + here.chunks / name.frequency) / _most(here)
        for chunk in (chunk for chunk, is_about in chunks.items() if is_about and chunk in rows):
            about[rows[chunk]] = max(about[rows[chunk]], rarity)
    return about


def _most(here: Neighbourhood) -> float:
    return math.log(1 + max(here.chunks, 1))


def _reciprocal(ids: Sequence[str], leg: Ranked) -> Matrix:
    ranks = leg.ranks()
    return np.array([1 / (_RANK_K + ranks[id_]) if id_ in ranks else 0.0 for id_ in ids])
