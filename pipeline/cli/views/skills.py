"""What ``hoprank skills`` found, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from pipeline.domains.skills import Built, Findings
from pipeline.domains.skills import describe_edge as said

if TYPE_CHECKING:
    from pipeline.domains.skills.questions import Related, Required
    from pipeline.knowledge import KnowledgeEdge, KnowledgeNode, RankedNode

_SHOWN = 20


def built_view(built: Built, graph: str) -> Table:
    """Return what a build made."""
    edges = ", ".join(f"{kind} {count:,}" for kind, count in built.edges.items())
    rows = [("graph", graph), ("skills", f"{built.skills:,}"), ("packages", f"{built.packages:,}")]
    rows += [("folders", f"{built.folders:,}"), ("edges", edges)]
    if built.missing:
        rows.append(("missing", f"{built.missing:,} dependencies (hoprank skills check --graph {graph})"))
    if built.skipped:
        rows.append(("skipped", "\n".join(f"{one.source} {one.reason}" for one in built.skipped[:_SHOWN])))
    return _grid(rows)


def built_json(built: Built) -> dict[str, Any]:
    """Return what a build made."""
    return asdict(built)


def skill_json(skill: KnowledgeNode, edges: Iterable[KnowledgeEdge] = ()) -> dict[str, Any]:
    """Return a skill and, where they are given, its edges."""
    found = {"id": skill.id, "tags": list(skill.labels), **skill.properties}
    if edges:
        found["edges"] = [
            {"source": edge.source, "target": edge.target, "type": edge.type, "weight": edge.weight, **edge.properties}
            for edge in edges
        ]
    return found


def skills_view(skills: Sequence[KnowledgeNode]) -> Table:
    """Return skills with the beginning of what each is for, a line each."""
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, min_width=min(48, max(len(skill.id) for skill in skills)))
    table.add_column(no_wrap=True, overflow="ellipsis")
    for skill in skills:
        table.add_row(Text(skill.id, style="bold"), Text(_description(skill)))
    return table


def skill_view(skill: KnowledgeNode, edges: Iterable[KnowledgeEdge]) -> list[RenderableType]:
    """Return a skill with all its edges, the strongest of each type first."""
    properties = skill.properties
    rows = [(name, str(properties[name])) for name in ("description", "version", "path") if properties.get(name)]
    if skill.labels:
        rows.append(("tags", ", ".join(skill.labels)))
    if missing := properties.get("missing"):
        rows.append(("missing", ", ".join(map(str, missing if isinstance(missing, list) else [missing]))))
    table = _table("", "skill, package or folder", "weight")
    for edge in sorted(edges, key=lambda edge: (edge.type, -edge.weight, edge.other(skill.id))):
        table.add_row(said(edge, skill.id), Text(edge.other(skill.id)), f"{edge.weight:.2f}")
    return [Text(skill.id, style="bold"), _grid(rows), Text(), table]


def related_view(found: Sequence[Related]) -> Table:
    """Return related skills, the nearest first, each with why."""
    table = _table("skill", "score", "why")
    for one in found:
        table.add_row(Text(one.node.id, style="bold"), f"{one.score:.4f}", Text("; ".join(one.why)))
    return table


def related_json(one: Related) -> dict[str, Any]:
    """Return a related skill, its score and why."""
    return {"id": one.node.id, "score": one.score, "why": list(one.why)}


def required_view(found: Required) -> Table:
    """Return what is required, skills and packages apart."""
    rows = []
    for kind, pairs in (("skills", found.skills), ("packages", found.packages)):
        texts = [f"{_name(node)}{f' ({hops} steps)' if hops > 1 else ''}" for node, hops in pairs]
        rows.append((kind, ", ".join(texts) or "none"))
    if found.missing:
        rows.append(("missing", ", ".join(found.missing)))
    return _grid(rows)


def required_json(found: Required) -> dict[str, Any]:
    """Return what is required, each with how many steps away it is."""
    return {
        "skills": [{"id": node.id, "steps": hops} for node, hops in found.skills],
        "packages": [{"name": _name(node), "steps": hops} for node, hops in found.packages],
        "missing": list(found.missing),
    }


def path_view(nodes: Sequence[KnowledgeNode], steps: Sequence[Sequence[KnowledgeEdge]]) -> list[RenderableType]:
    """Return the nodes of a path, one below the other, and between them what joins them."""
    parts: list[RenderableType] = [Text(nodes[0].id, style="bold")]
    for before, after, edges in zip(nodes, nodes[1:], steps, strict=False):
        parts.append(Padding(Text("; ".join(said(edge, before.id) for edge in edges), style="dim"), (0, 0, 0, 2)))
        parts.append(Text(after.id, style="bold"))
    return parts


def path_json(nodes: Sequence[KnowledgeNode], steps: Sequence[Sequence[KnowledgeEdge]]) -> dict[str, Any]:
    """Return the ids of a path, and the types of the edges of each step."""
    return {"nodes": [node.id for node in nodes], "steps": [[edge.type for edge in edges] for edges in steps]}


def found_view(found: Sequence[RankedNode]) -> Table:
    """Return skills that a text found, best first."""
    table = _table("skill", "by", "for")
    for one in found:
        table.add_row(Text(one.node.id, style="bold"), ", ".join(one.parts), Text(_description(one.node)[:200]))
    return table


def findings_view(findings: Findings) -> list[RenderableType]:
    """Return all that a check found, a paragraph a kind."""
    missing = [
        f"{one.skill}: {one.dependency}" + (f" (did it mean {one.nearest}?)" if one.nearest else "")
        for one in findings.missing
    ]
    rows = [
        ("skills", f"{findings.skills:,} checked"),
        ("missing dependencies", _lines(missing)),
        ("taken for packages", ", ".join(findings.assumed) or "none"),
        ("cycles", _lines([" -> ".join(cycle) for cycle in findings.cycles])),
        ("orphans", _lines(findings.orphans)),
        ("near-duplicates by name", _lines([f"{p.one} and {p.other} ({p.score:.2f})" for p in findings.near_by_name])),
        ("by meaning", _lines([f"{p.one} and {p.other} ({p.score:.2f})" for p in findings.near_by_meaning])),
    ]
    return [_grid(rows)]


def findings_json(findings: Findings) -> dict[str, Any]:
    """Return all that a check found."""
    return asdict(findings)


def _lines(found: Sequence[str]) -> str:
    return "\n".join([str(len(found)), *found]) if found else "none"


def _name(node: KnowledgeNode) -> str:
    return str(node.properties.get("name", node.id))


def _description(skill: KnowledgeNode) -> str:
    return str(skill.properties.get("description", ""))


def _grid(rows: Sequence[tuple[str, str]]) -> Table:
    table = Table.grid(padding=(0, 2))
    for name, value in rows:
        # Names may hold what rich takes for markup.
        table.add_row(Text(name, style="bold"), Text(value))
    return table


def _table(*headings: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table
