"""The embedded server for people: its start on stderr, a bar on a terminal, a line a step elsewhere; and its state."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console, RenderableType
from rich.filesize import decimal
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)

if TYPE_CHECKING:
    from pipeline.db.embedded import ServerStatus
    from pipeline.db.embedded.options import Report, Step


@contextmanager
def show_startup() -> Iterator[Report]:
    """Yield a Report that shows each step on stderr for as long as the context lasts."""
    if not sys.stderr.isatty():
        yield _print_steps()
        return
    counted = _WhenCounted(BarColumn()), _WhenCounted(DownloadColumn())
    columns = SpinnerColumn(), TextColumn("{task.description}"), *counted, TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as display:
        yield _draw_steps(display)


class _WhenCounted(ProgressColumn):
    """A column that stays empty while there is nothing to count."""

    def __init__(self, column: ProgressColumn) -> None:
        super().__init__()
        self._column = column

    def render(self, task: Task) -> RenderableType:
        """Draw the column for ``task``."""
        return self._column(task) if task.total else ""


def _print_steps() -> Report:
    printed: set[str] = set()

    def report(step: Step) -> None:
        if step.text not in printed:
            printed.add(step.text)
            print(f"{step.text} ...", file=sys.stderr, flush=True)

    return report


def _draw_steps(display: Progress) -> Report:
    tasks: dict[str, TaskID] = {}

    def report(step: Step) -> None:
        if step.text not in tasks:
            for task in tasks.values():
                display.remove_task(task)
            tasks.clear()
            tasks[step.text] = display.add_task(step.text, total=step.total or None)
        display.update(tasks[step.text], completed=step.done)

    return report


def status_lines(status: ServerStatus) -> list[str]:
    """Return a line each: state, versions, address and process if it runs, disk space, home and log."""
    state = "running" if status.running else "starting" if status.starting else "stopped"
    rows = [("state", state), ("neo4j", f"{status.version} Community, GDS {status.gds_version}")]
    if status.pid and status.since:
        rows += [
            ("uri", status.uri or "not yet"),
            ("pid", str(status.pid)),
            ("since", f"{status.since.astimezone():%Y-%m-%d %H:%M:%S}"),
        ]
    rows += [("data", decimal(status.data_bytes)), ("home", str(status.home)), ("log", str(status.log))]
    return [f"{name:<10} {value}" for name, value in rows]
