"""Noticing that what was synced has changed: by the system's own notices (watchfiles), gathered over a moment."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from watchfiles import watch

from pipeline.ingest.sources.pattern import Pattern, is_pattern

_GATHERED_MS = 1600
"""What changes within so long of each other is one change, as when an editor or a checkout writes many files."""


def changes(paths: Sequence[str], stop: threading.Event | None = None) -> Iterator[None]:
    """Yield after each change to files, to what is below folders, or to what patterns may match; until ``stop`` is set.

    A file is watched by its folder, for editors put new files in the place of old ones.
    """
    roots = sorted({_watched(path) for path in paths})
    for _ in watch(*roots, debounce=_GATHERED_MS, stop_event=stop):
        yield None


def _watched(path: str) -> Path:
    place = Path(path).expanduser()
    if not place.exists() and is_pattern(path):
        place = Pattern(str(place)).root
    return (place if place.is_dir() else place.parent).resolve()
