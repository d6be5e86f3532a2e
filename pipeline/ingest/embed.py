"""Documents to chunks with vectors: cut, look up the vectors that the graph has, encode the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pipeline.db.client import Client
from pipeline.embedding.embedder import Embedder
from pipeline.ids import digest, document_id
from pipeline.ingest.chunking import Chunker
from pipeline.ingest.chunking.prechunked import cut, given_vector
from pipeline.ingest.links.edges import LinkedChunk
from pipeline.records import Chunk, Document, Vector

PREFIX_TOKENS = 16
"""Room that a chunk leaves for its title and heading, which are embedded with it; longer ones cost the tail."""

_PREFIX_CHARACTERS = 100


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document ready to be written: its node's id, its content's hash and its chunks in order.

    ``text_hash`` is that of the text alone, by which a renamed document is known. ``embedded`` holds for each chunk the
    hash of the text that its vector was made from.
    """

    document: Document
    id: str
    hash: str
    text_hash: str
    pieces: tuple[LinkedChunk, ...]
    embedded: tuple[str, ...]


class Preparer:
    """Cuts and embeds documents of one corpus; ``embedding`` is the label of the corpus's vectors."""

    def __init__(self, client: Client, embedder: Embedder, chunker: Chunker, corpus_id: str, embedding: str) -> None:
        self._client = client
        self._embedder = embedder
        self._chunker = chunker
        self._corpus_id = corpus_id
        self._embedding = embedding

    def prepare(self, documents: Sequence[Document], done: Callable[[int], None]) -> list[Prepared]:
        """Return the documents in order, ready to be written; ``done`` hears how many chunks got their vectors."""
        chunked = list(zip(documents, cut(self._chunker, documents, self._corpus_id), strict=True))
        given = {one.id: vector for document, chunks in chunked for one, vector in self._given(document, chunks)}
        texts = {
            digest(text): text
            for _, chunks in chunked
            for chunk in chunks
            if chunk.id not in given and (text := embedded_text(chunk))
        }
        made = vectors_of(self._client, self._embedder, self._embedding, texts, done)
        vectors = {**dict(given.values()), **made}
        return [self._prepared(document, chunks, given, vectors) for document, chunks in chunked]

    def _given(self, document: Document, chunks: Sequence[Chunk]) -> Iterator[tuple[Chunk, tuple[str, Vector]]]:
        for chunk, given in zip(chunks, document.given, strict=False):
            if given.embedding:
                yield chunk, given_vector(document, given, self._embedder.dimension)

    def _prepared(
        self,
        document: Document,
        chunks: Sequence[Chunk],
        given: Mapping[str, tuple[str, Vector]],
        vectors: Mapping[str, Vector],
    ) -> Prepared:
        embedded = tuple(given[chunk.id][0] if chunk.id in given else digest(embedded_text(chunk)) for chunk in chunks)
        pieces = tuple(
            LinkedChunk(chunk, vectors[key], _links_of(document, chunk))
            for chunk, key in zip(chunks, embedded, strict=True)
        )
        id_ = document_id(self._corpus_id, document.key)
        return Prepared(document, id_, content_hash(document), digest(document.text), pieces, embedded)


def vectors_of(
    client: Client, embedder: Embedder, embedding: str, texts: Mapping[str, str], done: Callable[[int], None]
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


def content_hash(document: Document) -> str:
    """Return a hash of all of a document that the graph holds, so that any change to it is noticed.

    Its key and its path are no part of it: a folder that was moved and a file that was renamed hold what they held.
    """
    links = repr([(link.target, link.start) for link in document.links])
    # A heading that became a paragraph leaves the text of an HTML page as it was, and not its chunks.
    blocks = repr([(block.kind.value, block.start, block.level) for block in document.blocks])
    metadata = repr(sorted(document.metadata.items()))
    given = repr(document.given) if document.given else ""
    return digest(document.title, document.text, links, blocks, metadata, str(document.line_offset), given)


def _links_of(document: Document, chunk: Chunk) -> tuple[str, ...]:
    return tuple(link.target for link in document.links if chunk.start <= link.start < chunk.end)
