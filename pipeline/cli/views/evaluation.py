"""Evaluations for people: reports, comparisons and tunings, in tables of at most 100 columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from statistics import fmean
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from pipeline.cli.deferred import compare as compares
from pipeline.cli.deferred import measures
from pipeline.cli.views.tables import add_numbers, ruled_table
from pipeline.retrieve.legs import Leg
from pipeline.text.prose import counted

if TYPE_CHECKING:
    from pathlib import Path

    from pipeline.evaluate.compare import Comparison, Trial
    from pipeline.evaluate.report import Report
    from pipeline.evaluate.significance import Interval
    from pipeline.evaluate.tuning.tune import Tuned


_COMPARED = ("recall@5", "recall@10", "ndcg@10")
_APART = 7  # characters, which keep columns without padding apart; chosen by hand
_HEADINGS = {"recall": "R", "mrr": "MRR", "ndcg": "nDCG\n", "perfect": "perfect\n"}


def report_views(report: Report, *, per_query: bool = False) -> list[RenderableType]:
    """Return all tables of a report, one below the other; ``per_query`` adds every query."""
    views: list[RenderableType] = [report_table(report)]
    others = [name for name in report.legs[0].measures if name not in measures.MEASURES]
    if others:
        views += ["", _others_table(report, others)]
    if report.contexts:
        views += ["", _contexts_table(report)]
    if report.groups:
        views += ["", breakdown_table(report)]
    if per_query:
        views += ["", _per_query_table(report)]
    return views


def report_table(report: Report) -> Table:
    """Return the legs: measures in percent, latencies in milliseconds, the fused whole last.

    The whole is bold, and below a rule, which a pipe keeps.
    """
    table = ruled_table(report.queryset, _caption(report), padding=0)
    table.add_column("leg", no_wrap=True)
    for name in measures.MEASURES:
        table.add_column(_heading(name), justify="right", vertical="bottom", no_wrap=True, min_width=5)
    for percentile in ("p50", "p95"):
        table.add_column(f"{percentile}\nms", justify="right", no_wrap=True, min_width=5)
    for leg in report.legs:
        if leg.leg == Leg.WHOLE:
            table.add_section()
        percents = (f"{100 * leg.measures[name]:.1f}" for name in measures.MEASURES)
        cells = map(Text, (leg.leg, *percents, _milliseconds(leg.p50_ms), _milliseconds(leg.p95_ms)))
        table.add_row(*cells, style="bold" if leg.leg == Leg.WHOLE else "")
    return table


def _others_table(report: Report, names: Sequence[str]) -> Table:
    """Return the measures of each leg that were asked for beside those of every report, in percent."""
    table = ruled_table("Other measures", padding=0)
    table.add_column("leg", no_wrap=True, min_width=_APART)
    for name in names:
        table.add_column(name, justify="right", min_width=_APART)
    for leg in report.legs:
        table.add_row(leg.leg, *(f"{100 * leg.measures[name]:.1f}" for name in names))
    return table


def _contexts_table(report: Report) -> Table:
    """Return in how many questions the context holds an answer, in percent, by its budget."""
    number = counted(report.answered, "question")
    table = ruled_table("Answers in contexts", f"In percent of {number} whose answer a text can hold.")
    table.add_column("tokens", no_wrap=True)
    add_numbers(table, *(f"{budget:,}" for budget in report.contexts))
    table.add_row("answer in context", *(f"{100 * share:.1f}" for share in report.contexts.values()))
    return table


def breakdown_table(report: Report) -> Table:
    """Return the whole beside hybrid, in percent, by the type of question and the confidence in its names."""
    table = ruled_table(
        "Where the graph leads", "Strong, some, weak: the confidence in the surest name of the question.", padding=0
    )
    table.add_column("questions", no_wrap=True)
    table.add_column("number", justify="right")
    for name in _COMPARED:
        for leg in report.groups[0].metrics:
            heading = f"{leg}\n{_heading(name)}".replace("\n@", "@")
            table.add_column(heading, justify="right", no_wrap=True, min_width=_APART)
    previous = ""
    for group in report.groups:
        if previous and group.by != previous:
            table.add_section()
        previous = group.by
        cells = [f"{100 * group.metrics[leg][name]:.1f}" for name in _COMPARED for leg in group.metrics]
        table.add_row(Text(f"{group.by}: {group.label}"), f"{group.queries:,}", *cells)
    return table


def _per_query_table(report: Report) -> Table:
    """Return each leg's nDCG@10 in percent, a row a query, in the order of the queryset."""
    table = ruled_table("nDCG@10 by query")
    table.add_column("query", overflow="fold")
    for leg in report.legs:
        table.add_column(leg.leg, justify="right")
    for rows in zip(*(leg.detail for leg in report.legs), strict=True):
        table.add_row(Text(rows[0].result.query_id), *(f"{100 * row.measures['ndcg@10']:.0f}" for row in rows))
    return table


def _heading(measure: str) -> str:
    name, at, cutoff = measure.partition("@")
    return _HEADINGS[name] + at + cutoff


def _milliseconds(latency: float | None) -> str:
    if latency is None:
        return "-"
    return f"{latency:.1f}" if latency < 99.95 else f"{latency:.0f}"


def _caption(report: Report) -> str:
    left_out = report.queries_left_out
    without = f" ({left_out:,} more have no relevant document)" if left_out else ""
    seconds = report.run.ingest_seconds
    walked = ", ".join(f"{leg.leg} by {' and '.join(sorted(leg.engines))}" for leg in report.legs if leg.engines)
    return (
        f"In percent of {counted(report.queries, 'query', 'queries')}{without}.\n"
        "R: recall; perfect: every relevant document is in the top k.\n"
        f"{counted(report.run.documents, 'document')} in corpus {report.run.corpus}"
        f"{f', ingested in {seconds:.1f} s' if seconds else ''}."
    ) + "".join(f"\n{line}" for line in ([f"Walked: {walked}."] if walked else []) + list(report.remarks))


def comparison_views(comparison: Comparison, measure: str, most: int) -> list[RenderableType]:
    """Return the measures of A and B, then at most ``most`` losses and as many wins in ``measure``."""
    left_out = f" ({comparison.left_out:,} that only one of them has are left out)" if comparison.left_out else ""
    chance = ", ".join(row.measure for row in comparison.rows if row.difference.is_noise)
    queries = counted(comparison.queries, "query", "queries")
    caption = f"A: {comparison.before}\nB: {comparison.after}\nIn percent of {queries}{left_out}."
    table = ruled_table(comparison.queryset, caption + (f"\nMay be chance: {chance}." if chance else ""))
    table.add_column("measure", no_wrap=True)
    add_numbers(table, "A", "B", "B - A", "95% interval", "wins", "losses", "ties", "p", "p (Holm)")
    for row in comparison.rows:
        counts = (*(f"{count:,}" for count in (row.wins, row.losses, row.ties)), _p(row.p), _p(row.p_holm))
        _add_gain(table, (row.measure,), (row.before, row.after), row.difference, counts)
    changes = list(comparison.changes[measure].items())
    losses = [(query, change) for query, change in changes if change < 0]
    wins = [(query, change) for query, change in reversed(changes) if change > 0]
    return [table, *_queries("Losses", losses, measure, most), *_queries("Wins", wins, measure, most)]


def _p(value: float) -> str:
    return f"{value:.3f}" if value >= 0.0005 else "<0.001"


def _queries(heading: str, changes: list[tuple[str, float]], measure: str, most: int) -> Iterable[RenderableType]:
    if not (changes and most):
        return
    yield Text(f"\n{heading} in {measure}: {len(changes):,}", style="bold")
    for query, change in islice(changes, most):
        yield Text(f"  {100 * change:+6.1f}  {query}")
    if len(changes) > most:
        yield Text(f"  ... and {len(changes) - most:,} more")


_OF_TRIALS = ("recall@5", "ndcg@10", "perfect@8")


def trial_table(trials: Sequence[Trial], assignments: Iterable[str]) -> Table:
    """Return what other settings gain or lose on each dataset in percent, and on all; bold if it is beyond chance."""
    caption = (
        f"before: without {' '.join(f'--set {one}' for one in assignments)}. In percent; wins and losses are queries.\n"
        "p50 ms: the median time of a question."
    )
    table = ruled_table("Gain and loss", caption)
    table.add_column("queryset", overflow="fold")
    table.add_column("measure", no_wrap=True)
    add_numbers(table, "before", "after", "gain", "95% interval", "wins", "losses")
    for trial in trials:
        name, queries = trial.comparison.queryset, counted(trial.comparison.queries, "query", "queries")
        for first, measure in zip((name, f"  {queries}", ""), _OF_TRIALS, strict=True):
            row = trial.measured(measure)
            counts = (f"{row.wins:,}", f"{row.losses:,}")
            _add_gain(table, (Text(first), measure), (row.before, row.after), row.difference, counts)
        _add_latency(table, trial.before_ms, trial.after_ms)
    for measure in _OF_TRIALS if len(trials) > 1 else ():
        rows = [trial.measured(measure) for trial in trials]
        means = (fmean(row.before for row in rows), fmean(row.after for row in rows))
        counts = (f"{sum(row.wins for row in rows):,}", f"{sum(row.losses for row in rows):,}")
        first = "mean of all" if measure == _OF_TRIALS[0] else ""
        _add_gain(table, (first, measure), means, compares.pooled(trials, measure), counts)
    return table


def _add_gain(
    table: Table, heads: Sequence[RenderableType], means: Sequence[float], gain: Interval, counts: Sequence[str]
) -> None:
    """Add a row of two means in percent, their difference, and queries; bold if it is beyond chance."""
    table.add_row(
        *heads,
        *(f"{100 * mean:.1f}" for mean in means),
        f"{100 * gain.mean:+.1f}",
        f"{100 * gain.low:+.1f} to {100 * gain.high:+.1f}",
        *counts,
        style="" if gain.is_noise else "bold",
    )


def _add_latency(table: Table, before: float, after: float) -> None:
    cells = (_milliseconds(before), _milliseconds(after), f"{after - before:+.1f}")
    table.add_row("", "p50 ms", *cells, "", "", "", end_section=True)


_OF_SETS = ("recall@2", "recall@5", "recall@10", "perfect@8", "ndcg@10")
_JUDGED_BY = "recall@5"
_NOT_LEARNED = ("hybrid", "in use")  # rows to compare with


def tune_views(tuned: Tuned, output: Path | None = None) -> list[RenderableType]:
    """Return the verdict, then the measures and the calibration; ``output`` is the file that the weights are in."""
    verdict = tuned.verdict
    views: list[RenderableType] = [Text(verdict.sentence, style="bold")]
    if output and verdict.answer != "helps":
        better = "are better" if verdict.answer == "hurts" else "may be as good"
        views.append(Text(f"{output} holds what was learned all the same; the weights in use {better}."))
    return [*views, "", tune_table(tuned), calibration_table(tuned)]


def tune_table(tuned: Tuned) -> Table:
    """Return each queryset's measures in percent; the rows to judge by are learned from other questions or sets."""
    table = ruled_table("What is learned adds to hybrid", _tuning_caption(tuned))
    table.add_column("queryset", overflow="fold")
    table.add_column("learned from", no_wrap=True)
    add_numbers(table, *_OF_SETS)
    for judged in tuned.judged:
        for learned_from, means in judged.means().items():
            cells = [f"{100 * means[name]:.1f}" for name in _OF_SETS]
            way = f"({learned_from})" if learned_from in _NOT_LEARNED else learned_from
            table.add_row(Text(judged.dataset), way, *cells, end_section=learned_from == "all sets")
    return table


def calibration_table(tuned: Tuned) -> Table:
    """Return, by confidence, how often names led to a relevant document in questions left out of the learning."""
    table = ruled_table("Names in questions left out")
    table.add_column("confidence", no_wrap=True)
    table.add_column("names", justify="right")
    table.add_column("lead to a relevant document", justify="right")
    for row in tuned.calibration:
        share = f"{100 * row.leads:.0f}%" if row.count else "-"
        table.add_row(f"{row.low:.2f} to {row.high:.2f}", f"{row.count:,}", share)
    return table


def _tuning_caption(tuned: Tuned) -> str:
    gain = tuned.gain(_JUDGED_BY)
    verdict = "may be noise" if gain.is_noise else "is no noise"
    return (
        f"{_JUDGED_BY} on what was left out, against hybrid: {100 * gain.mean:+.1f} points"
        f" (95% interval {100 * gain.low:+.1f} to {100 * gain.high:+.1f}), which {verdict}."
    )
