"""Embed: chunks with their vectors; those that the graph has are looked up, the rest is encoded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pipeline.db.client import Client
from pipeline.embedding.embedder import Embedder
from pipeline.ids import digest
from pipeline.ingest.chunking.prechunked import given_vector
from pipeline.records import Chunk, Document, Vector

PREFIX_TOKENS = 16
"""Room that a chunk leaves for its title and heading, which are embedded with it; longer ones cost the tail."""

_PREFIX_CHARACTERS = 100

Done = Callable[[int], None]
"""Hears how many more were done."""


@dataclass(frozen=True, slots=True)
class PreparedChunk:
    """A chunk with its vector and the targets of the hyperlinks in it, as written.

    ``content_hash`` is that of the text that the vector was made from.
    """

    chunk: Chunk
    vector: Vector
    links: tuple[str, ...]
    content_hash: str


@dataclass(frozen=True, slots=True)
class PreparedDocument:
    """A document ready to be written, with its chunks in order."""

    document: Document
    chunks: tuple[PreparedChunk, ...]


def embed(
    client: Client,
    embedder: Embedder,
    embedding: str,
    chunked: Sequence[tuple[Document, Sequence[Chunk]]],
    done: Done,
) -> list[PreparedDocument]:
    """Return documents with their embedded chunks, in order.

    ``embedding`` is the label of the vectors in the graph. ``done`` hears how many chunks got a vector that no other
    chunk has. Raises SourceError if a document brings a vector that can't be one of the corpus's.
    """
    given = {chunk.id: vector for document, chunks in chunked for chunk, vector in _given(embedder, document, chunks)}
    texts = {
        digest(text): text
        for _, chunks in chunked
        for chunk in chunks
        if chunk.id not in given and (text := embedded_text(chunk))
    }
    vectors = {**dict(given.values()), **vectors_of(client, embedder, embedding, texts, done)}
    hashes = {id_: content_hash for id_, (content_hash, _) in given.items()}
    return [_prepared(document, chunks, hashes, vectors) for document, chunks in chunked]


def vectors_of(
    client: Client, embedder: Embedder, embedding: str, texts: Mapping[str, str], done: Done
) -> dict[str, Vector]:
    """Return the vectors of texts, by hash: those that the graph has under the label ``embedding``, else new ones."""
    rows = client.read("stored_embeddings", hashes=list(texts), embedding=embedding)
    vectors = {row["hash"]: np.asarray(row["vector"], dtype=np.float32) for row in rows}
    done(len(vectors))
    missing = [key for key in texts if key not in vectors]
    encoded = embedder.encode([texts[key] for key in missing], done) if missing else ()
    return {**vectors, **dict(zip(missing, encoded, strict=True))}


def embedded_text(chunk: Chunk) -> str:
    """Return what a chunk's vector is made from: title, heading and text, so that it is found by its context too."""
    context = " > ".join(part for part in (chunk.title, chunk.heading) if part)
    return f"{context[:_PREFIX_CHARACTERS]}\n{chunk.text}" if context else chunk.text


def _given(
    embedder: Embedder, document: Document, chunks: Sequence[Chunk]
) -> Iterator[tuple[Chunk, tuple[str, Vector]]]:
    """Yield the chunks that bring a vector, each with the vector and its hash."""
    for chunk, given in zip(chunks, document.prechunked, strict=False):
        if given.embedding:
            yield chunk, given_vector(document, given, embedder.dimension)


def _prepared(
    document: Document, chunks: Sequence[Chunk], given: Mapping[str, str], vectors: Mapping[str, Vector]
) -> PreparedDocument:
    hashes = [given.get(chunk.id) or digest(embedded_text(chunk)) for chunk in chunks]
    return PreparedDocument(
        document,
        tuple(
            PreparedChunk(chunk, vectors[content_hash], _links_of(document, chunk), content_hash)
            for chunk, content_hash in zip(chunks, hashes, strict=True)
        ),
    )


def _links_of(document: Document, chunk: Chunk) -> tuple[str, ...]:
    return tuple(link.target for link in document.links if chunk.start <= link.start < chunk.end)
