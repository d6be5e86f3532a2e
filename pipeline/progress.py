"""How far a run is: seconds by stage, and a listener that may show them."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol


class Listener(Protocol):
    """Is told of stages as they begin, advance and end; a progress bar, or nothing."""

    def begin(self, stage: str, total: int | None) -> None:
        """A stage begins, of ``total`` steps if that is known."""

    def advance(self, stage: str, steps: int) -> None:
        """A stage has done so many more steps."""

    def end(self, stage: str) -> None:
        """A stage is over."""


class Silence:
    """The listener that shows nothing."""

    def begin(self, stage: str, total: int | None) -> None:
        """Show nothing."""

    def advance(self, stage: str, steps: int) -> None:
        """Show nothing."""

    def end(self, stage: str) -> None:
        """Show nothing."""


class Progress:
    """Measures stages; ``seconds`` holds each one's wall-clock time. A stage entered again adds to its time."""

    def __init__(self, listener: Listener | None = None) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._listener = listener or Silence()

    @contextmanager
    def stage(self, name: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
        """Time a stage; yields the function that its steps are reported to."""
        self._listener.begin(name, total)
        start = time.perf_counter()
        try:
            yield lambda steps: self._listener.advance(name, steps)
        finally:
            self.seconds[name] += time.perf_counter() - start
            self._listener.end(name)
