"""Connect by the settings; a slow start of the embedded server reports on stderr."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pipeline
from pipeline.cli.deferred import connect
from pipeline.cli.views.progress import show_startup

if TYPE_CHECKING:
    from pipeline.db.client import Client
    from pipeline.settings import Settings


def connected(settings: Settings) -> pipeline.HopRank:
    """Return a HopRank whose server is up; the embedding model is loaded at its first use."""
    hoprank_type = pipeline.HopRank  # imports numpy and the driver, before the server's start is drawn
    with show_startup() as report:
        return hoprank_type.connect(settings=settings, report=report)


def connected_client(settings: Settings) -> Client:
    """Return only a client, for commands that need no embedding."""
    open_client = connect.connect
    with show_startup() as report:
        return open_client(settings, report)
