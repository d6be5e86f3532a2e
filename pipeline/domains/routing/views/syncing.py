"""Views of what a sync of a registry changed, and of the corpora that an index brought up to date."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from pipeline.cli.views.tables import plain_table, property_grid

if TYPE_CHECKING:
    from pipeline.domains.routing.index import Indexed
    from pipeline.domains.routing.sync import RegistryPlan

_MOST_LISTED = 20


def plan_view(plan: RegistryPlan, graph: str, *, dropped: bool, planned: bool) -> Table:
    """Return what a sync changes; ``dropped``: the corpora of removed projects go, too; ``planned``: a dry run."""
    left = "corpora dropped" if dropped else "corpora that stay"
    rows = {
        "added": plan.added,
        "changed": plan.changed,
        "renamed": [f"{old} -> {new}" for old, new in plan.renamed],
        "removed": plan.removed,
        "relations added": plan.relations_added,
        "relations changed": plan.relations_changed,
        "relations removed": plan.relations_removed,
        "corpora renamed": [f"{old} -> {new}" for old, new in plan.corpora_renamed],
        left: plan.corpora_left,
    }
    filled = [(name, _listed(texts)) for name, texts in rows.items() if texts]
    last = [("dry run", "nothing was changed")] if planned and filled else []
    return property_grid([("graph", graph), *(filled or [("unchanged", "it equals the registry")]), *last])


def indexed_view(done: Sequence[Indexed]) -> Table:
    """Return a row a project: what its corpus holds, and what changed in it."""
    table = plain_table("project", "corpus", "documents", "chunks", "changed", "removed", "skipped")
    for one in done:
        counts = [one.documents, one.chunks, one.changed, one.removed, one.skipped]
        cells = ["not indexed", *[""] * 4] if one.problem else [f"{count:,}" for count in counts]
        table.add_row(Text(one.project, style="bold"), Text(one.corpus), *cells)
    return table


def _listed(texts: Sequence[str]) -> str:
    more = [f"... and {len(texts) - _MOST_LISTED:,} more (--json lists all)"] if len(texts) > _MOST_LISTED else []
    return "\n".join([*texts[:_MOST_LISTED], *more])
