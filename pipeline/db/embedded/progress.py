"""Steps of a slow start of the server, reported to a callback."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Step:
    """A step of the start; ``done`` of ``total`` bytes, both 0 where there is nothing to count."""

    text: str
    done: int = 0
    total: int = 0


Report: TypeAlias = Callable[[Step], None]
"""Called with each step, and again as bytes arrive; may be called from several threads, one at a time."""


def silent(step: Step) -> None:
    """Report nothing."""
