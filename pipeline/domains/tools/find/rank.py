"""The ranking: every tool's score for a task, fused from rankings for the whole task and for its best clause."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pipeline.domains.tools.find.clauses import clauses, without_paths
from pipeline.domains.tools.find.index import Scores, ToolIndex
from pipeline.embedding.embedder import Embedder
from pipeline.records import Vector

Embed: TypeAlias = Callable[[Sequence[str]], Vector]
"""A function that embeds questions: unit vectors, row by row."""

_K = 10
"""Constant of reciprocal rank fusion. 5, 10, 20 and 60 were tried on 47 tasks for several servers and on 779 for a tool
with stated needs: recall@10 differs by 1 point at most. 10 is best for recall@5, on any 46 of the 47 too."""

_FLOW = 0.9
"""Least share of a tool's score that the tools whose output fits its input have: below 1, they come after it. On the 47
tasks recall@10 is 3 to 4 points higher for 0.8 to 0.95; on the 779 it doesn't change."""

_NO_TOOL = -1

_DIGITS = 12
"""Digits of a sum of reciprocal ranks that count, so that it doesn't depend on their order."""


def embedding_by(embedder: Embedder) -> Embed:
    """Return the function that embeds questions by an embedder."""
    return lambda texts: np.array([embedder.embed_query(text) for text in texts], dtype=np.float32)


@dataclass(frozen=True)
class Scored:
    """The scores of all tools for a task, by row; ``parts`` are the task and its clauses.

    ``best`` is the index in ``parts`` of the clause that a tool fits best; 0 for a task of a single clause. ``feeds``
    is the row of the tool that gives a tool its score, since it may take its output; -1 if the score is its own.
    """

    scores: Scores
    parts: Sequence[str]
    best: NDArray[np.intp]
    feeds: NDArray[np.intp]

    def order(self) -> list[int]:
        """Return the rows of the tools, best first, ties by id."""
        rows: list[int] = np.argsort(-self.scores, kind="stable").tolist()
        return rows


def score_tools(index: ToolIndex, task: str, embed: Embed) -> Scored:
    """Score every tool of an index, which is not empty, for a task.

    Each part of the task (the whole and its clauses) has three rankings of all tools: by the cosine of the tool's text,
    by BM25 over all its words, and by the cosine of its service's text. They are fused by reciprocal rank. A tool's
    score is that for the whole plus that for the clause which it fits best: a task may take several tools. A tool whose
    output fits an input of another tool of its service has at least nine tenths of the other's score.
    """
    pieces = clauses(task)
    parts = [task, *(pieces if len(pieces) > 1 else ())]
    texts = [without_paths(part) for part in parts]
    fused = np.array([_fused(index, text, vector) for text, vector in zip(texts, embed(texts), strict=True)])
    tools = np.arange(len(index.tools))
    best = fused[1:].argmax(axis=0) + 1 if pieces[1:] else np.zeros_like(tools)
    scores, feeds = _with_flows(index, fused[0] + fused[best, tools])
    return Scored(np.round(scores, _DIGITS), parts, best, feeds)


def _with_flows(index: ToolIndex, scores: Scores) -> tuple[Scores, NDArray[np.intp]]:
    """Raise the scores of tools whose output fits another; return the scores, and the row of each one's other tool.

    A raised score raises no other.
    """
    sources, targets = index.flows
    raised, feeds = scores.copy(), np.full(len(scores), _NO_TOOL, dtype=np.intp)
    for source, target in zip(sources.tolist(), targets.tolist(), strict=True):
        if _FLOW * scores[target] > raised[source]:
            raised[source], feeds[source] = _FLOW * scores[target], target
    return raised, feeds


def _fused(index: ToolIndex, text: str, vector: Vector) -> Scores:
    """Return the fused score of every tool for a text.

    Not by :func:`pipeline.retrieve.fusion.fuse`: for each part it would make dictionaries of all tools.
    """
    cosines, services, words = index.cosines(vector), index.service_cosines(vector), index.bm25_scores(text)
    by_words = np.where(words > 0, _reciprocal(words, words), 0.0)
    return _reciprocal(cosines, cosines) + by_words + _reciprocal(services, cosines)


def _reciprocal(scores: Scores | Vector, ties: Scores | Vector) -> Scores:
    """Return 1 / (K + rank) for each score; equal scores are ranked by ``ties``, then by row."""
    reciprocal = np.empty(len(scores))
    reciprocal[np.lexsort((-ties, -scores))] = 1 / (_K + np.arange(1, len(scores) + 1))
    return reciprocal
