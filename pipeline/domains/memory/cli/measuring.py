"""``hoprank memory evaluate``: how well memories are found."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pipeline.cli.connection import connected
from pipeline.cli.deliver import JsonFile, check_json_file, deliver_report
from pipeline.cli.options import Model, Set, read_settings
from pipeline.cli.views.output import show
from pipeline.cli.views.progress import show_progress
from pipeline.domains.memory import deferred as domain
from pipeline.domains.memory.views.measuring import report_view


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(evaluate)


def evaluate(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A folder with corpus.jsonl (turns), queries.jsonl and qrels.tsv.")
    ],
    keep: Annotated[
        str | None,
        typer.Option("--keep", metavar="NAME", help="Keep the memory, and use it again.", show_default=False),
    ] = None,
    json_file: JsonFile = None,
    model: Model = None,
    settings: Set = None,
) -> None:
    """Measure which turns and sessions are found: by BM25, by vectors, by both, and by all of HopRank."""
    check_json_file(json_file)
    with connected(read_settings(model, settings)) as hoprank, show_progress() as progress:
        report = domain.evaluation.evaluate(hoprank, folder, name=keep, progress=progress)
    deliver_report(report.to_json(), json_file, lambda: show(report_view(report)))
