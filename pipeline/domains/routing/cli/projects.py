"""``hoprank route``: the commands that fill, show, change and measure the graph of projects."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipeline.cli.confirm import confirm
from pipeline.cli.connection import connected
from pipeline.cli.deliver import JsonFile, check_json_file, deliver_report
from pipeline.cli.options import Json, Model, Set, Wait, read_settings
from pipeline.cli.syncing import DryRun
from pipeline.cli.views.output import print_json, say, show, warn
from pipeline.cli.views.progress import show_progress
from pipeline.domains.routing import deferred as domain
from pipeline.domains.routing.views import (
    failures_view,
    indexed_view,
    modes_view,
    plan_view,
    projects_view,
    related_view,
    relations_view,
    steps_view,
)
from pipeline.errors import InputError

if TYPE_CHECKING:
    import pipeline
    from pipeline.domains.routing.project_graph import ProjectGraph
    from pipeline.domains.routing.schema import Relation, RelationType
    from pipeline.domains.routing.settings import RoutingSettings
    from pipeline.domains.routing.sync import RegistryPlan

Source = Annotated[str, typer.Argument(metavar="A", help="The project that asks.")]
Type = Annotated[
    str, typer.Argument(metavar="TYPE", help="USES, LEARNS_FROM, TESTS_WITH, SIBLING or DOMAIN, in any case.")
]
Target = Annotated[str, typer.Argument(metavar="B", help="The project that answers, or the domain.")]


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
        relation = domain.schema.Relation(
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


Graph = Annotated[
    str | None,
    typer.Option("--graph", "-g", metavar="NAME", help="The graph of projects.", show_default="routing.graph"),
]
Project = Annotated[str, typer.Argument(metavar="PROJECT", help="The id of a project.")]
Types = Annotated[
    list[str] | None,
    typer.Option("--type", metavar="TYPE", help="Follow only relations of this type; repeatable.", show_default="all"),
]


def graph_name(hoprank: pipeline.HopRank, name: str | None) -> str:
    """Return the name of the graph that --graph names, by default that of the settings."""
    return name or settings_of(hoprank).graph


def open_graph(hoprank: pipeline.HopRank, name: str | None) -> ProjectGraph:
    """Return the graph of projects of that name, by default that of the settings; raises GraphError if none."""
    return domain.project_graph.ProjectGraph.open(hoprank, graph_name(hoprank, name), create=False)


def types_of(names: list[str] | None) -> list[RelationType]:
    """Return the types of relations that --type names; raises GraphError."""
    return [domain.schema.RelationType.parse(name) for name in names or ()]


def settings_of(hoprank: pipeline.HopRank) -> RoutingSettings:
    """Return the section ``routing`` of the settings."""
    return hoprank.settings.section(domain.settings.RoutingSettings)


def sync(
    registry: Annotated[
        Path, typer.Argument(metavar="REGISTRY", help="A YAML file with projects:, references: and relations:.")
    ],
    dry_run: DryRun = False,
    drop: Annotated[bool, typer.Option("--drop", help="Drop the corpora of removed projects, too.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Don't ask before --drop.")] = False,
    graph: Graph = None,
    as_json: Json = False,
    settings: Set = None,
) -> None:
    """Bring the graph to hold exactly the projects of a registry.

    Relations that link, proposals or use have made stay with their projects. The entry of a renamed project says
    `was: OLD`; its relations and its corpus move with it.
    """

    def ask(plan: RegistryPlan) -> None:
        if drop and plan.corpora_left and not yes:
            confirm(f"Drop the corpora {', '.join(plan.corpora_left)}?")

    stated = domain.registry.read_registry(registry)
    with connected(read_settings(None, settings)) as hoprank:
        name = graph_name(hoprank, graph)
        plan = domain.sync.sync(hoprank, name, stated, dry_run=dry_run, drop=drop, announce=ask)
    if as_json:
        print_json(plan.to_json())
    else:
        show(plan_view(plan, name, dropped=drop, planned=dry_run))
    for missing in plan.missing_paths:
        warn(f"{missing} doesn't exist; `hoprank route index` will leave it out.")


def index(
    projects: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PROJECT]...", help="The ids of projects.", show_default="all that have a path"),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Drop the corpora and make them anew.")] = False,
    graph: Graph = None,
    as_json: Json = False,
    model: Model = None,
    settings: Set = None,
    wait: Wait = None,
) -> None:
    """Bring the corpora of projects to hold their files, source code too; only changed files are read anew.

    A project that can't be indexed is named, and the others go on; the exit code is then 1.
    """
    with connected(read_settings(model, settings, wait)) as hoprank, show_progress() as progress:
        done = domain.index.index(hoprank, open_graph(hoprank, graph), projects, force=force, progress=progress)
    if as_json:
        print_json([one.to_json() for one in done])
    elif done:
        show(indexed_view(done))
    else:
        warn("No project has a path.")
    if failed := [one for one in done if one.problem]:
        for one in failed:
            warn(f"{one.project}: {one.problem}")
        raise typer.Exit(1)


def evaluate(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="PATH",
            help="A queryset.json over the projects of the graph, or a folder with corpus.jsonl, queries.jsonl and"
            " qrels.tsv whose documents name their repo.",
        ),
    ],
    graph: Graph = None,
    keep: Annotated[
        str | None,
        typer.Option(
            "--keep",
            metavar="NAME",
            help="Of a folder: keep its graph and corpora under this name, and use them again.",
            show_default=False,
        ),
    ] = None,
    json_file: JsonFile = None,
    model: Model = None,
    settings: Set = None,
) -> None:
    """Measure three ways to search: all projects, those that the graph chooses, and the right ones alone."""
    check_json_file(json_file)
    with connected(read_settings(model, settings)) as hoprank, show_progress() as progress:
        report = domain.evaluation.evaluate(
            hoprank, path, graph=graph_name(hoprank, graph), keep=keep, progress=progress
        )
    deliver_report(report.to_json(), json_file, lambda: show(modes_view(report), *failures_view(report)))
