"""Where a command writes: results to stdout, all else to stderr."""

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
    # rich fills lines up to the width, which a file needn't keep
    print("\n".join(line.rstrip() for line in captured.get().splitlines()))


@contextmanager
def waiting(text: str) -> Iterator[None]:
    """Turn a wheel on stderr while something runs that has no steps to count; nothing when stderr is no terminal."""
    with Console(stderr=True).status(text):
        yield


def print_json(value: Any) -> None:
    """Print ``value`` as one JSON document."""
    print(json.dumps(value, indent=2, ensure_ascii=False))


def warn(text: str) -> None:
    """Say on stderr what the user should know and no program reads."""
    print(f"hoprank: {text}", file=sys.stderr)
