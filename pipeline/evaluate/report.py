"""The report of an evaluation, with a breakdown by kind of question, and its JSON."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import TypeAlias

import numpy as np

from pipeline.errors import ConfigurationError, QuerySetError
from pipeline.evaluate.datasets import Dataset, Query
from pipeline.evaluate.measures import (
    MEASURES,
    Measures,
    QueryMeasures,
    QueryResult,
    distinct,
    mean_measures,
    measure_results,
)
from pipeline.retrieve.legs import Leg
from pipeline.temporary import replacing

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
"""A JSON value."""

WHOLE = Leg.WHOLE.value
"""The name under which the fused default is reported."""

_DETAIL_DEPTH = 20  # documents of a ranking in the JSON, as many as the measures look at

BANDS = (("weak", 0.25), ("some", 0.75), ("strong", 1.0))
"""Bands of the highest confidence in a name of a question, each with its upper end; 0 without names."""

COMPARED = (Leg.HYBRID.value, WHOLE)


@dataclass(frozen=True, slots=True)
class Run:
    """The circumstances of an evaluation.

    ``documents`` is the number of documents in ``corpus``, ``ingest_seconds`` the wall time of their ingestion (0 if
    they were there already). ``settings`` holds what else the figures depend on, as JSON: the settings of the search by
    section, how the corpus was made, and the server.
    """

    corpus: str
    documents: int
    ingest_seconds: float
    version: str
    settings: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LegReport:
    """A leg's mean measures over all queries, and percentiles of its latency in milliseconds.

    The percentiles are interpolated linearly over the queries that were answered, and None if none was. ``detail`` has
    a row for each query, in the order of the dataset. ``engines`` counts the queries by the engine of their walk.
    """

    leg: str
    measures: Measures
    p50_ms: float | None
    p95_ms: float | None
    detail: tuple[QueryMeasures, ...]
    engines: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Group:
    """Questions of one kind: ``by`` is "confidence" or "type"; the mean measures of hybrid and the whole, by leg."""

    by: str
    label: str
    queries: int
    metrics: Mapping[str, Measures]


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of an evaluation: the legs in reporting order, the fused whole last.

    ``groups`` compare the whole with hybrid by kind of question; empty unless both were measured. ``contexts`` holds
    the share of questions whose context has an answer, by its budget in tokens, of ``answered`` questions; both are
    empty unless that was asked for.
    """

    dataset: Dataset
    run: Run
    legs: tuple[LegReport, ...]
    groups: tuple[Group, ...] = ()
    contexts: Mapping[int, float] = field(default_factory=dict)
    answered: int = 0

    @property
    def queryset(self) -> str:
        """The name of the dataset."""
        return self.dataset.name

    @property
    def queries(self) -> int:
        """The number of measured queries."""
        return len(self.dataset.queries)

    @property
    def queries_left_out(self) -> int:
        """The number of queries without a relevant document."""
        return len(self.dataset.unjudged)

    @property
    def remarks(self) -> tuple[str, ...]:
        """Sentences on what of the dataset isn't used, or is used otherwise than it stands there."""
        return self.dataset.remarks

    def to_json(self, *, per_query: bool = False) -> dict[str, Json]:
        """Return the report as JSON values: measures as fractions of 1, latencies in milliseconds.

        ``per_query`` adds each leg's answer to each query, with the first 20 documents of its ranking.
        """
        report: dict[str, Json] = {
            "metrics": {leg.leg: leg.measures for leg in self.legs},
            "latency_ms": {leg.leg: {"p50": leg.p50_ms, "p95": leg.p95_ms} for leg in self.legs},
            "engines": {leg.leg: dict(leg.engines) for leg in self.legs if leg.engines},
            "queries": self.queries,
            "documents": self.run.documents,
            "ingest_seconds": self.run.ingest_seconds,
            "queries_left_out": self.queries_left_out,
            "remarks": self.remarks,
            "queryset": self.queryset,
            "corpus": self.run.corpus,
            "hoprank_version": self.run.version,
            "settings": self.run.settings,
        }
        if self.contexts:
            shares: dict[str, Json] = {str(budget): share for budget, share in self.contexts.items()}
            report["answer_in_context"] = {"queries": self.answered, "tokens": shares}
        for by in ("confidence", "type"):
            groups = [group for group in self.groups if group.by == by]
            report[f"by_{by}"] = {one.label: {"queries": one.queries, "metrics": one.metrics} for one in groups}
        if per_query:
            report["per_query"] = [
                {
                    "query": row.result.query_id,
                    "leg": row.result.leg,
                    "ranking": distinct(row.result.ranking)[:_DETAIL_DEPTH],
                    "measures": row.measures,
                    "latency_ms": row.result.latency_ms,
                    **({} if row.result.confidence is None else {"confidence": row.result.confidence}),
                }
                for leg in self.legs
                for row in leg.detail
            ]
        return report


def build_report(
    dataset: Dataset, results: Iterable[QueryResult], run: Run, measures: Iterable[str] = MEASURES
) -> Report:
    """Measure ``results``, in any order, against ``dataset``; a query that a leg didn't answer counts as 0.

    ``measures`` hold ``MEASURES``. Legs are in the order of their table, followed by unknown legs and then ``WHOLE``.
    Raises ``QuerySetError`` if there is nothing to measure, or results don't fit the dataset.
    """
    rows = measure_results(dataset.queries, results, tuple(measures))
    legs = [_leg_report(leg, tuple(detail)) for leg, detail in groupby(rows, key=lambda row: row.result.leg)]
    if not legs:
        raise QuerySetError(
            f"queryset {dataset.name!r}: there is no result to report on", "Evaluate at least one leg and one query."
        )
    places = {leg.value: place for place, leg in enumerate(Leg)} | {WHOLE: len(Leg) + 1}
    return Report(
        dataset=dataset,
        run=run,
        legs=tuple(sorted(legs, key=lambda report: places.get(report.leg, len(Leg)))),
        groups=break_down(dataset.queries, {leg.leg: leg.detail for leg in legs}),
    )


def band(confidence: float) -> str:
    """Return the name of a confidence's band."""
    return next(name for name, high in BANDS if confidence <= high)


def break_down(queries: Sequence[Query], detail: Mapping[str, Sequence[QueryMeasures]]) -> tuple[Group, ...]:
    """Return the groups of ``queries``, none without both legs; ``detail`` holds each leg's rows in their order."""
    if not all(leg in detail for leg in COMPARED):
        return ()
    places: dict[tuple[str, str], list[int]] = defaultdict(list)
    for place, (query, row) in enumerate(zip(queries, detail[Leg.WHOLE], strict=True)):
        if row.result.confidence is not None:
            places["confidence", band(row.result.confidence)].append(place)
        if query.type:
            places["type", query.type].append(place)
    order = [("confidence", name) for name, _ in BANDS] + sorted(("type", query.type) for query in queries)
    groups = []
    for by, label in dict.fromkeys(key for key in order if key in places):
        chosen = places[by, label]
        metrics = {leg: mean_measures(detail[leg][place].measures for place in chosen) for leg in COMPARED}
        groups.append(Group(by, label, len(chosen), metrics))
    return tuple(groups)


def check_json_path(path: Path) -> None:
    """Raise ``ConfigurationError`` if no report can be written to ``path``; called before a long run."""
    try:
        parent, parent_exists, is_folder = path.resolve().parent, path.resolve().parent.is_dir(), path.is_dir()
    except (OSError, RuntimeError) as error:  # RuntimeError: links that lead in a circle
        raise ConfigurationError(f"{path} can't be written: {error}", "Name a file by another path.") from error
    if not parent_exists:
        raise ConfigurationError(f"{path} can't be written: there is no folder {parent}", f"Make {parent} first.")
    if is_folder:
        raise ConfigurationError(f"{path} can't be written: it is a folder", "Name a file.")


def write_document(document: Json, path: Path) -> None:
    """Write a JSON document in the way of :func:`write_text`."""
    write_text(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n", path)


def write_text(text: str, path: Path) -> None:
    """Write a text as UTF-8, atomically; an existing file is replaced.

    Raises ``ConfigurationError`` if the folder is missing or the file can't be written.
    """
    check_json_path(path)
    try:
        with replacing(path) as partial:
            partial.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(
            f"{path} can't be written: {error.strerror}", "Name a file in a folder that you may write to."
        ) from error


def _leg_report(leg: str, detail: tuple[QueryMeasures, ...]) -> LegReport:
    latencies = [row.result.latency_ms for row in detail if row.result.latency_ms is not None]
    p50, p95 = map(float, np.percentile(latencies, (50, 95))) if latencies else (None, None)
    engines = dict(Counter(row.result.engine for row in detail if row.result.engine))
    return LegReport(leg, mean_measures(row.measures for row in detail), p50, p95, detail, engines)
