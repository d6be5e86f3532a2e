"""Steps of a slow start of the server, reported to a callback."""

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
"""Callback for each step, and again as bytes arrive; calls may come from several threads, but never concurrently."""


def silent(step: Step) -> None:
    """Report nothing."""
