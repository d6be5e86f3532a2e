"""The three-way comparison: all projects, the expected ones alone, and those that the graph chooses."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial

from pipeline.domains.routing.api import Projects
from pipeline.domains.routing.querysets import RoutingQuery, RoutingQuerySet
from pipeline.domains.routing.route import Mode
from pipeline.domains.routing.schema import Project, RelationType
from pipeline.errors import QuerySetError, did_you_mean
from pipeline.evaluate.datasets import Query
from pipeline.evaluate.harness import ask, latencies, means
from pipeline.evaluate.measures import measure_query
from pipeline.json_values import JsonRecord
from pipeline.progress import Progress
from pipeline.retrieve.question import as_read

_PASSAGES = 60  # passages of a ranking: six a document for the first ten; chosen by hand
_TOP = 10  # documents of a ranking that an analysis looks at, as recall@10 does

_SCATTERED = 3
"""Unexpected projects from which on the first ten documents are scattered: two may be noise. Chosen by hand."""

# The targets of the design: share of the ceiling's measures, and a bound of the mean number of projects searched.
_CEILING, _FEW = 0.8, 5


class Failure(StrEnum):
    """The category of a failure: the first that applies, in this order."""

    MISSING_PROJECT = "missing project"
    WRONG_DOMAIN = "wrong domain"
    NOISE = "noise drowning signal"
    SCATTERED = "relevant but scattered"
    RANKING = "ranking"


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a mode: (project, document) pairs, best first, and the projects that were searched."""

    ranking: tuple[tuple[str, str], ...]
    searched: tuple[str, ...]

    def __bool__(self) -> bool:
        """Return whether any document was found."""
        return bool(self.ranking)


@dataclass(frozen=True, slots=True)
class FailedQuery:
    """A query that a mode answers worse than the ceiling; ``mend`` is the edge that would mend it, empty if none."""

    query: str
    mode: str
    category: Failure
    evidence: str
    mend: str = ""


@dataclass(frozen=True, slots=True)
class RoutingReport(JsonRecord):
    """The measures of each mode as fractions of 1, but for ``searched``, a mean number of projects.

    ``modes`` are ``all`` (every project is searched), ``oracle`` (only the expected ones: the ceiling) and ``graph``.
    ``mrr`` and ``recall@10`` are over documents; ``source_recall`` is the share of the expected projects that were
    searched, ``waste`` the share of the searched ones that weren't expected. ``latency_ms`` has the percentiles 50 and
    95 of each mode. ``shortened`` queries were cut to the longest question that a search takes; ``remarks`` say what of
    the queryset isn't used.
    """

    modes: Mapping[str, Mapping[str, float]]
    latency_ms: Mapping[str, Mapping[str, float]]
    failures: tuple[FailedQuery, ...]
    queries: int
    projects: int
    shortened: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    def targets(self) -> list[tuple[str, bool, str]]:
        """Return each target of routing by the graph, whether it is reached, and what was seen."""
        graph, oracle = self.modes["graph"], self.modes["oracle"]
        targets = []
        for name, label in (("mrr", "MRR"), ("recall@10", "R@10")):
            share = graph[name] / oracle[name] if oracle[name] else 1.0
            targets.append((f"{_CEILING:.0%} of the ceiling's {label}", share >= _CEILING, f"{share:.1%}"))
        few = graph["searched"] < _FEW
        return [*targets, (f"fewer than {_FEW} projects searched", few, f"{graph['searched']:.2f} on average")]


def compare(routed: Projects, queryset: RoutingQuerySet, progress: Progress) -> RoutingReport:
    """Measure the three modes on a queryset over the projects of a graph.

    Raises QuerySetError if a query names a project that the graph doesn't have.
    """
    projects = {project.id: project for project in routed.graph.list_nodes()}
    for query in queryset.queries:
        for name in filter(None, [*query.projects, query.source]):
            if name not in projects:
                fix = did_you_mean(name, list(projects), f"`hoprank graph list {routed.name}` lists them.")
                raise QuerySetError(f"queryset {queryset.name!r}: {query.id!r} names an unknown project {name!r}", fix)
    queries = [replace(query, text=as_read(query.text)) for query in queryset.queries]
    answered = list(ask(queries, {str(mode): partial(answer, routed, mode) for mode in Mode}, progress))
    answers = {(one.query.id, one.ranking): one.answer for one in answered}
    failures = (
        failure_of(query, mode, answers[query.id, mode], answers[query.id, Mode.ORACLE], projects)
        for query in queries
        for mode in (Mode.ALL, Mode.GRAPH)
    )
    return RoutingReport(
        modes=means(answered, measure_answer),
        latency_ms=latencies(answered),
        failures=tuple(one for one in failures if one),
        queries=len(queries),
        projects=len(projects),
        shortened=tuple(query.id for query in queryset.queries if query.text != as_read(query.text)),
        remarks=queryset.remarks,
    )


def answer(projects: Projects, mode: Mode, query: RoutingQuery) -> Answer:
    """Return the answer of a mode to a query: documents by their best passage, and the projects that were searched."""
    expected = query.projects if mode is Mode.ORACLE else ()
    result = projects.search(query.text, mode=mode, source=query.source, projects=expected, top_k=_PASSAGES)
    pairs = ((str(item.metadata["project"]), str(item.metadata["document"])) for item in result.items)
    searched = tuple(one["project"] for one in result.metadata["routing"]["searched"])
    return Answer(tuple(dict.fromkeys(pairs)), searched)


def measure_answer(query: RoutingQuery, answer: Answer) -> dict[str, float]:
    """Return the measures of :class:`RoutingReport` for the answer to a query, in the order of reports."""
    # A judged document without a project counts in any, so the ranking is put in terms of the judgements.
    names = {pair: f"{at}" for at, pair in enumerate(sorted(query.documents))}
    ranking = [names.get(query.judged(*pair), f"{pair[0]}:{pair[1]}") for pair in answer.ranking]
    of_documents = measure_query(Query(query.id, query.text, dict.fromkeys(names.values(), 1.0)), ranking)
    right = len(set(query.projects) & set(answer.searched))
    return {
        "mrr": of_documents["mrr"],
        "recall@10": of_documents["recall@10"],
        "source_recall": right / len(query.projects),
        "waste": 1 - right / len(answer.searched) if answer.searched else 0.0,
        "searched": float(len(answer.searched)),
    }


def failure_of(
    query: RoutingQuery, mode: str, answer: Answer, ceiling: Answer, projects: Mapping[str, Project]
) -> FailedQuery | None:
    """Return why a query failed; None if its first expected document ranks as high as at the ceiling.

    If the ceiling has no expected document in the first ten, its ranking failed: no route would mend it.
    """
    at, best = _first_right(query, answer), _first_right(query, ceiling)
    if best is None or best > _TOP:
        evidence = f"searched alone, {', '.join(query.projects)} has no expected document in the first {_TOP}"
        return FailedQuery(query.id, mode, Failure.RANKING, evidence)
    if at is not None and at <= best:
        return None
    missing = [name for name in query.projects if name not in answer.searched]
    if missing:
        evidence = f"{', '.join(missing)} was not searched, but {', '.join(answer.searched)}"
        return FailedQuery(query.id, mode, Failure.MISSING_PROJECT, evidence, _mend(query, missing))
    place = f"the first expected document has rank {at}" if at else "no expected document was found"
    ahead = [project for project, _ in answer.ranking[: (at or _TOP + 1) - 1] if project not in query.projects]
    counts = ", ".join(f"{count} of {name}" for name, count in Counter(ahead).items()) or "none of other projects"
    evidence = f"{place}, {best} at the ceiling; ahead of it: {counts}"
    if not ahead:
        return FailedQuery(query.id, mode, Failure.RANKING, evidence)
    expected, first = (
        {domain.lower() for name in names if name in projects for domain in projects[name].domains}
        for names in (query.projects, ahead[:1])
    )
    scattered = len({project for project, _ in answer.ranking[:_TOP]} - set(query.projects)) >= _SCATTERED
    category = Failure.SCATTERED if scattered else Failure.NOISE
    if expected and first and not expected & first:
        category = Failure.WRONG_DOMAIN
    return FailedQuery(query.id, mode, category, evidence, _mend(query, query.projects))


def _first_right(query: RoutingQuery, answer: Answer) -> int | None:
    pairs = enumerate(answer.ranking, start=1)
    return next((rank for rank, pair in pairs if query.judged(*pair) in query.documents), None)


def _mend(query: RoutingQuery, projects: Sequence[str]) -> str:
    others = [name for name in projects if name != query.source]
    return f"{query.source} {RelationType.LEARNS_FROM.upper()} {others[0]}" if query.source and others else ""
