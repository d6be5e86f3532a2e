"""GDS projections, one for each corpus and generation: created at first use, oldest dropped when over the budget."""

from __future__ import annotations

from neo4j import Record
from neo4j.exceptions import ClientError

from pipeline.db.catalogue import Corpus
from pipeline.db.client import Client
from pipeline.settings import WalkSettings

_PREFIX = "hoprank"


def projection_name(corpus: Corpus, generation: int) -> str:
    """Return the name of a generation's projection."""
    return f"{_PREFIX}-{corpus.id}-{generation}"


def ensure_projection(client: Client, corpus: Corpus, generation: int, chunks: int, settings: WalkSettings) -> None:
    """Project a generation unless it is projected already; drop the corpus's older projections.

    Concurrent calls are safe. Projections that exceed the memory budget are dropped, oldest first.
    """
    name = projection_name(corpus, generation)
    existing = client.read("projections")
    if all(row["name"] != name for row in existing):
        _make_room(client, corpus, existing, settings.projection_megabytes * 2**20)
        _project(client, corpus, generation, chunks, name, settings)


def drop_projections(client: Client, corpus: Corpus) -> None:
    """Drop all projections of a corpus."""
    for row in client.read("projections"):
        if row["name"].startswith(f"{_PREFIX}-{corpus.id}-"):
            client.read("drop_projection", graph=row["name"])


def is_missing(error: ClientError) -> bool:
    """Return whether the server reports a missing projection, as after a restart or another process's drop."""
    return "does not exist" in (error.message or "") and _PREFIX in (error.message or "")


def _project(client: Client, corpus: Corpus, generation: int, chunks: int, name: str, settings: WalkSettings) -> None:
    try:
        client.read(
            "project",
            graph=name,
            corpus=corpus.id,
            label=corpus.label,
            generation=generation,
            chunks=chunks,
            title=settings.title,
            link=settings.link,
            similar=settings.similar,
            next=settings.next,
        )
    except ClientError as error:
        if not is_duplicate(error):
            raise


def is_duplicate(error: ClientError) -> bool:
    """Return whether another process made the projection, before this one ("exists") or meanwhile ("loaded")."""
    return any(phrase in (error.message or "") for phrase in ("already exists", "already loaded"))


def _make_room(client: Client, corpus: Corpus, existing: list[Record], budget: int) -> None:
    own = [row for row in existing if row["name"].startswith(f"{_PREFIX}-")]
    total = sum(row["bytes"] for row in own)
    for row in own:
        outdated = row["name"].startswith(f"{_PREFIX}-{corpus.id}-")
        if outdated or total > budget:
            client.read("drop_projection", graph=row["name"])
            total -= row["bytes"]
