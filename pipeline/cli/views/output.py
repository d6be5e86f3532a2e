"""Write what a command prints: results to stdout, everything else to stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console, RenderableType

_WIDEST = 100
"""Columns: longer lines are hard to read, and a pipe has no width."""


def show(*parts: RenderableType) -> None:
    """Print results for people, one below the other: at most 100 columns; when piped, plain text."""
    console = Console(highlight=False)
    if console.is_terminal:
        console.width = min(console.width, _WIDEST)
        console.print(*parts, sep="\n")
        return
    console.width = _WIDEST
    with console.capture() as captured:
        console.print(*parts, sep="\n")
    # rich pads lines to the width, which a file doesn't need.
    print("\n".join(line.rstrip() for line in captured.get().splitlines()))


@contextmanager
def spinner(text: str) -> Iterator[None]:
    """Draw a spinner on stderr while something runs that has no steps to count; nothing without a terminal."""
    with Console(stderr=True).status(text):
        yield


def print_json(value: Any) -> None:
    """Print ``value`` as one JSON document."""
    print(json.dumps(value, indent=2, ensure_ascii=False))


def warn(text: str) -> None:
    """Print a warning on stderr, where programs that read the results don't see it."""
    print(f"hoprank: {text}", file=sys.stderr)
