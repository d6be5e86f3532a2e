"""Reads of a corpus's stored documents, chunks and edges."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from neo4j import Record

from pipeline.db.client import batches
from pipeline.db.corpus import CorpusHandle
from pipeline.edges import EdgeKind
from pipeline.records import Chunk, Edge, WrittenLink

_READ_BATCH = 1000
_NO_EVIDENCE = frozenset(("since", "until", "embedding"))

Heading = tuple[str, str, str]
"""A document's key, its title, and the path of headings of one of its chunks."""


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document in the graph; ``hash`` covers all its content, ``text_hash`` its text only."""

    title: str
    hash: str
    text_hash: str
    path: str


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk in the graph, its links as written, and the hash of its embedded text."""

    chunk: Chunk
    links: tuple[WrittenLink, ...]
    content_hash: str
    since: int
    until: int

    def visible(self, generation: int) -> bool:
        """Return whether the chunk is visible in ``generation``."""
        return self.since <= generation < self.until


def stored_documents(corpus: CorpusHandle | None) -> dict[str, StoredDocument]:
    """Return the visible documents, by key; none if ``corpus`` is None."""
    if corpus is None:
        return {}
    rows = corpus.stream("stored_documents")
    return {row["key"]: StoredDocument(row["title"], row["hash"], row["text_hash"] or "", row["path"]) for row in rows}


def chunks_of_documents(corpus: CorpusHandle, keys: Iterable[str]) -> Iterator[StoredChunk]:
    """Yield all chunks of some documents, including staged and retired ones."""
    for part in batches(keys, _READ_BATCH):
        yield from map(_stored, corpus.stream("chunks_of_documents", keys=part))


def staged_chunks(corpus: CorpusHandle) -> Iterator[StoredChunk]:
    """Yield the chunks that a crashed run left staged."""
    yield from map(_stored, corpus.stream("staged_chunks"))


def visible_chunks(corpus: CorpusHandle) -> Iterator[StoredChunk]:
    """Yield the visible chunks."""
    yield from map(_stored, corpus.stream("visible_chunks"))


def stored_headings(corpus: CorpusHandle) -> Iterator[Heading]:
    """Yield the visible titles and headings."""
    for row in corpus.stream("visible_titles"):
        yield row["document"], row["title"], row["heading"]


def stored_counts(corpus: CorpusHandle, kind: str) -> Callable[[list[int]], Iterator[tuple[int, Any]]]:
    """Return a function that reads shards of counts of one kind; see :mod:`pipeline.ingest.entities.counts`."""

    def read(shards: list[int]) -> Iterator[tuple[int, Any]]:
        if corpus.generation:
            for row in corpus.stream("stored_counts", kind=kind, shards=shards):
                yield row["shard"], json.loads(row["counts"])

    return read


def stored_edges(corpus: CorpusHandle, ids: Iterable[str], kinds: Iterable[EdgeKind]) -> dict[Any, Edge]:
    """Return the visible edges of some kinds from some chunks, by their keys."""
    types = [kind.value for kind in kinds]
    edges = {}
    for part in batches(ids, _READ_BATCH):
        for row in corpus.stream("stored_edges", ids=part, kinds=types):
            evidence = {name: value for name, value in row["properties"].items() if name not in _NO_EVIDENCE}
            edge = Edge(EdgeKind(row["kind"]), row["source"], row["target"], evidence)
            edges[edge.key] = edge
    return edges


def _stored(row: Record) -> StoredChunk:
    chunk = Chunk(
        id=row["id"],
        document_key=row["document"],
        **{name: row[name] for name in ("ordinal", "text", "title", "heading", "start", "end")},
        **{name: row[name] for name in ("line_start", "line_end", "tokens")},
    )
    return StoredChunk(chunk, stored_links(row), row["embedded"], row["since"], row["until"])


def stored_links(row: Mapping[str, Any] | Record) -> tuple[WrittenLink, ...]:
    """Return the links of a stored chunk; relations and contexts are missing where no link has any."""
    targets: list[str] = row["links"]
    nothing = [""] * len(targets)
    columns = (targets, row.get("link_relations") or nothing, row.get("link_contexts") or nothing)
    return tuple(WrittenLink(*link) for link in zip(*columns, strict=True))
