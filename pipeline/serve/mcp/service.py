"""The service behind the tools: a connection that opens at its first use, folders and limits; and one call of it."""

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pipeline.api import HopRank
from pipeline.errors import HopRankError
from pipeline.serve.access import Grant
from pipeline.settings import ServeSettings


class Service:
    """A connection for all tools, opened by ``connect`` when it is first needed.

    A client may start the server just to list its tools; so neither a slow start of Neo4j nor its absence keeps it
    waiting. A connection that fails is tried again by the next call. ``folders`` are those that ``ingest`` may read.
    """

    def __init__(self, connect: Callable[[], HopRank], settings: ServeSettings, folders: Sequence[Path] = ()) -> None:
        self.settings = settings
        self.folders = (*settings.folders, *folders)
        self._connect = connect
        self._hoprank: HopRank | None = None
        self._lock = threading.Lock()

    @property
    def hoprank(self) -> HopRank:
        """The connection; raises what connecting raises."""
        with self._lock:
            if self._hoprank is None:
                self._hoprank = self._connect()
            return self._hoprank

    def warm_up(self) -> None:
        """Connect and load the model; the first call reports what goes wrong, if it still does."""
        with suppress(HopRankError):
            self.hoprank.embedder.embed_query("warm up")

    def close(self) -> None:
        """Close the connection, if one was opened."""
        if self._hoprank is not None:
            self._hoprank.close()


@dataclass(frozen=True, slots=True)
class Call:
    """One request of a client: the service, and what its token permits."""

    service: Service
    grant: Grant

    @property
    def hoprank(self) -> HopRank:
        """The connection."""
        return self.service.hoprank
