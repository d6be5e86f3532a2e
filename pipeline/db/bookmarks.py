"""Bookmarks of a cluster: what a reader must have seen of what was written, so that one reads what one wrote.

Reads of a ``neo4j://`` server go to members that may lag behind the one that writes. A member answers a query that
comes with a bookmark once it has the transaction that the bookmark names (Neo4j's operations manual, "Causal
consistency"). All sessions of a client share theirs. A process leaves its own in a file for the next one, so that
``hoprank search`` sees what ``hoprank ingest`` has just written. A single server needs none.
"""

import json
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import neo4j
from filelock import FileLock
from neo4j.api import BookmarkManager

from pipeline.db.embedded import Address
from pipeline.ids import digest
from pipeline.temporary import replacing

_MOST_KEPT = 100  # in a file; chosen by hand: each process replaces those that it began with


def is_routed(uri: str) -> bool:
    """Return whether a driver's URI leads to the members of a cluster by turns, and not to one server."""
    return urlsplit(uri).scheme.startswith("neo4j")


def bookmark_file(home: Path, address: Address) -> Path | None:
    """Return the file in which processes of ``home`` leave bookmarks of this database; None if it needs none."""
    return home / "bookmarks" / digest(address.uri, address.database)[:16] if is_routed(address.uri) else None


class Bookmarks:
    """Bookmarks that the sessions of a client share. Thread-safe.

    It begins with those in ``file``, if there is one; a file that can't be read counts as empty. ``manager`` is what
    the driver's sessions take.
    """

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._initial = _read(file) if file else frozenset()
        self.manager = _manager(self._initial)

    def forget(self) -> None:
        """Drop all, also those in the file: the server doesn't know them, as after its data were restored."""
        self.manager = _manager(frozenset())
        if self._file:
            with suppress(OSError):
                self._file.unlink(missing_ok=True)

    def keep(self) -> None:
        """Leave them in the file, in place of those that this process began with; others' stay.

        A home that can't be written to keeps none: the next process may then see an older state for a moment.
        """
        held = frozenset(self.manager.get_bookmarks())
        if self._file is None or held == self._initial:
            return
        with suppress(OSError):
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with FileLock(self._file.with_suffix(".lock")), replacing(self._file) as partial:
                kept = [*held, *(_read(self._file) - self._initial - held)]
                partial.write_text(json.dumps(kept[:_MOST_KEPT]), encoding="utf-8")


def _manager(initial: frozenset[str]) -> BookmarkManager:
    return neo4j.GraphDatabase.bookmark_manager(neo4j.Bookmarks.from_raw_values(initial))


def _read(file: Path) -> frozenset[str]:
    try:
        kept = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return frozenset()
    return frozenset(one for one in kept if isinstance(one, str)) if isinstance(kept, list) else frozenset()
