"""Views of projects, of their relations, and of the ways between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from pipeline.cli.views.tables import captioned, plain_table, property_grid
from pipeline.domains.routing import deferred as domain
from pipeline.text.prose import counted, listed

# How much of a list is drawn; --json has all. Chosen by hand; not measured.
_PLACES, _SHOWN, _MOST_LISTED = 3, 10, 20


def proposals_view(proposals: Sequence[domain.clues.Proposal]) -> Table:
    """Return the proposals, each with its id, its confidence and its first pieces of evidence."""
    rows = []
    for one in proposals:
        edge, places = Text(str(one.edge), style="bold"), "\n".join(listed(one.evidence, _PLACES))
        rows.append((one.id, f"{100 * one.confidence:.0f}%", edge, places))
    return plain_table("id", "sure", "relation", "evidence", rows=rows)


def log_view(log: domain.log.Log, entries: Sequence[domain.log.Entry]) -> RenderableType:
    """Return whether and where a log is kept, and its newest entries."""
    state = "kept" if log.is_kept else "not kept: routing.log is false"
    grid = property_grid([("log", state), ("file", str(log.path)), ("lines", f"{len(entries):,}")])
    if not entries:
        return grid
    newest = list(reversed(entries))[:_SHOWN]
    rows = ((f"{one.time:%Y-%m-%d %H:%M}", one.graph, one.opened, ", ".join(one.asked)) for one in newest)
    older = len(entries) - len(newest)
    more = [Text(f"and {counted(older, 'older one')}; --json has all")] if older else []
    return Group(grid, Text(), plain_table("time", "graph", "opened", "asked for", rows=rows), *more)


def weights_view(learned: Sequence[domain.usage.LearnedWeight]) -> Table:
    """Return the weights of edges, and the judgements that they follow from."""
    rows = []
    for one in learned:
        useful = sum(event.useful for event in one.events)
        counts = str(useful), str(len(one.events) - useful)
        rows.append((str(one.edge), f"{one.weight:.3f}", f"{one.base:.3f}", *counts))
    return plain_table("relation", "weight", "base", "useful", "useless", rows=rows, named=True)


def modes_view(report: domain.compare.RoutingReport) -> RenderableType:
    """Return the measures of the three modes, and whether the graph reaches its targets."""
    headings = ("routing", "MRR", "R@10", "source recall", "waste", "searched", "p50 ms", "p95 ms")
    rows: list[Sequence[str | Text]] = []
    labels = {"all": "all projects", "oracle": "the ceiling", "graph": "graph"}
    for mode, values in report.modes.items():
        shares = (f"{100 * values[name]:.1f}" for name in ("mrr", "recall@10", "source_recall", "waste"))
        latency = (f"{report.latency_ms[mode][name]:.0f}" for name in ("p50", "p95"))
        label = Text(labels[mode], style="bold" if mode == "graph" else "")
        rows.append((label, *shares, f"{values['searched']:.2f}", *latency))
    over = f"{counted(report.queries, 'query', 'queries')}, {counted(report.projects, 'project')}"
    lines = [f"{over}; in percent, but for searched projects and ms."]
    lines += [f"Target {target}: {'reached' if met else 'missed'}, {seen}." for target, met, seen in report.targets()]
    if report.shortened:
        lines.append(f"Cut to the longest question that a search takes: {len(report.shortened):,}.")
    lines += report.remarks
    return captioned(plain_table(*headings, rows=rows), "\n".join(lines))


def failures_view(report: domain.compare.RoutingReport) -> Iterator[RenderableType]:
    """Yield the failures of routing by category, and those of the graph one by one, each with its evidence."""
    if not report.failures:
        return
    counts = Counter((one.category, one.mode) for one in report.failures)
    categories = sorted({one.category for one in report.failures})
    rows = ((category, *(str(counts[category, mode]) for mode in ("all", "graph"))) for category in categories)
    yield Text()
    yield plain_table("failure", "all projects", "graph", rows=rows)
    graph = [one for one in report.failures if one.mode == "graph"]
    for one in graph[:_SHOWN]:
        yield Text(f"\n{one.query}: {one.category}: {one.evidence}" + (f"\n  mended by {one.mend}" if one.mend else ""))
    if len(graph) > _SHOWN:
        yield Text(f"\nand {len(graph) - _SHOWN} more; --json has all.", style="dim")


def plan_view(plan: domain.sync.RegistryPlan, graph: str, *, dropped: bool, planned: bool) -> Table:
    """Return what a sync changes; ``dropped``: the corpora of removed projects go, too; ``planned``: a dry run."""
    rows = {
        "added": plan.added,
        "changed": plan.changed,
        "renamed": [f"{old} -> {new}" for old, new in plan.renamed],
        "removed": plan.removed,
        "relations added": plan.relations_added,
        "relations changed": plan.relations_changed,
        "relations removed": plan.relations_removed,
        "corpora renamed": [f"{old} -> {new}" for old, new in plan.corpora_renamed],
        "corpora dropped" if dropped else "corpora that stay": plan.corpora_left,
    }
    more = "... and {:,} more (--json lists all)"
    filled = [(name, "\n".join(listed(texts, _MOST_LISTED, more))) for name, texts in rows.items() if texts]
    last = [("dry run", "nothing was changed")] if planned and filled else []
    return property_grid([("graph", graph), *(filled or [("unchanged", "it equals the registry")]), *last])


def indexed_view(done: Sequence[domain.index.Indexed]) -> Table:
    """Return a row a project: what its corpus holds, and what changed in it."""
    headings = ("documents", "chunks", "changed", "removed", "skipped")
    rows = []
    for one in done:
        cells = ["not indexed", *[""] * 4] if one.problem else [f"{getattr(one, name):,}" for name in headings]
        rows.append((one.project, one.corpus, *cells))
    return plain_table("project", "corpus", *headings, rows=rows, named=True)
