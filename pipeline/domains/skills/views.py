"""Graphs of skills, for people and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table

from pipeline.cli.views.tables import plain_table, property_grid
from pipeline.text.prose import counted, listed, one_line

if TYPE_CHECKING:
    from pipeline.domains.skills.check import Findings
    from pipeline.domains.skills.queries import Related, Required
    from pipeline.domains.skills.sources import Built
    from pipeline.knowledge import KnowledgeNode, RankedNode

# How much is shown: chosen by hand to fit a screen.
_MOST_SKIPPED = 20
_DESCRIPTION_LENGTH = 200


def built_view(built: Built, graph: str) -> Table:
    """Return how many skills, packages, folders and edges a build made, and what it skipped."""
    edges = ", ".join(f"{kind} {count:,}" for kind, count in built.edges.items())
    rows = [("graph", graph), ("skills", f"{built.skills:,}"), ("packages", f"{built.packages:,}")]
    rows += [("folders", f"{built.folders:,}"), ("edges", edges)]
    rows.append(("changed", f"{built.written:,} nodes and edges, {counted(built.embedded, 'description')} embedded"))
    if built.missing:
        missing = counted(built.missing, "dependency", "dependencies")
        rows.append(("missing", f"{missing} (hoprank skills check --graph {graph})"))
    if built.skipped:
        skipped = [f"{source.source} {source.reason}" for source in built.skipped]
        rows.append(("skipped", "\n".join(listed(skipped, _MOST_SKIPPED))))
    if built.warnings:
        warnings = [f"{one.source} {one.warning}" for one in built.warnings]
        rows.append(("warnings", "\n".join(listed(warnings, _MOST_SKIPPED))))
    return property_grid(rows)


def skill_json(skill: KnowledgeNode) -> dict[str, Any]:
    """Return a skill: its id, its tags and its properties."""
    return {"id": skill.id, "tags": list(skill.labels), **skill.properties}


def related_view(related: Sequence[Related]) -> Table:
    """Return related skills, the nearest first, each with its reasons."""
    rows = ((one.node.id, f"{one.score:.4f}", "; ".join(one.why)) for one in related)
    return plain_table("skill", "score", "why", rows=rows, named=True)


def required_view(required: Required) -> Table:
    """Return the required skills, the required packages, and the missing ones."""
    rows = []
    for kind, pairs in (("skills", required.skills), ("packages", required.packages)):
        texts = [
            f"{node.properties.get('name', node.id)}{f' ({hops} steps)' if hops > 1 else ''}" for node, hops in pairs
        ]
        rows.append((kind, ", ".join(texts) or "none"))
    if required.missing:
        rows.append(("missing", ", ".join(required.missing)))
    return property_grid(rows)


def ranked_view(ranked: Sequence[RankedNode]) -> Table:
    """Return skills, best first, each with the rankings that found it and the beginning of its description."""
    texts = (str(one.node.properties.get("description", "")) for one in ranked)
    told = (one_line(text, _DESCRIPTION_LENGTH) for text in texts)
    rows = ((one.node.id, ", ".join(one.parts), text) for one, text in zip(ranked, told, strict=True))
    return plain_table("skill", "by", "for", rows=rows, named=True)


def findings_view(findings: Findings) -> Table:
    """Return the findings of a check, a row a kind."""
    missing = [
        f"{one.skill}: {one.dependency}" + (f" (did it mean {one.nearest}?)" if one.nearest else "")
        for one in findings.missing
    ]
    rows = [
        ("skills", f"{findings.skills:,} checked"),
        ("missing dependencies", _counted(missing)),
        ("taken for packages", ", ".join(findings.assumed) or "none"),
        ("cycles", _counted([" -> ".join(cycle) for cycle in findings.cycles])),
        ("orphans", _counted(findings.orphans)),
    ]
    for title, pairs in (("near-duplicates by name", findings.near_by_name), ("by meaning", findings.near_by_meaning)):
        rows.append((title, _counted([f"{pair.one} and {pair.other} ({pair.score:.2f})" for pair in pairs])))
    return property_grid(rows)


def _counted(lines: Sequence[str]) -> str:
    return "\n".join([str(len(lines)), *lines]) if lines else "none"
