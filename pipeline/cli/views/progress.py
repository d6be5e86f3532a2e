"""Progress on stderr, a bar a stage or step on a terminal and a line each elsewhere; and the state of the server."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich import progress as bars
from rich.console import Console, RenderableType
from rich.filesize import decimal
from rich.progress import Progress as Display
from rich.text import Text

from pipeline.progress import Progress
from pipeline.text.prose import counted

if TYPE_CHECKING:
    from pipeline.db.embedded import ServerStatus
    from pipeline.db.embedded.options import Report, Step


_UNITS = {"read": "file", "embed": "chunk", "link": "edge", "search": "question"}
"""Units of the stages of corpora and of evaluations. A stage named ``embed skills`` counts skills."""

_MOST_BARS = 12
"""Bars that stay when their stages have ended: more don't fit a small terminal. Chosen by hand."""

_RATED = 0.1  # seconds; of less, a rate is that of a clock. Chosen by hand.


_QUIET_SECONDS = 10.0
"""Seconds after which a stage that goes on prints a line where there is no terminal. Chosen by hand for logs."""


@contextmanager
def show_progress(*, quiet: bool = False) -> Iterator[Progress]:
    """Yield a Progress that is shown on stderr for as long as the context lasts; ``quiet``: on a terminal alone."""
    if not sys.stderr.isatty():
        yield Progress(None if quiet else ProgressLines())
        return
    shown = bars.BarColumn(), _WhenCounted(bars.MofNCompleteColumn()), RateColumn(), LeftColumn()
    columns = bars.SpinnerColumn(), bars.TextColumn("{task.description}"), *shown, bars.TimeElapsedColumn()
    with _display(*columns) as display:
        yield Progress(ProgressBars(display))


def _display(*columns: bars.ProgressColumn) -> Display:
    """Return bars on stderr; what is printed to a terminal meanwhile stands above them.

    rich would send it to stderr, where results that go to a file or a pipe would be lost.
    """
    return Display(*columns, console=Console(stderr=True), transient=True, redirect_stdout=sys.stdout.isatty())


class ProgressBars:
    """A listener that draws a bar a stage; a stage that begins again continues its bar."""

    def __init__(self, display: Display) -> None:
        self._display = display
        self._tasks: dict[str, bars.TaskID] = {}
        self._steps: dict[str, int] = {}
        self._ended: dict[str, None] = {}

    def begin(self, stage: str, total: int | None) -> None:
        """Show the stage."""
        self._ended.pop(stage, None)
        for ended in list(self._ended)[: max(0, len(self._tasks) - _MOST_BARS)]:
            self._display.remove_task(self._tasks.pop(ended))
            del self._ended[ended]
        before = self._steps.setdefault(stage, 0)
        if stage in self._tasks:
            self._display.remove_task(self._tasks[stage])
        whole = None if total is None else before + total
        # what comes from memory isn't counted while it is read
        unit = "" if stage.startswith("read") and total is None else _unit(stage)
        self._tasks[stage] = self._display.add_task(
            stage, total=whole, completed=before, before=before, unit=unit, counted=bool(unit or total)
        )

    def advance(self, stage: str, steps: int) -> None:
        """Move the stage's bar."""
        self._steps[stage] += steps
        self._display.advance(self._tasks[stage], steps)

    def end(self, stage: str) -> None:
        """Fill the stage's bar, whose length may have been unknown."""
        full = max(self._steps[stage], 1)
        self._display.update(self._tasks[stage], total=full, completed=full)
        self._ended[stage] = None


class RateColumn(bars.ProgressColumn):
    """Steps a second since the stage last began."""

    def render(self, task: bars.Task) -> Text:
        """Return the rate, or nothing before the first step."""
        seconds = task.finished_time or task.elapsed
        unit, steps = task.fields["unit"], task.completed - task.fields["before"]
        return Text(f"{_rate(steps, seconds)} {unit}s/s" if unit and steps and seconds else "")


class LeftColumn(bars.ProgressColumn):
    """The time that a stage of known length still takes, if it goes on as before."""

    def render(self, task: bars.Task) -> Text:
        """Return the time, or nothing before the first step and after the last."""
        seconds = None if task.finished or not task.total else task.time_remaining
        return Text(f"{_duration(seconds)} left" if seconds else "")


class ProgressLines:
    """A listener that prints a line as each stage ends, and now and then while a long one goes on, for logs."""

    def __init__(self) -> None:
        self._begun: dict[str, float] = {}
        self._steps: dict[str, int] = {}
        self._totals: dict[str, int | None] = {}
        self._printed: dict[str, float] = {}

    def begin(self, stage: str, total: int | None) -> None:
        """Note when the stage began."""
        self._begun[stage], self._steps[stage], self._totals[stage] = time.perf_counter(), 0, total
        self._printed[stage] = self._begun[stage]

    def advance(self, stage: str, steps: int) -> None:
        """Count the stage's steps; print how far it is if nothing was printed for a while."""
        self._steps[stage] += steps
        now, done, total = time.perf_counter(), self._steps[stage], self._totals[stage]
        if now - self._printed[stage] < _QUIET_SECONDS:
            return
        self._printed[stage] = now
        left = (now - self._begun[stage]) * (total - done) / done if total and done else 0
        so_far = (
            f"{done:,} of {counted(total, _unit(stage) or 'step')}" if total else counted(done, _unit(stage) or "step")
        )
        print(f"{stage}: {so_far}{f', {_duration(left)} left' if left > 0 else ''}", file=sys.stderr, flush=True)

    def end(self, stage: str) -> None:
        """Print the stage's seconds, and its steps and their rate if it counts any."""
        seconds, steps = time.perf_counter() - self._begun[stage], self._steps[stage]
        unit, done = _unit(stage), f"{seconds:.1f} s"
        if unit and steps:
            rate = f" ({_rate(steps, seconds)}/s)" if seconds >= _RATED else ""
            done = f"{counted(steps, unit)} in {done}{rate}"
        print(f"{stage}: {done}", file=sys.stderr, flush=True)


def _unit(stage: str) -> str:
    """Return what a stage counts, in the singular; "" if it counts nothing."""
    verb, _, what = stage.partition(" ")
    return what.removesuffix("s") if verb == "embed" and what else _UNITS.get(verb.rstrip(":"), "")


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _rate(steps: float, seconds: float) -> str:
    rate = steps / seconds
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.1f}"


@contextmanager
def show_startup() -> Iterator[Report]:
    """Yield a Report that shows each step on stderr for as long as the context lasts."""
    if not sys.stderr.isatty():
        yield _print_steps()
        return
    counted = _WhenCounted(bars.BarColumn()), _WhenCounted(bars.DownloadColumn())
    columns = bars.SpinnerColumn(), bars.TextColumn("{task.description}"), *counted, bars.TimeElapsedColumn()
    with _display(*columns) as display:
        yield _draw_steps(display)


class _WhenCounted(bars.ProgressColumn):
    """A column that stays empty while there is nothing to count."""

    def __init__(self, column: bars.ProgressColumn) -> None:
        super().__init__()
        self._column = column

    def render(self, task: bars.Task) -> RenderableType:
        return self._column(task) if task.fields.get("counted", task.total) else ""


def _print_steps() -> Report:
    printed: set[str] = set()

    def report(step: Step) -> None:
        if step.text not in printed:
            printed.add(step.text)
            print(f"{step.text} ...", file=sys.stderr, flush=True)

    return report


def _draw_steps(display: Display) -> Report:
    tasks: dict[str, bars.TaskID] = {}

    def report(step: Step) -> None:
        if step.text not in tasks:
            for task in tasks.values():
                display.remove_task(task)
            tasks.clear()
            tasks[step.text] = display.add_task(step.text, total=step.total or None)
        display.update(tasks[step.text], completed=step.done)

    return report


def status_lines(status: ServerStatus) -> list[str]:
    """Return a line each: state, versions, Java, address and process if it runs, disk space, home and log."""
    state = "running" if status.running else "starting" if status.starting else "stopped"
    rows = [("state", state), ("neo4j", f"{status.version} Community, GDS {status.gds_version}")]
    simd = {True: ", SIMD", False: ", no SIMD", None: ""}[status.simd]
    rows.append(("java", f"{status.java.version} {status.java.vendor}".rstrip() + f"{simd}, {status.java.home}"))
    if status.pid and status.since:
        rows += [
            ("uri", status.uri or "not yet"),
            ("pid", str(status.pid)),
            ("since", f"{status.since.astimezone():%Y-%m-%d %H:%M:%S}"),
        ]
    rows += [("data", decimal(status.data_bytes)), ("home", str(status.home)), ("log", str(status.log))]
    return [f"{name:<10} {value}" for name, value in rows]
