"""Notes related to a note: by the meaning of their texts, by a walk along links, and by both together."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from pipeline.db.pagerank import power_iteration
from pipeline.domains.vault.stored import NoteGraph

_DAMPING = 0.5
"""Half of all walks end after a step: they reach a note's neighbours' neighbours, not the notes that are central to the
vault. Chosen by hand; `hoprank vault evaluate` measures it."""

_ITERATIONS = 10  # after which a walk that ends with probability 0.5 has ended but for a thousandth
_UNREACHED = 1e-6  # the visits of notes that the walk doesn't reach, so that their logarithm is finite

Scores = npt.NDArray[np.float64]


class Ranking(StrEnum):
    """A ranking of the notes related to a note."""

    VECTOR = "vector"
    LINKS = "links"
    WHOLE = "hoprank"


@dataclass(frozen=True, slots=True)
class RelatedNote:
    """A note related to another.

    ``cosine`` is that of both notes, ``visits`` the share of a walk from the other that visits it; ``linked``: a link
    leads from one to the other.
    """

    key: str
    title: str
    score: float
    cosine: float
    visits: float
    linked: bool


def related_notes(graph: NoteGraph, key: str, top_k: int, *, unlinked: bool = False) -> list[RelatedNote]:
    """Return the ``top_k`` notes most related to a note; with ``unlinked`` only those that it isn't linked with."""
    scores, neighbours = related_scores(graph, key), graph.neighbours(key)
    excluded = {key, *(neighbours if unlinked else ())}
    first = ranked_keys(graph, scores[Ranking.WHOLE], excluded)[:top_k]
    rankings, related = [scores[kind] for kind in (Ranking.WHOLE, Ranking.VECTOR, Ranking.LINKS)], []
    for other in first:
        score, cosine, visits = (float(ranking[graph.rows[other]]) for ranking in rankings)
        related.append(RelatedNote(other, graph.notes[other].title, score, cosine, visits, other in neighbours))
    return related


def related_scores(graph: NoteGraph, key: str) -> dict[Ranking, Scores]:
    """Return the score of every note, by row, in each ranking.

    The vectors' ranking compares the means of both notes' passages. The whole adds the standard scores of the nearest
    passages and of the logarithm of the walk's visits.
    """
    row, unrelated = graph.rows[key], np.full(len(graph.keys), -1.0)
    cosines = (graph.vectors @ graph.vectors[row]).astype(np.float64)
    others = np.arange(len(graph.keys)) != row
    restart = np.zeros(len(graph.keys))
    restart[row] = 1.0
    source, target = graph.ends
    visits = power_iteration(source, target, np.ones(len(source)), restart, damping=_DAMPING, iterations=_ITERATIONS)
    vectors, rows = graph.passages
    own = vectors[rows == row]
    nearest = graph.best((vectors @ own.T).max(axis=1)) if len(own) else unrelated
    # The mean of two cosines: of a note's nearest passage to the note itself, and the reverse.
    theirs = graph.best(vectors @ graph.vectors[row])
    ours = (own @ graph.vectors.T).max(axis=0) if len(own) else unrelated
    passages = _standard(nearest, others) + _standard((theirs + ours) / 2, others)
    whole = _standard(passages, others) + _standard(np.log(visits + _UNREACHED), others)
    return {Ranking.VECTOR: cosines, Ranking.LINKS: visits, Ranking.WHOLE: whole}


def ranked_keys(graph: NoteGraph, scores: Scores, excluded: set[str]) -> Sequence[str]:
    """Return the keys of the notes, best first, ties by key, without those excluded."""
    order = np.argsort(-scores, kind="stable").tolist()
    return [key for key in (graph.keys[row] for row in order) if key not in excluded]


def _standard(values: Scores, among: npt.NDArray[np.bool_]) -> Scores:
    """Return standard scores by the mean and the deviation of the values where ``among`` is true."""
    if not among.any():
        return values
    standard: Scores = (values - values[among].mean()) / (float(values[among].std()) or 1.0)
    return standard
