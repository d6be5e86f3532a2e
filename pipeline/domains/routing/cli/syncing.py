"""``hoprank route sync`` and ``index``: what brings projects into the graph and their files into corpora."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipeline.cli.confirm import confirm
from pipeline.cli.connection import connected
from pipeline.cli.options import Json, Model, Set, Wait, read_settings
from pipeline.cli.syncing import DryRun
from pipeline.cli.views.output import print_json, show, warn
from pipeline.cli.views.progress import show_progress
from pipeline.domains.routing import deferred as domain
from pipeline.domains.routing.cli.options import Graph, graph_name, open_graph
from pipeline.domains.routing.views.syncing import indexed_view, plan_view

if TYPE_CHECKING:
    from pipeline.domains.routing.sync import RegistryPlan


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(sync)
    app.command()(index)


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
