"""Progress of a run: seconds by stage, and a listener that may display the stages."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol


class Listener(Protocol):
    """Receives the begin, advance and end of stages, for example to draw a progress bar."""

    def begin(self, stage: str, total: int | None) -> None:
        """Begin a stage of ``total`` steps, None if unknown."""

    def advance(self, stage: str, steps: int) -> None:
        """Advance a stage by ``steps``."""

    def end(self, stage: str) -> None:
        """End a stage."""


class Progress:
    """Measures stages; ``seconds`` holds the wall-clock time of each. A stage entered again adds to its time."""

    def __init__(self, listener: Listener | None = None) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._listener = listener

    @contextmanager
    def stage(self, name: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
        """Time a stage; yield the function that reports its steps."""
        listener = self._listener
        if listener:
            listener.begin(name, total)
        start = time.perf_counter()
        try:
            yield lambda steps: listener.advance(name, steps) if listener else None
        finally:
            self.seconds[name] += time.perf_counter() - start
            if listener:
                listener.end(name)
