"""Progress of a run: seconds by stage, and a listener that may display the stages."""

import copy
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol, Self

from pipeline.telemetry import span


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
        self._part = ""

    def of(self, part: str) -> Self:
        """Return the progress of a part, such as one of several corpora, with whose name its stages are shown.

        Its seconds count here, too.
        """
        named = copy.copy(self)
        named._part = f": {part}"
        return named

    @contextmanager
    def stage(self, name: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
        """Time a stage; yield the function that reports its steps."""
        listener, shown = self._listener, f"{name}{self._part}"
        if listener:
            listener.begin(shown, total)
        start = time.perf_counter()
        try:
            with span(name):
                yield lambda steps: listener.advance(shown, steps) if listener else None
        finally:
            self.seconds[name] += time.perf_counter() - start
            if listener:
                listener.end(shown)
