"""Where a command writes: results to stdout, all else to stderr."""

from __future__ import annotations

import json
import sys
from typing import Any

from rich.console import Console

_WIDEST = 100
"""Columns: longer lines are hard to read, and a pipe has no width."""


def stdout() -> Console:
    """Return a console for results: at most 100 columns, plain text when piped."""
    console = Console(highlight=False)
    console.width = min(console.width, _WIDEST) if console.is_terminal else _WIDEST
    return console


def print_json(value: Any) -> None:
    """Print ``value`` as one JSON document."""
    print(json.dumps(value, indent=2, ensure_ascii=False))


def warn(text: str) -> None:
    """Say on stderr what the user should know and no program reads."""
    print(f"hoprank: {text}", file=sys.stderr)
