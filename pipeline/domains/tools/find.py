"""Find the tools for a task: split it into clauses, rank all tools, and insert what each found tool needs after it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice, pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pipeline.domains.tools.catalogue import words_of_name
from pipeline.domains.tools.index import Scores, ToolIndex, terms_of, words_of
from pipeline.domains.tools.order import closure
from pipeline.embedding.embedder import Embedder
from pipeline.knowledge.search import check_top_k
from pipeline.records import Vector
from pipeline.retrieve.question import check_question
from pipeline.text.prose import sentences

FEWEST, MOST = 3, 20
"""Bounds of the number of tools that are returned by default. Chosen by hand."""

_SHARE = 0.75
"""Share of the best score that a tool needs to count as a target. On 47 tasks for several servers 0.75 returns 5 tools
on average, with recall 52%; of ten tools recall is 60%. 0.7 to 0.85 differ in F1 by 2 points, 0.85 finds 46%. On 779
tasks for a tool with stated needs all find 99%. A cut at the widest gap, or as many tools as clauses, is not better."""

_MOST_WORDS = 5  # words of a task that an explanation lists: it stays on a line


class Role(StrEnum):
    """Why a tool is among those found."""

    TARGET = "target"
    """its texts fit the task, or its output an input of a tool whose texts do"""
    NEEDED = "needed"
    """a tool before it needs it"""


@dataclass(frozen=True, slots=True)
class FoundTool:
    """A tool found for a task, at ``rank`` from 1; ``service`` is the name of its service.

    ``why`` lists the evidence. A needed tool has the score of its target, and in ``needed_by`` the id of the tool that
    needs it; empty for a target.
    """

    id: str
    name: str
    service: str
    score: float
    rank: int
    why: tuple[str, ...]
    role: Role
    needed_by: str = ""


def find_tools(index: ToolIndex, task: str, embed: Embed, top_k: int | None = None) -> list[FoundTool]:
    """Return the tools for a task, best first: each target, then the tools that it needs.

    Without ``top_k`` the targets are the tools with at least three quarters of the best score, and as many more as make
    at least three tools; of the whole list the first twenty are returned. Raises QuestionError for an empty task,
    GraphError for a ``top_k`` below 1.
    """
    task = check_question(task, "task")
    if top_k is not None:
        check_top_k(top_k)
    if not index.tools:
        return []
    scored = score_tools(index, task, embed)
    ranked = _found(index, task, scored)
    if top_k is not None:
        return list(islice(ranked, top_k))
    least = _SHARE * scored.scores.max()
    found: list[FoundTool] = []
    for tool in islice(ranked, MOST):
        if tool.role is Role.TARGET and tool.score < least and len(found) >= FEWEST:
            break
        found.append(tool)
    return found


def _found(index: ToolIndex, task: str, scored: Scored) -> Iterator[FoundTool]:
    """Yield all tools, best first, ties by id, each target followed by the tools that it needs; no tool twice."""
    rows = {tool.id: row for row, tool in enumerate(index.tools)}
    seen: set[str] = set()
    for target_row in np.argsort(-scored.scores, kind="stable").tolist():
        target, score = index.tools[target_row].id, float(scored.scores[target_row])
        for id_, by in [(target, ""), *completed(target, index.needs)] if target not in seen else ():
            if id_ not in seen:
                seen.add(id_)
                row, role = rows[id_], Role.NEEDED if by else Role.TARGET
                service = index.services[index.service_rows[row]]
                why = (f"needed by {index.tools[rows[by]].name}",) if by else _why(index, row, task, scored)
                name = index.tools[row].name
                yield FoundTool(id_, name, service.name or service.id, score, len(seen), why, role, by)


def _why(index: ToolIndex, row: int, task: str, scored: Scored) -> tuple[str, ...]:
    """Return why a target was found: the tool that takes its output, else the clause and words that it fits."""
    tool, best, fed = index.tools[row], int(scored.best[row]), int(scored.feeds[row])
    if fed >= 0:
        return (f"its output fits {index.tools[fed].name}",)
    own = set(terms_of(f"{words_of_name(tool.name)} {tool.description}"))
    words = [word for word in dict.fromkeys(words_of(task)) if own.intersection(terms_of(word))][:_MOST_WORDS]
    clause = (f"fits: {scored.parts[best]}",) if best else ()
    return (*clause, f"words: {', '.join(words)}") if words else clause or ("near in meaning",)


Embed: TypeAlias = Callable[[Sequence[str]], Vector]
"""A function that embeds questions: unit vectors, row by row."""

_K = 10
"""Constant of reciprocal rank fusion. 5, 10, 20 and 60 were tried on 47 tasks for several servers and on 779 for a tool
with stated needs: recall@10 differs by 1 point at most. 10 is best for recall@5, on any 46 of the 47 too."""

_FLOW = 0.9
"""Least share of a tool's score that the tools whose output fits its input have: below 1, they come after it. On the 47
tasks recall@10 is 3 to 4 points higher for 0.8 to 0.95; on the 779 it doesn't change."""

_DIGITS = 12  # digits of a sum of reciprocal ranks that count, so that it doesn't depend on their order


def embedding_by(embedder: Embedder) -> Embed:
    """Return the function that embeds questions by an embedder."""
    return lambda texts: np.array([embedder.embed_query(text) for text in texts], dtype=np.float32)


@dataclass(frozen=True)
class Scored:
    """The scores of all tools for a task, by row; ``parts`` are the task and its clauses.

    ``best`` is the index in ``parts`` of the clause that a tool fits best; 0 for a task of a single clause. ``feeds``
    is the row of the tool that gives a tool its score, since it may take its output; -1 if the score is its own.
    ``cosines`` are those of the tools' texts to the whole task.
    """

    scores: Scores
    parts: Sequence[str]
    best: NDArray[np.intp]
    feeds: NDArray[np.intp]
    cosines: Vector


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
    vectors = embed(texts)
    fused = np.array([_fused(index, text, vector) for text, vector in zip(texts, vectors, strict=True)])
    tools = np.arange(len(index.tools))
    best = fused[1:].argmax(axis=0) + 1 if pieces[1:] else np.zeros_like(tools)
    scores = fused[0] + fused[best, tools]
    raised, feeds = scores.copy(), np.full_like(tools, -1)
    for source, target in index.flows.tolist():  # a raised score raises no other
        if _FLOW * scores[target] > raised[source]:
            raised[source], feeds[source] = _FLOW * scores[target], target
    return Scored(np.round(raised, _DIGITS), parts, best, feeds, index.cosines(vectors[0]))


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


Needs: TypeAlias = Mapping[str, Sequence[str]]
"""The ids of the tools that each tool needs, in the author's order; a tool without an entry is unavailable."""


def completed(tool: str, needs: Needs) -> list[tuple[str, str]]:
    """Return the tools that a tool needs, directly or indirectly, each once, with the tool that needs it.

    A needed tool is followed by its own needs. Of several needs, those that need the fewest tools in turn come first,
    ties in the author's order: the first few tools then complete as many needs as they can. On 779 tasks for a tool
    with stated needs, the first ten tools hold all that are needed for 91%, and for 83% with the nearest needs first.
    A cycle ends where it began.
    """
    sizes: dict[str, int] = {}

    def smallest_last(by: str) -> list[tuple[str, str]]:
        had = [needed for needed in needs.get(by, ()) if needed in needs]
        for needed in had:
            if needed not in sizes:
                sizes[needed] = len(closure(needed, needs))
        return [(needed, by) for needed in sorted(had, key=sizes.__getitem__)][::-1]

    found = {tool: ""}
    waiting = smallest_last(tool)
    while waiting:
        needed, by = waiting.pop()
        if needed not in found:
            found[needed] = by
            waiting += smallest_last(needed)
    return list(found.items())[1:]


MOST_CLAUSES = 8
"""Maximum number of clauses, for a bounded number of texts to embed; the tasks seen have three on average."""

_FEWEST_WORDS = 3
"""Clauses of fewer words are joined: a place or a name alone asks for nothing. 2 and 4 rank alike."""

_CONJUNCTION = r"(?:and|then|und|dann|et|puis|y|luego|и|затем)\s+"
_BREAK = re.compile(
    rf"(?:(?<=[；，、])|(?<=[,;])\s+|(?<=\n)|(?<=\s)(?={_CONJUNCTION}))(?:{_CONJUNCTION})*+", re.IGNORECASE
)
"""Between two clauses, with the conjunctions that the second begins with."""

_PATH = re.compile(
    r"(?<![\w:/.\\])(?:~|\.{0,2}|[A-Za-z]:)[/\\](?:[\w.-]+[/\\])*[\w.-]*?\.(?P<kind>\w{1,8})(?!\.?[\w/\\])"
)
_IDEOGRAPH = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_IDEOGRAPHS_PER_WORD = 2  # as in Chinese; chosen by hand, not measured


def clauses(task: str) -> list[str]:
    """Return the clauses of a task in order, at most ``MOST_CLAUSES``; they hold all of it but outer white space.

    A clause ends with a sentence, a line, a semicolon or a comma, or before a conjunction of the commonest languages. A
    task of more clauses is cut into stretches of about equal length.
    """
    pieces: list[str] = []
    for start, end in sentences(task, 0, len(task)):
        sentence = task[start:end]
        breaks = [0, *(match.start() for match in _BREAK.finditer(sentence)), len(sentence)]
        for piece in (sentence[first:last] for first, last in pairwise(breaks)):
            if pieces and (_is_short(piece) or _is_short(pieces[-1])):
                pieces[-1] += f" {piece}"
            else:
                pieces.append(piece)
    stripped = list(filter(None, (" ".join(piece.split()) for piece in pieces)))
    if len(stripped) <= MOST_CLAUSES:
        return stripped
    stretches: list[list[str]] = [[] for _ in range(MOST_CLAUSES)]
    length, before = sum(map(len, stripped)), 0
    for piece in stripped:
        stretches[before * MOST_CLAUSES // length].append(piece)
        before += len(piece)
    return [" ".join(stretch) for stretch in stretches if stretch]


def without_paths(text: str) -> str:
    """Return a text with the kind of file in place of each path of a file: ``md file`` for ``~/notes/a.md``.

    A path asks for a tool that handles files; the names in it say nothing of tools. On 47 tasks for several
    servers, many of which write a file, recall@10 is 4 points higher for it.
    """
    return _PATH.sub(r"\g<kind> file", text)


def _is_short(piece: str) -> bool:
    words, ideographs = _IDEOGRAPH.subn(" ", piece)
    return len(re.findall(r"[^\W_]+", words)) + ideographs / _IDEOGRAPHS_PER_WORD < _FEWEST_WORDS
