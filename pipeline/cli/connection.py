"""Connect by the settings; a slow start of the embedded server reports on stderr."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pipeline
from pipeline.cli.deferred import catalogue, connect
from pipeline.cli.views.output import warn
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


def corpus_or_only(client: Client, given: str | None) -> str:
    """Return the corpus that was given, else ``default``, else the only one there is, which is said on stderr."""
    name = catalogue.corpus_or_only(client, given)
    if given is None and name != catalogue.DEFAULT_NAME:
        warn(f"In the only corpus, {name}.")
    return name


def warn_if_unfinished(client: Client, name: str) -> None:
    """Say on stderr that nothing of a corpus can be found before its first ingest is complete, if it isn't."""
    corpus = catalogue.find_corpus(client, name)
    if corpus and not corpus.generation:
        warn(UNFINISHED.format(name=name))


UNFINISHED = (
    "The first ingest of {name!r} isn't complete: it runs still, or was interrupted. Run it again to go on where it"
    " stopped, or `hoprank corpus drop {name}`."
)
