"""From settings to an open connection, with a word on stderr about what takes time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pipeline.db.embedded.progress import on_stderr
from pipeline.settings import Settings

if TYPE_CHECKING:
    from pipeline.api import HopRank
    from pipeline.db.client import Client


@contextmanager
def connected(settings: Settings) -> Iterator[HopRank]:
    """Yield a HopRank; the server is up then, the embedding model is loaded when it is first needed."""
    from pipeline.api import HopRank

    with on_stderr() as report:
        hoprank = HopRank.connect(settings=settings, report=report)
    with hoprank:
        yield hoprank


@contextmanager
def client_of(settings: Settings) -> Iterator[Client]:
    """Yield a client alone, for what needs no embedding."""
    from pipeline.db.connect import connect

    with on_stderr() as report:
        client = connect(settings, report)
    with client:
        yield client
