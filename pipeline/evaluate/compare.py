"""Comparison of two evaluations query by query: differences of means with intervals and tests, wins and losses.

The two are reports, runs of any system as TREC writes them (:mod:`pipeline.evaluate.trec`), or a trial: the same
questions to the same corpora by other settings.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, Field, field_validator

from pipeline.errors import ConfigurationError, QuerySetError, Worse
from pipeline.evaluate.measures import MEASURES, Measures, check_measures, measure_query
from pipeline.evaluate.significance import TIE, Interval, holm, paired_p, pooled_interval
from pipeline.evaluate.trec import QRELS, read_judgements, read_runs, trec_id
from pipeline.files import Guard, read_json
from pipeline.files.validated import validated

_GUARD = Guard(QuerySetError, "Write it with `hoprank evaluate DIR --json FILE`.")
_JUDGED_BY = "Name a file of judgements, or the queryset's folder: --qrels PATH."


class _Row(BaseModel):
    query: str
    leg: str
    measures: dict[str, Annotated[float, Field(strict=True, ge=0, le=1)]]

    @field_validator("measures")
    @classmethod
    def _is_complete(cls, values: dict[str, float]) -> dict[str, float]:
        if missing := [name for name in MEASURES if name not in values]:
            raise ValueError(f"it lacks {missing[0]}")
        return values


class _Report(BaseModel):
    queryset: str
    per_query: list[_Row] = []


@dataclass(frozen=True, slots=True)
class Evaluated:
    """The report of an evaluation by query: leg -> query id -> measures; ``queryset`` is empty if it has no name."""

    name: str
    queryset: str
    legs: Mapping[str, Mapping[str, Measures]]


@dataclass(frozen=True, slots=True)
class Compared:
    """A measure's means before and after, the interval of their difference, and the numbers of wins and losses.

    ``p`` is the p-value of a paired randomisation test, ``p_holm`` the same with Holm's correction for all measures of
    the comparison.
    """

    measure: str
    before: float
    after: float
    difference: Interval
    wins: int
    losses: int
    ties: int
    p: float
    p_holm: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison of two legs over the ``queries`` that both answered; ``left_out`` counts those of only one of them.

    ``changes`` holds for each measure the difference of each query that gained or lost, greatest loss first.
    """

    queryset: str
    before: str
    after: str
    queries: int
    left_out: int
    rows: tuple[Compared, ...]
    changes: Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Trial:
    """Two settings of a search compared on a dataset, with the median latency of a question by each, in milliseconds.

    ``documents`` is the number of documents of its corpus.
    """

    comparison: Comparison
    documents: int
    before_ms: float
    after_ms: float

    def measured(self, measure: str) -> Compared:
        """Return what is compared of a measure."""
        return next(row for row in self.comparison.rows if row.measure == measure)


def pooled(trials: Sequence[Trial], measure: str) -> Interval:
    """Return the mean over datasets of the difference that other settings make, each weighing the same."""
    of_sets = [(trial.comparison.changes[measure].values(), trial.comparison.queries) for trial in trials]
    return pooled_interval([[*changes, *[0.0] * (queries - len(changes))] for changes, queries in of_sets])


def read_evaluated(path: Path, judgements: Path | None = None, measures: Sequence[str] = ()) -> Evaluated:
    """Read a report that ``hoprank evaluate --json`` wrote, or, if it isn't a .json file, runs as TREC writes them.

    Runs are measured by ``MEASURES`` and ``measures`` against ``judgements``, a file or the folder of a queryset; by
    default ``qrels.trec`` beside them. Judged queries that a run lacks count as 0. Raises QuerySetError, naming the
    file, if it is neither.
    """
    if path.suffix != ".json":
        return _measured(path, judgements or path.parent / QRELS, (*MEASURES, *check_measures(measures)))
    report = validated(_Report, read_json(path, _GUARD), path, _GUARD)
    legs: dict[str, dict[str, dict[str, float]]] = {}
    for row in report.per_query:
        legs.setdefault(row.leg, {})[row.query] = row.measures
    if not legs:
        raise QuerySetError(f"{path} has no results of single queries.", _GUARD.fix)
    return Evaluated(str(path), report.queryset, legs)


def _measured(path: Path, judgements: Path, measures: Sequence[str]) -> Evaluated:
    runs = read_runs(path)
    if not judgements.exists():
        raise QuerySetError(f"{path} is a run, and there are no judgements beside it ({QRELS}).", _JUDGED_BY)
    queries = read_judgements(judgements)
    known = {query.id for query in queries}
    for run, rankings in runs.items():
        if known.isdisjoint(rankings):
            raise QuerySetError(f"{path}: {judgements} judges no query of the run {run!r}.", _JUDGED_BY)
    return Evaluated(
        str(path),
        "",
        {
            run: {query.id: measure_query(query, rankings.get(query.id, ()), measures) for query in queries}
            for run, rankings in runs.items()
        },
    )


def compare(
    before: Evaluated, after: Evaluated, leg: str, before_leg: str | None = None, measures: Sequence[str] = ()
) -> Comparison:
    """Compare ``leg`` of one evaluation with ``before_leg``, or the same, of an earlier one.

    Of a file with a single run it is that. ``measures`` are compared beside ``MEASURES``. Raises
    QuerySetError if a leg or a measure is missing, the datasets have different names, or they share no query.
    """
    (before_leg, first), (leg, second) = _of_leg(before, before_leg or leg), _of_leg(after, leg)
    if bool(before.queryset) != bool(after.queryset):  # the ids of a report as they stand in a run
        first, second = (
            {trec_id(query): of for query, of in measured.items()} if evaluated.queryset else measured
            for evaluated, measured in ((before, first), (after, second))
        )
    shared = [query for query in first if query in second]
    if (before.queryset and after.queryset and before.queryset != after.queryset) or not shared:
        raise QuerySetError(
            f"{before.name} measured {before.queryset or 'a run'}, and {after.name} {after.queryset or 'a run'}"
            f" ({len(shared)} queries in common).",
            "Compare two evaluations of one queryset.",
        )
    names = (*MEASURES, *check_measures(measures))
    for evaluated, of_query in ((before, first[shared[0]]), (after, second[shared[0]])):
        if missing := [name for name in names if name not in of_query]:
            raise QuerySetError(
                f"{evaluated.name} wasn't measured by {missing[0]}.", f"hoprank evaluate DIR --measure {missing[0]}"
            )
    deltas = {name: {query: second[query][name] - first[query][name] for query in shared} for name in names}
    tests = [paired_p(list(of.values())) for of in deltas.values()]
    rows, changes = [], {}
    for name, p, p_holm in zip(names, tests, holm(tests), strict=True):
        changed = sorted((delta, query) for query, delta in deltas[name].items() if abs(delta) > TIE)
        changes[name] = {query: delta for delta, query in changed}
        mean = sum(first[query][name] for query in shared) / len(shared)
        difference = pooled_interval([list(deltas[name].values())])
        wins = sum(delta > 0 for delta, _ in changed)
        losses, ties = len(changed) - wins, len(shared) - len(changed)
        rows.append(Compared(name, mean, mean + difference.mean, difference, wins, losses, ties, p, p_holm))
    return Comparison(
        queryset=before.queryset or after.queryset,
        before=f"{before.name} {before_leg}",
        after=f"{after.name} {leg}",
        queries=len(shared),
        left_out=len(first.keys() ^ second.keys()),
        rows=tuple(rows),
        changes=changes,
    )


def _of_leg(evaluated: Evaluated, leg: str) -> tuple[str, Mapping[str, Measures]]:
    if not evaluated.queryset and len(evaluated.legs) == 1:
        (leg,) = evaluated.legs  # a run has a name of its own
    if leg not in evaluated.legs:
        raise QuerySetError(f"{evaluated.name} has no leg {str(leg)!r}.", f"It has {', '.join(evaluated.legs)}.")
    return leg, evaluated.legs[leg]


@dataclass(frozen=True, slots=True)
class Bound:
    """The most that a measure may fall, as a fraction of 1."""

    measure: str
    most: float

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse ``recall@5:0.5``, half a point of percent; raises ConfigurationError."""
        name, _, points = text.rpartition(":")
        try:
            most = float(points) / 100
        except ValueError:
            most = math.nan
        if not name or not 0 <= most <= 1:
            raise ConfigurationError(f"{text!r} is no bound.", 'Give a measure and points of percent: "recall@5:0.5".')
        check_measures([name])
        return cls(name, most)


def check_not_worse(comparison: Comparison, bounds: Sequence[Bound]) -> None:
    """Raise Worse if a measure fell by more than its bound."""
    rows = {row.measure: row for row in comparison.rows}
    for bound in bounds:
        fell = -rows[bound.measure].difference.mean
        if fell > bound.most + TIE:
            raise Worse(
                f"{bound.measure} fell by {100 * fell:.2f} points, more than {100 * bound.most:g}:"
                f" from {100 * rows[bound.measure].before:.2f} to {100 * rows[bound.measure].after:.2f}.",
                "The queries that lost are listed by --measure, or in the report of --json.",
            )
