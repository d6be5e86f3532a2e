"""Stored documents, chunks and edges: a corpus as the graph has it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from neo4j import Record

from pipeline.db.catalogue import Corpus
from pipeline.db.client import Client, batches
from pipeline.records import Chunk, Edge, EdgeKind

_ASKED_AT_ONCE = 1000

Heading = tuple[str, str, str]
"""A document's key with a title and a heading that it has."""


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document in the graph; ``hash`` is that of all its content, ``text_hash`` that of its text alone."""

    title: str
    hash: str
    text_hash: str
    path: str


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk in the graph, its links as written, and the hash of the text that its vector was made from."""

    chunk: Chunk
    links: tuple[str, ...]
    content_hash: str
    since: int
    until: int

    def visible(self, generation: int) -> bool:
        """Whether readers of ``generation`` see it."""
        return self.since <= generation < self.until


def stored_documents(client: Client, corpus: Corpus | None) -> dict[str, StoredDocument]:
    """Return the documents that are visible, by key; none of a corpus that isn't there."""
    if corpus is None:
        return {}
    rows = client.stream("stored_documents", corpus=corpus.id, generation=corpus.generation)
    return {row["key"]: StoredDocument(row["title"], row["hash"], row["text_hash"] or "", row["path"]) for row in rows}


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


def stored_headings(client: Client, corpus: Corpus) -> Iterator[Heading]:
    """Yield the titles and headings that readers see."""
    for row in client.stream("visible_titles", label=corpus.label, generation=corpus.generation):
        yield row["document"], row["title"], row["heading"]


def stored_counts(client: Client, corpus: Corpus, kind: str) -> Callable[[list[int]], Iterator[tuple[int, Any]]]:
    """Return a function that reads shards of counts of one kind; see :class:`pipeline.ingest.entities.counts`."""

    def read(shards: list[int]) -> Iterator[tuple[int, Any]]:
        if corpus.generation:
            place = {"corpus": corpus.id, "kind": kind, "generation": corpus.generation}
            for row in client.stream("stored_counts", **place, shards=shards):
                yield row["shard"], json.loads(row["counts"])

    return read


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
