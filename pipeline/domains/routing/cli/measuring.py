"""``hoprank route evaluate``: what the project graph is worth."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pipeline.cli.connection import connected
from pipeline.cli.deliver import JsonFile, check_json_file, deliver_report
from pipeline.cli.options import Model, Set, read_settings
from pipeline.cli.views.output import show
from pipeline.cli.views.progress import show_progress
from pipeline.domains.routing import deferred as domain
from pipeline.domains.routing.cli.options import Graph, graph_name
from pipeline.domains.routing.views.measuring import failures_view, modes_view


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(evaluate)


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
