"""``hoprank route graph``, ``link``, ``unlink``, ``get-related`` and ``traverse``: projects and their relations."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipeline.cli.connection import connected
from pipeline.cli.options import Json, Set, read_settings
from pipeline.cli.views.output import print_json, say, show, warn
from pipeline.domains.routing import deferred as domain
from pipeline.domains.routing.cli.options import Graph, Project, Types, open_graph, settings_of, types_of
from pipeline.domains.routing.views.graph import projects_view, related_view, relations_view, steps_view
from pipeline.errors import InputError

if TYPE_CHECKING:
    from pipeline.domains.routing.records import Relation

Source = Annotated[str, typer.Argument(metavar="A", help="The project that asks.")]
Type = Annotated[
    str, typer.Argument(metavar="TYPE", help="USES, LEARNS_FROM, TESTS_WITH, SIBLING or DOMAIN, in any case.")
]
Target = Annotated[str, typer.Argument(metavar="B", help="The project that answers, or the domain.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("graph")(graph_)
    app.command()(link)
    app.command()(unlink)
    app.command()(get_related)
    app.command()(traverse)


def graph_(
    nodes: Annotated[bool, typer.Option("--nodes", help="Only the projects.")] = False,
    edges: Annotated[bool, typer.Option("--edges", help="Only the relations.")] = False,
    view: Annotated[
        Path | None,
        typer.Option("--view", metavar="FILE.html", help="Draw the graph as a page instead.", show_default=False),
    ] = None,
    graph: Graph = None,
    as_json: Json = False,
    settings: Set = None,
) -> None:
    """Show the projects and their relations."""
    if view and (nodes or edges or as_json):
        raise InputError("--view draws the whole graph.", "Leave out --nodes, --edges and --json.")
    with connected(read_settings(None, settings)) as hoprank:
        opened = open_graph(hoprank, graph)
        if view:
            opened.graph.view(view)
            say(f"Wrote {view}.")
            return
        projects = None if edges and not nodes else opened.list_nodes()
        relations = None if nodes and not edges else opened.get_edges()
    if as_json:
        document: dict[str, Any] = {}
        if projects is not None:
            document["nodes"] = [asdict(project) for project in projects]
        if relations is not None:
            document["edges"] = [asdict(relation) for relation in relations]
        print_json(document)
        return
    tables = [*([projects_view(projects)] if projects else []), *([relations_view(relations)] if relations else [])]
    if tables:
        show(*tables)
    else:
        warn(
            f"There is nothing in the graph {opened.graph.name} yet; `hoprank route sync REGISTRY` and `link` fill it."
        )


def link(
    source: Source,
    type_: Type,
    target: Target,
    evidence: Annotated[
        str | None, typer.Option("--evidence", metavar="TEXT", help="Why they are related.", show_default=False)
    ] = None,
    weight: Annotated[
        float | None,
        typer.Option("--weight", metavar="W", min=0, max=1, help="How strong, above 0.", show_default="1, or as it is"),
    ] = None,
    graph: Graph = None,
    as_json: Json = False,
    settings: Set = None,
) -> None:
    """Relate a project to another or to a domain; a relation that is there gets the new weight and evidence."""
    kind = domain.schema.RelationType.parse(type_)
    with connected(read_settings(None, settings)) as hoprank:
        opened = open_graph(hoprank, graph)
        before = opened.get_edge(source, target, kind)
        relation = domain.records.Relation(
            source,
            target,
            kind,
            weight if weight is not None else before.weight if before else 1.0,
            evidence=evidence if evidence is not None else before.evidence if before else "",
        )
        opened.add_edge(relation)
        linked = opened.get_edge(source, target, kind) or relation
    if as_json:
        print_json(asdict(linked))
    else:
        say(f"{_written(linked)}, weight {linked.weight:.2f}.")


def unlink(
    source: Source, type_: Type, target: Target, graph: Graph = None, as_json: Json = False, settings: Set = None
) -> None:
    """Remove a relation; one that the registry declares comes back with the next sync."""
    kind = domain.schema.RelationType.parse(type_)
    with connected(read_settings(None, settings)) as hoprank:
        opened = open_graph(hoprank, graph)
        removed = opened.get_edge(source, target, kind)
        opened.remove_edge(source, target, kind)
    if as_json:
        print_json(asdict(removed) if removed else None)
    else:
        say(f"Removed {source} {kind.upper()} {target}.")


def get_related(
    project: Project, types: Types = None, graph: Graph = None, as_json: Json = False, settings: Set = None
) -> None:
    """List the projects to which the relations of a project lead, the strongest first."""
    kinds = types_of(types)
    with connected(read_settings(None, settings)) as hoprank:
        related = open_graph(hoprank, graph).get_related(project, kinds)
    if as_json:
        print_json([{"project": other.id, **asdict(relation)} for other, relation in related])
    elif related:
        show(related_view(related))
    else:
        warn(f"No relation leads from {project} to another project.")


def traverse(
    project: Project,
    depth: Annotated[
        int | None,
        typer.Option("--depth", min=1, max=8, help="How many relations away.", show_default="routing.depth"),
    ] = None,
    types: Types = None,
    graph: Graph = None,
    as_json: Json = False,
    settings: Set = None,
) -> None:
    """List the projects around a project, the nearest first, each with the way to it."""
    kinds = types_of(types)
    with connected(read_settings(None, settings)) as hoprank:
        steps = open_graph(hoprank, graph).traverse(project, depth or settings_of(hoprank).depth, kinds)
    if as_json:
        print_json(
            [
                {
                    "project": step.project.id,
                    "hops": step.hops,
                    "relations": [asdict(relation) for relation in step.relations],
                }
                for step in steps
            ]
        )
    elif steps:
        show(steps_view(steps))
    else:
        warn(f"No relation leads on from {project}.")


def _written(relation: Relation) -> str:
    return f"{relation.source} {relation.type.upper()} {relation.target}"
