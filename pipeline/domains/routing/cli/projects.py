"""``hoprank route``: the commands that fill, show, change and measure the graph of projects."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipeline.cli.confirm import confirm
from pipeline.cli.connection import connected
from pipeline.cli.deliver import JsonFile, check_json_file, deliver, deliver_report
from pipeline.cli.options import Json, Model, Set, Wait, read_settings
from pipeline.cli.syncing import DryRun
from pipeline.cli.views.output import say, show, warn
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
    from collections.abc import Callable

    from pipeline.domains.routing.sync import RegistryPlan

Graph = Annotated[
    str | None,
    typer.Option("--graph", "-g", metavar="NAME", help="The graph of projects.", show_default="routing.graph"),
]
Source = Annotated[str, typer.Argument(metavar="A", help="The project that asks.")]
_Project = Annotated[str, typer.Argument(metavar="PROJECT", help="The id of a project.")]
_Type = Annotated[
    str, typer.Argument(metavar="TYPE", help="USES, LEARNS_FROM, TESTS_WITH, SIBLING or DOMAIN, in any case.")
]
_Target = Annotated[str, typer.Argument(metavar="B", help="The project that answers, or the domain.")]
_Types = Annotated[
    list[str] | None,
    typer.Option("--type", metavar="TYPE", help="Follow only relations of this type; repeatable.", show_default="all"),
]


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
        projects = domain.api.Projects(hoprank, graph)
        plan = projects.sync(stated, dry_run=dry_run, drop=drop, announce=ask)
    deliver(plan, as_json, lambda it: plan_view(it, projects.name, dropped=drop, planned=dry_run))
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
        done = domain.api.Projects(hoprank, graph).index(projects or (), force=force, progress=progress)
    deliver(done, as_json, indexed_view, "No project has a path.")
    if failed := [one for one in done if one.problem]:
        for one in failed:
            warn(f"{one.project}: {one.problem}")
        raise typer.Exit(1)


def graph_(
    nodes: Annotated[bool, typer.Option("--nodes", help="Only the projects.")] = False,
    edges: Annotated[bool, typer.Option("--edges", help="Only the relations.")] = False,
    view: Annotated[
        Path | None,
        typer.Option("--view", metavar="FILE.html", help="Draw the graph as a page instead."),
    ] = None,
    graph: Graph = None,
    as_json: Json = False,
    settings: Set = None,
) -> None:
    """Show the projects and their relations."""
    if view and (nodes or edges or as_json):
        raise InputError("--view draws the whole graph.", "Leave out --nodes, --edges and --json.")
    with connected(read_settings(None, settings)) as hoprank:
        opened = domain.api.Projects(hoprank, graph).graph
        if view:
            opened.graph.view(view)
            say(f"Wrote {view}.")
            return
        document: dict[str, Any] = {}
        if nodes or not edges:
            document["nodes"] = opened.list_nodes()
        if edges or not nodes:
            document["edges"] = opened.get_edges()
    views: dict[str, Callable[[Any], Any]] = {"nodes": projects_view, "edges": relations_view}
    tables = [views[name](rows) for name, rows in document.items() if rows]
    none = f"There is nothing in the graph {opened.graph.name} yet; `hoprank route sync REGISTRY` and `link` fill it."
    deliver(tables, as_json, lambda it: it, none, document=document)


def link(
    source: Source,
    type_: _Type,
    target: _Target,
    evidence: Annotated[str | None, typer.Option("--evidence", metavar="TEXT", help="Why they are related.")] = None,
    weight: Annotated[
        float | None,
        typer.Option("--weight", metavar="W", min=0, max=1, help="How strong, above 0.", show_default="1, or as it is"),
    ] = None,
    graph: Graph = None,
    as_json: Json = False,
    settings: Set = None,
) -> None:
    """Relate a project to another or to a domain; a relation that is there gets the new weight and evidence."""
    with connected(read_settings(None, settings)) as hoprank:
        linked = domain.api.Projects(hoprank, graph).link(source, type_, target, weight=weight, evidence=evidence)
    deliver(linked, as_json, lambda it: f"{it.source} {it.type.upper()} {it.target}, weight {it.weight:.2f}.")


def unlink(
    source: Source, type_: _Type, target: _Target, graph: Graph = None, as_json: Json = False, settings: Set = None
) -> None:
    """Remove a relation; one that the registry declares comes back with the next sync."""
    with connected(read_settings(None, settings)) as hoprank:
        removed = domain.api.Projects(hoprank, graph).unlink(source, type_, target)
    kind = domain.schema.RelationType.parse(type_)
    deliver(removed, as_json, lambda _: f"Removed {source} {kind.upper()} {target}.")


def get_related(
    project: _Project, types: _Types = None, graph: Graph = None, as_json: Json = False, settings: Set = None
) -> None:
    """List the projects to which the relations of a project lead, the strongest first."""
    with connected(read_settings(None, settings)) as hoprank:
        related = domain.api.Projects(hoprank, graph).related(project, types or ())
    document = [{"project": other.id, **asdict(relation)} for other, relation in related]
    none = f"No relation leads from {project} to another project."
    deliver(related, as_json, related_view, none, document=document)


def traverse(
    project: _Project,
    depth: Annotated[
        int | None,
        typer.Option("--depth", min=1, max=8, help="How many relations away.", show_default="routing.depth"),
    ] = None,
    types: _Types = None,
    graph: Graph = None,
    as_json: Json = False,
    settings: Set = None,
) -> None:
    """List the projects around a project, the nearest first, each with the way to it."""
    with connected(read_settings(None, settings)) as hoprank:
        steps = domain.api.Projects(hoprank, graph).traverse(project, depth, types or ())
    document = [{**asdict(step), "project": step.project.id} for step in steps]
    deliver(steps, as_json, steps_view, f"No relation leads on from {project}.", document=document)


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
        ),
    ] = None,
    json_file: JsonFile = None,
    model: Model = None,
    settings: Set = None,
) -> None:
    """Measure three ways to search: all projects, those that the graph chooses, and the right ones alone."""
    check_json_file(json_file)
    with connected(read_settings(model, settings)) as hoprank, show_progress() as progress:
        report = domain.evaluation.evaluate(hoprank, path, graph=graph, keep=keep, progress=progress)
    deliver_report(report.to_json(), json_file, lambda: show(modes_view(report), *failures_view(report)))
