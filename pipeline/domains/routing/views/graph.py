"""Views of projects, of their relations, and of the ways between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from pipeline.cli.views.tables import plain_table

if TYPE_CHECKING:
    from pipeline.domains.routing.records import Project, Relation, Step

_LONGEST = 60


def projects_view(projects: Sequence[Project]) -> Table:
    """Return a row a project: its kind, its domains, when it was indexed, and the beginning of its summary."""
    table = plain_table("project", "kind", "domains", "indexed", "summary")
    for project in projects:
        table.add_row(
            Text(project.id, style="bold"),
            project.kind,
            Text(", ".join(project.domains)),
            project.last_indexed[:10] or "never",
            Text(_short(project.summary)),
        )
    return table


def relations_view(relations: Sequence[Relation]) -> Table:
    """Return a row a relation: its ends, its weight, and the evidence for it."""
    table = plain_table("from", "type", "to", "weight", "evidence")
    for relation in relations:
        table.add_row(
            Text(relation.source, style="bold"),
            relation.type.upper(),
            Text(relation.target),
            f"{relation.weight:.2f}",
            Text(_short(relation.evidence)),
        )
    return table


def related_view(related: Sequence[tuple[Project, Relation]]) -> Table:
    """Return a row a relation of a project: where it leads, its weight, and the evidence for it."""
    table = plain_table("project", "type", "weight", "evidence")
    for project, relation in related:
        cells = (relation.type.upper(), f"{relation.weight:.2f}", Text(_short(relation.evidence)))
        table.add_row(Text(project.id, style="bold"), *cells)
    return table


def steps_view(steps: Sequence[Step]) -> Table:
    """Return a row a project, with its distance and the way to it."""
    table = plain_table("project", "hops", "way")
    for step in steps:
        way = [step.relations[0].source, *(f"{one.type.upper()} {one.target}" for one in step.relations)]
        table.add_row(Text(step.project.id, style="bold"), str(step.hops), Text(" ".join(way)))
    return table


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
