"""Chunks as the graph has them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from neo4j import Record

from pipeline.db.catalogue import Corpus
from pipeline.db.client import Client, batches
from pipeline.records import Chunk, Edge, EdgeKind

_ASKED_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk in the graph, its links as written, and the hash of what its vector was made from."""

    chunk: Chunk
    links: tuple[str, ...]
    embedded: str
    since: int
    until: int

    def visible(self, generation: int) -> bool:
        """Whether readers of ``generation`` see it."""
        return self.since <= generation < self.until


def chunks_of_documents(client: Client, corpus: Corpus, keys: Iterable[str]) -> Iterator[StoredChunk]:
    """Yield all chunks of some documents, also staged and retired ones."""
    for part in batches(keys, _ASKED_AT_ONCE):
        yield from map(_stored, client.stream("chunks_of_documents", corpus=corpus.id, keys=part))


def staged_chunks(client: Client, corpus: Corpus) -> Iterator[StoredChunk]:
    """Yield the chunks that a run which died had staged."""
    yield from map(_stored, client.stream("staged_chunks", label=corpus.label, generation=corpus.generation))


def visible_chunks(client: Client, corpus: Corpus) -> Iterator[StoredChunk]:
    """Yield the chunks that readers see."""
    yield from map(_stored, client.stream("visible_chunks", label=corpus.label, generation=corpus.generation))


def stored_edges(client: Client, corpus: Corpus, ids: Iterable[str], kinds: Iterable[EdgeKind]) -> dict[Any, Edge]:
    """Return the visible edges of some kinds that leave some chunks, by their keys."""
    named = [kind.value for kind in kinds]
    found = {}
    for part in batches(ids, _ASKED_AT_ONCE):
        for row in client.stream("stored_edges", ids=part, kinds=named, generation=corpus.generation):
            evidence = {name: value for name, value in row["properties"].items() if name not in ("since", "until")}
            edge = Edge(EdgeKind(row["kind"]), row["source"], row["target"], evidence)
            found[edge.key] = edge
    return found


def _stored(row: Record) -> StoredChunk:
    chunk = Chunk(
        id=row["id"],
        document_key=row["document"],
        **{name: row[name] for name in ("ordinal", "text", "title", "heading", "start", "end")},
        **{name: row[name] for name in ("line_start", "line_end", "tokens")},
    )
    return StoredChunk(chunk, tuple(row["links"]), row["embedded"], row["since"], row["until"])
