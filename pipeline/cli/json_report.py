"""``--json FILE`` of the commands that measure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from pipeline.cli.deferred import report as reports
from pipeline.cli.views.output import print_json

JsonFile = Annotated[
    Path | None,
    typer.Option("--json", metavar="FILE", help="Write the report to FILE as JSON; - prints it instead of the table."),
]

_STDOUT = Path("-")


def check_json_file(file: Path | None) -> None:
    """Raise ConfigurationError if no report can be written to ``file``; called before a long run."""
    if file and file != _STDOUT:
        reports.check_json_path(file)


def deliver(document: Mapping[str, Any], file: Path | None, show_views: Callable[[], None]) -> None:
    """Write a report to ``file`` as JSON, if that is given, and call ``show_views``; with ``-`` print JSON instead."""
    if file == _STDOUT:
        print_json(document)
        return
    if file:
        reports.write_document(dict(document), file)
    show_views()
