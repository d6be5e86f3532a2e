"""Telling a person what a slow start is doing."""

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
    """What is being done now; ``done`` of ``total`` bytes, both 0 where there is nothing to count."""

    text: str
    done: int = 0
    total: int = 0


Report: TypeAlias = Callable[[Step], None]
"""Called with each step, and again as bytes arrive; may be called from several threads, one at a time."""


def silent(step: Step) -> None:
    """Report nothing."""


@contextmanager
def on_stderr() -> Iterator[Report]:
    """Yield a Report that draws a bar on a terminal, and elsewhere prints one plain line a step, on stderr."""
    if not sys.stderr.isatty():
        yield _plain_lines()
        return
    counted = _WhenCounted(BarColumn()), _WhenCounted(DownloadColumn())
    columns = SpinnerColumn(), TextColumn("{task.description}"), *counted, TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        yield _bar(bars)


class _WhenCounted(ProgressColumn):
    """A column that stays empty while there is nothing to count."""

    def __init__(self, column: ProgressColumn) -> None:
        super().__init__()
        self._column = column

    def render(self, task: Task) -> RenderableType:
        """Draw the column for ``task``."""
        return self._column(task) if task.total else ""


def _plain_lines() -> Report:
    told: set[str] = set()

    def report(step: Step) -> None:
        if step.text not in told:
            told.add(step.text)
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
