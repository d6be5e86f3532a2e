"""Comparison of two evaluations query by query: differences of means with intervals, wins and losses.

The two are reports of earlier runs, or a trial: the same questions to the same corpora by other settings.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field, field_validator

from pipeline.errors import QuerySetError
from pipeline.evaluate.measures import MEASURES, Measures
from pipeline.evaluate.significance import TIE, Interval, pooled_interval
from pipeline.files import Guard, read_json
from pipeline.files.validated import validated

_GUARD = Guard(QuerySetError, "Write it with `hoprank evaluate DIR --json FILE`.")


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
    """The report of an evaluation by query: leg -> query id -> measures."""

    name: str
    queryset: str
    legs: Mapping[str, Mapping[str, Measures]]


@dataclass(frozen=True, slots=True)
class Compared:
    """A measure's means before and after, the interval of their difference, and the numbers of wins and losses."""

    measure: str
    before: float
    after: float
    difference: Interval
    wins: int
    losses: int
    ties: int


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


def read_evaluated(path: Path) -> Evaluated:
    """Read a report that ``hoprank evaluate --json`` wrote; raises QuerySetError, naming the file, if it isn't one."""
    report = validated(_Report, read_json(path, _GUARD), path, _GUARD)
    legs: dict[str, dict[str, dict[str, float]]] = {}
    for row in report.per_query:
        legs.setdefault(row.leg, {})[row.query] = row.measures
    if not legs:
        raise QuerySetError(f"{path} has no results of single queries.", _GUARD.fix)
    return Evaluated(str(path), report.queryset, legs)


def compare(before: Evaluated, after: Evaluated, leg: str, before_leg: str | None = None) -> Comparison:
    """Compare ``leg`` of one evaluation with ``before_leg``, or the same, of an earlier one.

    Raises QuerySetError if a leg is missing, the datasets have different names, or they share no query.
    """
    for evaluated, name in ((before, before_leg or leg), (after, leg)):
        if name not in evaluated.legs:
            raise QuerySetError(f"{evaluated.name} has no leg {str(name)!r}.", f"It has {', '.join(evaluated.legs)}.")
    first, second = before.legs[before_leg or leg], after.legs[leg]
    shared = [query for query in first if query in second]
    if before.queryset != after.queryset or not shared:
        raise QuerySetError(
            f"{before.name} measured {before.queryset}, and {after.name} {after.queryset}"
            f" ({len(shared)} queries in common).",
            "Compare two evaluations of one queryset.",
        )
    rows, changes = [], {}
    for name in MEASURES:
        deltas = {query: second[query][name] - first[query][name] for query in shared}
        changed = sorted((delta, query) for query, delta in deltas.items() if abs(delta) > TIE)
        changes[name] = {query: delta for delta, query in changed}
        mean = sum(first[query][name] for query in shared) / len(shared)
        difference = pooled_interval([list(deltas.values())])
        wins = sum(delta > 0 for delta, _ in changed)
        losses, ties = len(changed) - wins, len(shared) - len(changed)
        rows.append(Compared(name, mean, mean + difference.mean, difference, wins, losses, ties))
    return Comparison(
        queryset=before.queryset,
        before=f"{before.name} {before_leg or leg}",
        after=f"{after.name} {leg}",
        queries=len(shared),
        left_out=len(first.keys() ^ second.keys()),
        rows=tuple(rows),
        changes=changes,
    )
