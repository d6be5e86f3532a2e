"""What a corpus holds after a change, for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from pipeline.flows.maintain import Stats
    from pipeline.ingest.update.plan import Plan
    from pipeline.ingest.update.summary import IngestSummary, Outcome
    from pipeline.records import Skipped

_SKIPPED_SHOWN = 20
_NAMED = 10


def summary_table(summary: IngestSummary) -> Table:
    """Return what an ingestion did and what the corpus holds now."""
    rows = [
        ("corpus", summary.corpus),
        ("documents", f"{summary.documents:,} ({summary.changed:,} new or changed, {summary.unchanged:,} unchanged)"),
        *_graph(summary.chunks, summary.entities, summary.edges),
        ("seconds", _listed({stage: f"{seconds:.1f}" for stage, seconds in summary.seconds.items()})),
        ("empty", f"{len(summary.empty):,} without text" if summary.empty else ""),
        ("skipped", _skipped(summary.skipped)),
    ]
    return _table(rows)


def plan_table(plan: Plan) -> Table:
    """Return what a sync is going to do."""
    rows = [
        ("corpus", plan.corpus),
        ("added", _counted(plan.added)),
        ("changed", _counted(plan.changed)),
        ("renamed", _counted([f"{old} -> {new}" for old, new in plan.renamed])),
        ("removed", _counted(plan.removed)),
        ("unchanged", f"{plan.unchanged:,}" + (f", {plan.moved:,} of them moved" if plan.moved else "")),
        ("to embed", f"{plan.chunks_to_embed:,} chunks" if plan else ""),
        ("to relink", f"{plan.edges_to_relink:,} edges" if plan.edges_to_relink else ""),
        ("skipped", _skipped(plan.skipped)),
    ]
    return _table(rows)


def removal_table(corpus: str, removed: Sequence[str], outcome: Outcome) -> Table:
    """Return what was removed and what the corpus holds now."""
    rows = [
        ("corpus", corpus),
        ("removed", ", ".join(removed)),
        ("documents", f"{outcome.documents:,}"),
        *_graph(outcome.chunks, outcome.entities, outcome.edges),
    ]
    return _table(rows)


def stats_table(stats: Stats) -> Table:
    """Return what a corpus holds and how it was made."""
    corpus = stats.corpus
    rows = [
        ("corpus", corpus.name),
        ("documents", f"{corpus.documents:,}"),
        *_graph(corpus.chunks, corpus.entities, corpus.edges),
        ("top entities", _listed({name: f"{mentions:,}" for name, mentions in stats.top})),
        ("model", f"{corpus.fingerprint}, {corpus.dimension} numbers"),
        ("chunker", corpus.chunker),
        ("extractor", corpus.extractor or "builtin"),
        ("analyser", corpus.analyzer),
        ("made", f"{stats.created_at}, id {corpus.id}, generation {corpus.generation}, schema {corpus.schema_version}"),
        ("written by", f"{stats.writer} since {stats.writer_since}" if stats.writer else ""),
        ("unfinished", "a run died; the next one completes it" if corpus.staging and not stats.writer else ""),
    ]
    return _table(rows)


def _graph(chunks: int, entities: int, edges: Mapping[str, int]) -> list[tuple[str, str]]:
    counts = {kind: f"{count:,}" for kind, count in edges.items() if count}
    return [("chunks", f"{chunks:,}"), ("entities", f"{entities:,}"), ("edges", _listed(counts))]


def _table(rows: Sequence[tuple[str, str]]) -> Table:
    table = Table.grid(padding=(0, 2))
    for name, value in rows:
        if value:
            # Names of files and corpora may hold what rich takes for markup.
            table.add_row(Text(name, style="bold"), Text(value))
    return table


def _listed(values: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items())


def _counted(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    listed = [*names[:_NAMED], f"... and {more:,} more (--json lists all)"] if more > 0 else names
    return "\n".join([f"{len(names):,}", *listed]) if names else ""


def _skipped(skipped: Sequence[Skipped]) -> str:
    lines = [f"{one.source} {one.reason}" for one in skipped[:_SKIPPED_SHOWN]]
    more = len(skipped) - len(lines)
    if more:
        lines.append(f"... and {more:,} more (--json lists all)")
    return "\n".join([f"{len(skipped):,}", *lines] if skipped else [])
