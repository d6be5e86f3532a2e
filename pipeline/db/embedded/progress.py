"""Progress of a slow start, reported to the user."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

from rich.console import Console, RenderableType
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


@dataclass(frozen=True, slots=True)
class Step:
    """The current step; ``done`` of ``total`` bytes, both 0 if the step isn't measured."""

    text: str
    done: int = 0
    total: int = 0


Report: TypeAlias = Callable[[Step], None]
"""Callback for each step, and again as bytes arrive; calls may come from several threads, but never concurrently."""


def silent(step: Step) -> None:
    """Report nothing."""


@contextmanager
def on_stderr() -> Iterator[Report]:
    """Yield a Report to stderr: a bar on a terminal, else a plain line per step."""
    if not sys.stderr.isatty():
        yield _plain_lines()
        return
    counted = _WhenCounted(BarColumn()), _WhenCounted(DownloadColumn())
    columns = SpinnerColumn(), TextColumn("{task.description}"), *counted, TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        yield _bar(bars)


class _WhenCounted(ProgressColumn):
    """A column that stays empty while the step isn't measured."""

    def __init__(self, column: ProgressColumn) -> None:
        super().__init__()
        self._column = column

    def render(self, task: Task) -> RenderableType:
        """Draw the column for ``task``."""
        return self._column(task) if task.total else ""


def _plain_lines() -> Report:
    printed: set[str] = set()

    def report(step: Step) -> None:
        if step.text not in printed:
            printed.add(step.text)
            print(f"{step.text} ...", file=sys.stderr, flush=True)

    return report


def _bar(bars: Progress) -> Report:
    tasks: dict[str, TaskID] = {}

    def report(step: Step) -> None:
        if step.text not in tasks:
            for task in tasks.values():
                bars.remove_task(task)
            tasks.clear()
            tasks[step.text] = bars.add_task(step.text, total=step.total or None)
        bars.update(tasks[step.text], completed=step.done)

    return report
