"""Find the tools for a task: rank all tools, then put what each found tool needs behind it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice

from pipeline.domains.tools.find.complete import completed
from pipeline.domains.tools.find.index import ToolIndex, terms_of, words_of
from pipeline.domains.tools.find.rank import Embed, Scored, score_tools
from pipeline.domains.tools.texts import words_of_name
from pipeline.knowledge.search import check_top_k
from pipeline.retrieve.question import check_question

FEWEST, MOST = 3, 20
"""The number of tools that are returned unless one is asked for."""

_SHARE = 0.75
"""Share of the best score that a tool needs to count as a target. On 47 tasks for several servers 0.75 returns 5 tools
on average, with recall 52%; of ten tools recall is 60%. 0.7 to 0.85 differ in F1 by 2 points, 0.85 finds 46%. On 779
tasks for a tool with stated needs all find 99%. A cut at the widest gap, or as many tools as clauses, is not better."""

_MOST_WORDS = 5


class Role(StrEnum):
    """Why a tool is among those found."""

    TARGET = "target"
    """its texts fit the task, or its output an input of a tool whose texts do"""
    NEEDED = "needed"
    """a tool before it needs it"""


@dataclass(frozen=True, slots=True)
class FoundTool:
    """A tool found for a task, at ``rank`` from 1; ``service`` is the name of its service.

    ``why`` says what speaks for it. A needed tool has the score of its target, and ``needed_by`` the id of the tool
    that needs it, which is empty for a target.
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
    task = check_question(task)
    if top_k is not None:
        check_top_k(top_k)
    if not index.tools:
        return []
    scored = score_tools(index, task, embed)
    rows = scored.order()
    if top_k is not None:
        return list(islice(_found(index, task, scored, rows), top_k))
    least = _SHARE * scored.scores[rows[0]]
    found: list[FoundTool] = []
    for tool in islice(_found(index, task, scored, rows), MOST):
        if tool.role is Role.TARGET and tool.score < least and len(found) >= FEWEST:
            break
        found.append(tool)
    return found


def _found(index: ToolIndex, task: str, scored: Scored, rows: list[int]) -> Iterator[FoundTool]:
    """Yield all tools, each target followed by the tools that it needs and that weren't there before."""
    by_id = {tool.id: row for row, tool in enumerate(index.tools)}
    seen: dict[str, int] = {}
    for row in rows:
        target = index.tools[row].id
        if target in seen:
            continue
        score = float(scored.scores[row])
        for id_, by in [(target, ""), *completed(target, index.needs)]:
            if id_ not in seen:
                seen[id_] = len(seen) + 1
                yield _tool(index, by_id, id_, by, score, seen[id_], _why(index, by_id, id_, by, task, scored))


def _tool(
    index: ToolIndex, rows: Mapping[str, int], id_: str, by: str, score: float, rank: int, why: tuple[str, ...]
) -> FoundTool:
    tool = index.tools[rows[id_]]
    service = index.services[index.service_rows[rows[id_]]]
    role = Role.NEEDED if by else Role.TARGET
    return FoundTool(id_, tool.name, service.name or service.id, score, rank, why, role, by)


def _why(index: ToolIndex, rows: Mapping[str, int], id_: str, by: str, task: str, scored: Scored) -> tuple[str, ...]:
    """Say which tool needs a tool or may take its output, or which clause and which words of the task it fits."""
    if by:
        return (f"needed by {index.tools[rows[by]].name}",)
    tool, best, fed = index.tools[rows[id_]], int(scored.best[rows[id_]]), int(scored.feeds[rows[id_]])
    if fed >= 0:
        return (f"its output fits {index.tools[fed].name}",)
    own = set(terms_of(f"{words_of_name(tool.name)} {tool.description}"))
    words = [word for word in dict.fromkeys(words_of(task)) if own.intersection(terms_of(word))][:_MOST_WORDS]
    clause = (f"fits: {scored.parts[best]}",) if best else ()
    return (*clause, f"words: {', '.join(words)}") if words else clause or ("near in meaning",)
