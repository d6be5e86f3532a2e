"""``hoprank route``: the commands that fill, show, change and measure the graph of projects."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from pipeline.cli import completion
from pipeline.cli.deliver import DryRun, JsonFile, check_json_file, deliver, deliver_report
from pipeline.cli.options import Keep, Measuring, Run, confirm
from pipeline.cli.views.output import say, show, warn
from pipeline.cli.views.progress import show_progress
from pipeline.domains.routing import deferred as domain
from pipeline.domains.routing import views
from pipeline.errors import GraphError

Graph = Annotated[
    str | None,
    Option(
        "--graph",
        "-g",
        metavar="NAME",
        help="The graph of projects.",
        show_default="routing.graph",
        autocompletion=completion.graphs,
    ),
]


@dataclass(frozen=True)
class Ask(Run):
    """Options that choose a graph of projects, with those of all commands."""

    graph: Graph = None

    def named(self, projects: domain.api.Projects, name: str | None) -> str:
        """Return the project ``name``, by default (and for ".") the one whose path holds the working directory.

        Says so in the latter case; raises GraphError if none does.
        """
        if name is not None and name != ".":
            return name
        here = domain.folders.working_folder()
        if not (here and (found := projects.holding(here))):
            raise GraphError(
                f"No project of the graph {projects.name} holds {here or 'the working directory'}.",
                f"Name one; `hoprank graph list {projects.name}` lists them.",
            )
        if not self.as_json:
            say(f"From {found}, whose path holds the working directory.")
        return found

    @contextmanager
    def projects(self) -> Iterator[domain.api.Projects]:
        """Connect, and yield the projects; then log which of them the working directory is in, if a log is kept."""
        with self.connect() as hoprank:
            projects = domain.api.Projects(hoprank, self.graph)
            yield projects
            log, here = domain.log.Log.of(hoprank.settings), domain.folders.working_folder()
            if log.is_kept and here:
                with suppress(GraphError):  # a plan may be of a graph that isn't there yet
                    log.add(projects.name, projects.holding(here), (), datetime.now(UTC))


Reading = Annotated[Ask, "graph", "as_json", "settings"]
Writing = Annotated[Ask, "graph", "as_json", "model", "settings", "wait"]

Source = Annotated[
    str, Argument(metavar="A", help="The project that asks; . is the one that holds the working directory.")
]
_Type = Annotated[str, Argument(metavar="TYPE", help="USES, LEARNS_FROM, TESTS_WITH, SIBLING or DOMAIN, in any case.")]
_Target = Annotated[str, Argument(metavar="B", help="The project that answers, or the domain.")]


def sync(
    registry: Annotated[
        Path, Argument(metavar="REGISTRY", help="A YAML file with projects:, references: and relations:.")
    ],
    dry_run: DryRun = False,
    drop: Annotated[bool, Option("--drop", help="Drop the corpora of removed projects, too.")] = False,
    yes: Annotated[bool, Option("--yes", "-y", help="Don't ask before --drop.")] = False,
    run: Reading = Ask(),
) -> None:
    """Bring the graph to hold exactly the projects of a registry.

    Relations that link, proposals or use have made stay with their projects. The entry of a renamed project says
    `was: OLD`; its relations and its corpus move with it.
    """

    def ask(plan: domain.sync.RegistryPlan) -> None:
        if drop and plan.corpora_left:
            confirm(f"Drop the corpora {', '.join(plan.corpora_left)}?", yes)

    stated = domain.registry.read_registry(registry)
    with run.projects() as projects:
        plan = projects.sync(stated, dry_run=dry_run, drop=drop, announce=ask)
    deliver(plan, run.as_json, lambda it: views.plan_view(it, projects.name, dropped=drop, planned=dry_run))
    for missing in plan.missing_paths:
        warn(f"{missing} doesn't exist; `hoprank route index` will leave it out.")


def index(
    projects: Annotated[
        list[str] | None,
        Argument(metavar="PROJECT", help="The ids of projects.", show_default="all that have a path"),
    ] = None,
    force: Annotated[bool, Option("--force", help="Drop the corpora and make them anew.")] = False,
    run: Writing = Ask(),
) -> None:
    """Bring the corpora of projects to hold their files, source code too; only changed files are read anew.

    A project that can't be indexed is named, and the others go on; the exit code is then 1.
    """
    with run.projects() as opened, show_progress() as progress:
        done = opened.index(projects or (), force=force, progress=progress)
    deliver(done, run.as_json, views.indexed_view, "No project has a path.")
    if failed := [one for one in done if one.problem]:
        for one in failed:
            warn(f"{one.project}: {one.problem}")
        raise typer.Exit(1)


def link(
    source: Source,
    type_: _Type,
    target: _Target,
    evidence: Annotated[str | None, Option("--evidence", metavar="TEXT", help="Why they are related.")] = None,
    weight: Annotated[
        float | None,
        Option("--weight", metavar="W", min=0, max=1, help="How strong, above 0.", show_default="1, or as it is"),
    ] = None,
    run: Reading = Ask(),
) -> None:
    """Relate a project to another or to a domain; an existing relation gets the new weight and evidence."""
    with run.projects() as opened:
        linked = opened.link(run.named(opened, source), type_, target, weight=weight, evidence=evidence)
    deliver(linked, run.as_json, lambda it: f"{it.source} {it.type.upper()} {it.target}, weight {it.weight:.2f}.")


def unlink(source: Source, type_: _Type, target: _Target, run: Reading) -> None:
    """Remove a relation; one that the registry declares comes back with the next sync."""
    with run.projects() as opened:
        source = run.named(opened, source)
        removed = opened.unlink(source, type_, target)
    kind = domain.schema.RelationType.parse(type_)
    deliver(removed, run.as_json, lambda _: f"Removed {source} {kind.upper()} {target}.")


def evaluate(
    path: Annotated[
        Path,
        Argument(
            metavar="PATH",
            help="A queryset.json over the projects of the graph, or a folder with corpus.jsonl, queries.jsonl and"
            " qrels.tsv whose documents name their repo.",
        ),
    ],
    graph: Graph = None,
    keep: Keep = None,
    json_file: JsonFile = None,
    run: Measuring = Run(),
) -> None:
    """Measure three ways to search: all projects, those that the graph chooses, and the right ones alone."""
    check_json_file(json_file)
    with run.connect() as hoprank, show_progress() as progress:
        report = domain.evaluation.evaluate(hoprank, path, graph=graph, keep=keep, progress=progress)
    deliver_report(report.to_json(), json_file, lambda: show(views.modes_view(report), *views.failures_view(report)))
