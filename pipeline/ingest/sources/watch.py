"""Watch synced sources for changes, with the system's notifications (watchfiles), debounced."""

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from watchfiles import watch

from pipeline.ingest.sources.walk import Pattern, is_pattern

_DEBOUNCE_MS = 1600
"""Changes within this time count as one, as when an editor or a checkout writes many files: watchfiles' default."""


def changes(paths: Sequence[str], stop: threading.Event | None = None) -> Iterator[None]:
    """Yield after each change to a file, below a folder, or to possible matches of a pattern, until ``stop`` is set.

    The folder of a file is watched, because editors replace files by new ones.
    """
    roots = sorted({_watched(path) for path in paths})
    for _ in watch(*roots, debounce=_DEBOUNCE_MS, stop_event=stop):
        yield None


def _watched(path: str) -> Path:
    place = Path(path).expanduser()
    if not place.exists() and is_pattern(path):
        place = Pattern(str(place)).root
    return (place if place.is_dir() else place.parent).resolve()
