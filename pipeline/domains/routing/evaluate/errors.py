"""Error analysis: why a mode answers a query worse than it could, and which edge would have mended it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pipeline.domains.routing.evaluate.records import Answer, FailedQuery, Failure, RoutingQuery
from pipeline.domains.routing.records import Project
from pipeline.domains.routing.schema import RelationType

_TOP = 10
_SCATTERED = 3
"""Other projects than the expected ones, from which on the first ten documents are scattered."""


def failure(
    query: RoutingQuery, mode: str, answer: Answer, ceiling: Answer, projects: Mapping[str, Project]
) -> FailedQuery | None:
    """Return why a query failed, None if it didn't: its first right document ranks as high as at the ceiling.

    A query whose ceiling has no right document in the first ten failed by its ranking: no route would mend it.
    """
    at, best = _first_right(query, answer), _first_right(query, ceiling)
    if best is None or best > _TOP:
        evidence = f"searched alone, {_listed(query.projects)} has no expected document in the first {_TOP}"
        return FailedQuery(query.id, mode, Failure.RANKING, evidence)
    if at is not None and at <= best:
        return None
    missing = [name for name in query.projects if name not in answer.searched]
    if missing:
        evidence = f"{_listed(missing)} was not searched, but {_listed(answer.searched)}"
        return FailedQuery(query.id, mode, Failure.MISSING_PROJECT, evidence, _mend(query, missing))
    place = f"the first expected document has rank {at}" if at else "no expected document was found"
    ahead = [project for project, _ in answer.ranking[: (at or _TOP + 1) - 1] if project not in query.projects]
    evidence = f"{place}, {best} at the ceiling; ahead of it: {_counted(ahead)}"
    category = _category(query, answer, ahead, projects)
    mend = _mend(query, query.projects) if ahead else ""
    return FailedQuery(query.id, mode, category if ahead else Failure.RANKING, evidence, mend)


def _category(query: RoutingQuery, answer: Answer, ahead: Sequence[str], projects: Mapping[str, Project]) -> Failure:
    expected = {domain.lower() for name in query.projects for domain in _domains(name, projects)}
    first = {domain.lower() for domain in _domains(ahead[0], projects)} if ahead else set()
    if expected and first and not expected & first:
        return Failure.WRONG_DOMAIN
    others = {project for project, _ in answer.ranking[:_TOP]} - set(query.projects)
    return Failure.SCATTERED if len(others) >= _SCATTERED else Failure.NOISE


def _first_right(query: RoutingQuery, answer: Answer) -> int | None:
    pairs = enumerate(answer.ranking, start=1)
    return next((rank for rank, pair in pairs if query.judged(*pair) in query.documents), None)


def _mend(query: RoutingQuery, projects: Sequence[str]) -> str:
    """Return the edge by which the query would have been routed to a project, empty if no project asks."""
    others = [name for name in projects if name != query.source]
    return f"{query.source} {RelationType.LEARNS_FROM.upper()} {others[0]}" if query.source and others else ""


def _domains(name: str, projects: Mapping[str, Project]) -> tuple[str, ...]:
    return projects[name].domains if name in projects else ()


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)


def _counted(names: Sequence[str]) -> str:
    return ", ".join(f"{names.count(name)} of {name}" for name in dict.fromkeys(names)) or "none of other projects"
