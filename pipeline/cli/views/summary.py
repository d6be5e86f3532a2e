"""Corpora for people: the list, the contents of one, and what an ingest, a sync or a removal did."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from pipeline.cli.views.tables import property_grid, ruled_table
from pipeline.grouping import grouped
from pipeline.text.prose import counted, listed

if TYPE_CHECKING:
    from pipeline.db.catalogue import Corpus
    from pipeline.flows.maintain import Stats
    from pipeline.ingest.update.changes import IngestSummary, Outcome, Plan
    from pipeline.records import Skipped, Warned

# How many lines are shown; chosen by hand to fit a screen. --json has all.
_MOST_SKIPPED = 20
_MOST_NAMES = 10

_SHORTEST = 0.05  # seconds of a stage that are shown; of less there is nothing to see

_LINE = re.compile(r"\(line \d+: ")
"""The line in a warning, without which warnings are grouped."""

_SUFFIX = re.compile(r"the suffix \S+, which ")
_DETAIL = re.compile(r" \((?:[A-Z]\w+: .*|at byte \d+)\)$|(?<=is the document )'.*'|(?<=the id )'.*'", re.DOTALL)
"""Errors of libraries, places in a file, and keys: they differ from file to file, and the reason is one."""


def corpora_table(corpora: Sequence[Corpus]) -> Table:
    """Return a row a corpus: what it holds, and the model that embedded it."""
    table = ruled_table()
    table.add_column("corpus", overflow="fold")
    for heading in ("documents", "chunks", "entities"):
        table.add_column(heading, justify="right")
    table.add_column("model", overflow="fold")
    filtered = any(corpus.filterable for corpus in corpora)
    if filtered:
        table.add_column("filters by", overflow="fold")
    for corpus in corpora:
        counts = (f"{count:,}" for count in (corpus.documents, corpus.chunks, corpus.entities))
        fields = [Text(", ".join(corpus.filterable))] if filtered else []
        table.add_row(Text(corpus.name), *counts, Text(corpus.fingerprint.partition("@")[0]), *fields)
    return table


def summary_table(summary: IngestSummary, names: Mapping[str, str] = {}, told: Plan | None = None) -> Table:
    """Return what an ingest did, and what the corpus holds now.

    ``names`` holds what a domain calls a corpus and its documents. What the plan ``told`` names as skipped isn't named
    again.
    """
    return _filled(
        ("corpus", summary.corpus),
        ("documents", f"{summary.documents:,} ({summary.changed:,} new or changed, {summary.unchanged:,} unchanged)"),
        *_contents(summary.chunks, summary.entities, summary.edges),
        ("seconds", _pairs({stage: f"{spent:.1f}" for stage, spent in summary.seconds.items() if spent >= _SHORTEST})),
        ("empty", f"{len(summary.empty):,} without text" if summary.empty else ""),
        ("skipped", _skipped(summary.skipped, told.skipped if told is not None else ())),
        ("warnings", _warnings(summary.warnings, told.warnings if told is not None else ())),
        names=names,
    )


def link_warnings(summary: IngestSummary) -> list[str]:
    """Return a warning for each link setting of the corpus that isn't the present one."""
    fix = f"The corpus keeps its own; hoprank relink {summary.corpus} applies the settings."
    return [f"{difference}. {fix}" for difference in summary.linked_otherwise]


def plan_table(plan: Plan, names: Mapping[str, str] = {}, told: Plan | None = None) -> Table:
    """Return what a sync will do; ``names`` and ``told`` are as for :func:`summary_table`."""
    return _filled(
        ("corpus", plan.corpus),
        ("added", _names(plan.added)),
        ("changed", _names(plan.changed)),
        ("renamed", _names([f"{old} -> {new}" for old, new in plan.renamed])),
        ("removed", _names(plan.removed)),
        ("unchanged", f"{plan.unchanged:,}" + (f", {plan.moved:,} of them moved" if plan.moved else "")),
        ("to embed", counted(plan.chunks_to_embed, "chunk") if plan else ""),
        ("to relink", counted(plan.edges_to_relink, "edge") if plan.edges_to_relink else ""),
        ("skipped", _skipped(plan.skipped, told.skipped if told is not None else ())),
        ("warnings", _warnings(plan.warnings, told.warnings if told is not None else ())),
        names=names,
    )


def removal_table(corpus: str, removed: Sequence[str], outcome: Outcome) -> Table:
    """Return what was removed, and what the corpus holds now."""
    return _filled(
        ("corpus", corpus),
        ("removed", ", ".join(removed)),
        ("documents", f"{outcome.documents:,}"),
        *_contents(outcome.chunks, outcome.entities, outcome.edges),
    )


def stats_table(stats: Stats) -> Table:
    """Return what a corpus holds, how it was made, and who writes to it."""
    corpus = stats.corpus
    return _filled(
        ("corpus", corpus.name),
        ("documents", f"{corpus.documents:,}"),
        *_contents(corpus.chunks, corpus.entities, corpus.edges),
        ("top entities", ", ".join(f"{name} ({mentions:,})" for name, mentions in stats.top)),
        ("model", f"{corpus.fingerprint}, {corpus.dimension} numbers"),
        ("chunker", corpus.chunker),
        ("extractor", corpus.extractor or "builtin"),
        ("analyser", corpus.analyzer),
        ("filters by", ", ".join(corpus.filterable)),
        ("linked with", _pairs({name: str(value) for name, value in corpus.links.items()}) or "unknown settings"),
        ("made", f"{stats.created_at}, id {corpus.id}, generation {corpus.generation}, schema {corpus.schema_version}"),
        ("written by", f"{stats.writer} since {stats.writer_since}" if stats.writer else ""),
        ("unfinished", "a run died; the next one completes it" if corpus.staging and not stats.writer else ""),
    )


def _contents(chunks: int, entities: int, edges: Mapping[str, int]) -> list[tuple[str, str]]:
    counts = {kind: f"{count:,}" for kind, count in edges.items() if count}
    return [("chunks", f"{chunks:,}"), ("entities", f"{entities:,}"), ("edges", _pairs(counts))]


def _filled(*rows: tuple[str, str], names: Mapping[str, str] = {}) -> Table:
    return property_grid((names.get(name, name), value) for name, value in rows if value)


def _pairs(values: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items())


def _names(names: Sequence[str]) -> str:
    lines = listed(names, _MOST_NAMES, "... and {:,} more (--json lists all)")
    return "\n".join([f"{len(names):,}", *lines]) if names else ""


def _skipped(skipped: Sequence[Skipped], told: Sequence[Skipped] = ()) -> str:
    """Return the number of skipped sources, and a line for each reason; those of ``told`` aren't named again."""
    if skipped and tuple(skipped) == tuple(told):
        return f"{len(skipped):,}, as before"
    return _by_kind([(one.source, one.reason) for one in skipped])


def _warnings(warnings: Sequence[Warned], told: Sequence[Warned] = ()) -> str:
    if warnings and tuple(warnings) == tuple(told):
        return f"{len(warnings):,}, as before"
    return _by_kind([(one.source, one.warning) for one in warnings])


def _by_kind(items: Sequence[tuple[str, str]]) -> str:
    groups = grouped((_reason(source, text), (source, text)) for source, text in items)
    largest = sorted(groups.items(), key=lambda group: -len(group[1]))
    lines = [_group(text, members) for (_, text), members in largest]
    if (more := len(lines) - _MOST_SKIPPED) > 0:
        lines[_MOST_SKIPPED:] = [f"... and {more:,} other reasons (--json lists all)"]
    return "\n".join([f"{len(items):,}", *lines]) if items else ""


def _reason(source: str, text: str) -> tuple[bool, str]:
    """Return whether a source is a line of a file, and its reason without what differs from file to file."""
    return _is_line(source), _DETAIL.sub("", _SUFFIX.sub("a suffix that ", _LINE.sub("(", text)))


def _is_line(source: str) -> bool:
    return source.rpartition(", line ")[2].isdigit()


def _suffix_of(source: str) -> str:
    return PurePath(source.rpartition(", line ")[0] if _is_line(source) else source).suffix.lower()


def _group(reason: str, members: Sequence[tuple[str, str]]) -> str:
    """Return a line for sources with one reason: what they are, one of them, and their suffixes."""
    source, text = members[0]
    if len(members) == 1:
        return f"{source} {text}"
    counts = Counter(_suffix_of(source) for source, _ in members).most_common()
    files = "files" if len(counts) > 1 else f"{counts[0][0]} files" if counts[0][0] else "files without a suffix"
    kind = f"lines of {files}" if _is_line(source) else files
    same = _LINE.sub("(", text) if len({_LINE.sub("(", text) for _, text in members}) == 1 else reason
    line = f"{len(members):,} {kind}: each {same}, as {source}"
    if len(counts) == 1:
        return line
    shown = listed([f"{count:,} {suffix or 'without'}" for suffix, count in counts], _MOST_NAMES, "{:,} other kinds")
    return f"{line} ({', '.join(shown)})"
