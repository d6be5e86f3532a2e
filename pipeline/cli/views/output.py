"""Write what a command prints: results to stdout, everything else to stderr.

Control characters of documents and names never reach a terminal, which might obey them.
"""

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.segment import Segment
from rich.text import Text

from pipeline.cli.harmless import CONTROL, harmless

Shown: TypeAlias = RenderableType | Sequence[RenderableType]
"""A view: a text, a renderable, or several of them, one below the other."""

_WIDEST = 100  # columns: longer lines are hard to read, and a pipe has no width but that of COLUMNS


def show(*parts: RenderableType) -> None:
    """Print results for people, one below the other: at most 100 columns; when piped, plain text."""
    console = Console(highlight=False)
    parts = tuple(map(_Harmless, parts))
    is_measured = console.is_terminal or os.environ.get("COLUMNS", "").isdecimal()
    console.width = min(console.width, _WIDEST) if is_measured else _WIDEST
    if console.is_terminal:
        console.print(*parts, sep="\n")
        return
    with console.capture() as captured:
        console.print(*parts, sep="\n")
    # rich pads lines to the width, which a file doesn't need.
    print("\n".join(line.rstrip() for line in captured.get().splitlines()))


@contextmanager
def spinner(text: str) -> Iterator[None]:
    """Draw a spinner on stderr while something runs that has no steps to count; nothing without a terminal."""
    with Console(stderr=True).status(Text(text)):
        yield


def say(text: str, end: str = "\n") -> None:
    """Print a result that is plain text; a part of a line, which ``end`` doesn't end, at once."""
    print(harmless(text), end=end, flush=not end)


def print_json(value: Any) -> None:
    """Print ``value`` as one JSON document."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    # JSON escapes those of ASCII only. Escaped, all of them are still in the document.
    print(CONTROL.sub(lambda control: f"\\u{ord(control[0]):04x}", text))


def warn(text: str) -> None:
    """Print a warning on stderr, where programs that read the results don't see it."""
    print(f"hoprank: {harmless(text)}", file=sys.stderr)


class _Harmless:
    """A renderable whose text is harmless; the console's own control codes stay."""

    def __init__(self, part: RenderableType) -> None:
        self._part = part

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for segment in console.render(self._part, options):
            yield segment if segment.control else Segment(harmless(segment.text), segment.style)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement.get(console, options, self._part)
