"""The three-way comparison: all projects, the expected ones alone, and those that the graph chooses."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from pipeline.domains.routing.evaluate.errors import failure
from pipeline.domains.routing.evaluate.measures import mean_of, measure_answer
from pipeline.domains.routing.evaluate.records import Answer, RoutingQuery, RoutingQuerySet, RoutingReport
from pipeline.domains.routing.records import Project
from pipeline.domains.routing.search.records import Mode
from pipeline.domains.routing.search.router import Router
from pipeline.errors import QuerySetError, did_you_mean
from pipeline.progress import Progress
from pipeline.retrieve.question import LONGEST

_PASSAGES = 60
"""Passages of a ranking: enough for ten documents and more."""


def compare(
    router: Router, queryset: RoutingQuerySet, projects: Mapping[str, Project], progress: Progress
) -> RoutingReport:
    """Measure the three modes on a queryset over ``projects``, those of the graph by id.

    Raises QuerySetError if a query names a project that the graph doesn't have.
    """
    _check_projects(queryset, projects)
    queries = [replace(query, text=query.text[:LONGEST]) for query in queryset.queries]
    rows: dict[Mode, list[dict[str, float]]] = defaultdict(list)
    milliseconds: dict[Mode, list[float]] = defaultdict(list)
    failures = []
    with progress.stage("queries", len(queries)) as done:
        for query in queries:
            answers = {}
            for mode in (Mode.ORACLE, Mode.ALL, Mode.GRAPH):
                start = time.perf_counter()
                answers[mode] = answer(router, query, mode)
                milliseconds[mode].append(1000 * (time.perf_counter() - start))
                rows[mode].append(measure_answer(query, answers[mode]))
            found = (
                failure(query, mode, answers[mode], answers[Mode.ORACLE], projects) for mode in (Mode.ALL, Mode.GRAPH)
            )
            failures += [one for one in found if one]
            done(1)
    return RoutingReport(
        modes={str(mode): mean_of(rows[mode]) for mode in Mode},
        latency_ms={str(mode): _percentiles(milliseconds[mode]) for mode in Mode},
        failures=tuple(failures),
        queries=len(queries),
        projects=len(projects),
        shortened=tuple(query.id for query in queryset.queries if len(query.text) > LONGEST),
    )


def answer(router: Router, query: RoutingQuery, mode: Mode) -> Answer:
    """Return the answer of a mode to a query: documents by their best passage, and the projects that were searched."""
    expected = query.projects if mode is Mode.ORACLE else ()
    result = router.search(query.text, mode=mode, source=query.source, projects=expected, top_k=_PASSAGES)
    pairs = ((str(item.metadata["project"]), str(item.metadata["document"])) for item in result.items)
    searched = tuple(one["project"] for one in result.metadata["routing"]["searched"])
    return Answer(tuple(dict.fromkeys(pairs)), searched)


def _check_projects(queryset: RoutingQuerySet, projects: Mapping[str, Project]) -> None:
    for query in queryset.queries:
        for name in (*query.projects, *([query.source] if query.source else ())):
            if name not in projects:
                fix = did_you_mean(name, list(projects), "`hoprank route graph --nodes` lists the projects.")
                raise QuerySetError(f"queryset {queryset.name!r}: {query.id!r} names an unknown project {name!r}", fix)


def _percentiles(values: Sequence[float]) -> dict[str, float]:
    return {f"p{share}": float(np.percentile(values, share)) for share in (50, 95)}
