"""Embed chunks: vectors that the graph has are looked up, the others are encoded."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat

import numpy as np

from pipeline.db.client import Client, batches
from pipeline.db.filterable import declared_values
from pipeline.db.indexes import vector_index_name
from pipeline.embedding.embedder import Embedder
from pipeline.errors import SourceError
from pipeline.ids import digest
from pipeline.records import Chunk, Document, Metadata, SuppliedChunk, Vector, WrittenLink, spooled
from pipeline.text.outline import in_context

PREFIX_TOKENS = 16
"""Tokens that a chunk leaves for its title and heading, which are embedded with it; longer ones truncate its end."""

_SENTENCES = 1000  # of a query; chosen by hand, not measured

Done = Callable[[int], None]
"""Callback with the number of items just done."""


@spooled
@dataclass(frozen=True, slots=True)
class PreparedChunk:
    """A chunk with its vector and its hyperlinks, as written.

    ``content_hash`` is the hash of the embedded text, or of a supplied vector. An ``imported`` vector came with a file,
    and isn't reused for equal texts. ``declared`` are its values of the fields that its corpus filters by.
    """

    chunk: Chunk
    vector: Vector
    links: tuple[WrittenLink, ...]
    content_hash: str
    imported: bool = False
    declared: Metadata = field(default_factory=dict)


@spooled
@dataclass(frozen=True, slots=True)
class PreparedDocument:
    """A document with its embedded chunks in order, ready to be written."""

    document: Document
    chunks: tuple[PreparedChunk, ...]


def embed(
    client: Client,
    embedder: Embedder,
    fingerprint: str,
    chunked: Sequence[tuple[Document, Sequence[Chunk]]],
    done: Done,
    sentences: dict[str, Vector] | None = None,
) -> list[PreparedDocument]:
    """Return documents with their embedded chunks, in order; the vectors are of the corpus's ``fingerprint``.

    If ``sentences`` is given, the sentences around links are embedded in the same batch, and it receives their vectors,
    by hash.
    ``done`` is called with the number of distinct texts embedded. Raises SourceError if a document brings an invalid
    vector.
    """
    contents = [list(_contents(document, chunks, embedder.dimension)) for document, chunks in chunked]
    texts = {hash_: text for content in contents for _, hash_, text in content if isinstance(text, str)}
    around: dict[str, str] = {}
    if sentences is not None:
        links = (link for document, _ in chunked for link in document.links if link.context)
        around = {digest(link.context): link.context for link in links}
        sentences |= stored_sentences(client, fingerprint, around)
        around = {key: text for key, text in around.items() if key not in sentences}
    found = vectors_of(client, embedder, fingerprint, {**texts, **around}, _up_to(len(texts), done))
    if sentences is not None:
        sentences |= {key: found[key] for key in around}
    return [_prepared(document, content, found) for (document, _), content in zip(chunked, contents, strict=True)]


def assembled(
    chunked: Iterable[tuple[Document, Sequence[Chunk]]], vectors: Mapping[str, Vector], dimension: int
) -> list[PreparedDocument]:
    """Return documents with their chunks, in order; ``vectors`` are those of all their texts, by hash.

    Raises SourceError as :func:`embed` does.
    """
    return [_prepared(document, _contents(document, chunks, dimension), vectors) for document, chunks in chunked]


def _contents(document: Document, chunks: Sequence[Chunk], dimension: int) -> Iterator[tuple[Chunk, str, str | Vector]]:
    """Yield each chunk with its hash, and the text to embed, or the vector that the document brings."""
    for chunk, supplied in zip(chunks, document.prechunked or repeat(None), strict=False):
        if supplied and supplied.embedding:
            yield chunk, *supplied_vector(document, supplied, dimension)
        else:
            text = embedded_text(chunk)
            yield chunk, digest(text), text


def _prepared(
    document: Document, contents: Iterable[tuple[Chunk, str, str | Vector]], vectors: Mapping[str, Vector]
) -> PreparedDocument:
    parts = (
        PreparedChunk(chunk, vectors[hash_] if isinstance(given, str) else given, _links_of(document, chunk), hash_)
        for chunk, hash_, given in contents
    )
    return PreparedDocument(document, tuple(parts))


def with_declared(documents: Sequence[PreparedDocument], fields: Sequence[str]) -> Sequence[PreparedDocument]:
    """Return documents whose chunks have their values of the fields that the corpus declares to filter by."""
    if not fields:
        return documents
    declared = []
    for prepared in documents:
        of_document = prepared.document.metadata
        values = (declared_values(fields, of_document, chunk.chunk.metadata) for chunk in prepared.chunks)
        pairs = zip(prepared.chunks, values, strict=True)
        declared.append(replace(prepared, chunks=tuple(replace(chunk, declared=own) for chunk, own in pairs)))
    return declared


def _up_to(total: int, done: Done) -> Done:
    """Return a callback that tells ``done`` of ``total`` items in all: what is embedded beside them isn't counted."""
    left = [total]

    def told(count: int) -> None:
        counted = min(count, left[0])
        left[0] -= counted
        done(counted)

    return told


def vectors_of(
    client: Client, embedder: Embedder, fingerprint: str, texts: Mapping[str, str], done: Done
) -> dict[str, Vector]:
    """Return the vectors of texts, by hash: those of this fingerprint that the graph holds, and new ones."""
    vectors = stored_vectors(client, fingerprint, texts)
    done(len(vectors))
    missing = [key for key in texts if key not in vectors]
    precision = embedder.precision_beside(fingerprint)
    encoded = embedder.encode([texts[key] for key in missing], done, precision=precision) if missing else ()
    return {**vectors, **dict(zip(missing, encoded, strict=True))}


def stored_vectors(client: Client, fingerprint: str, hashes: Iterable[str]) -> dict[str, Vector]:
    """Return the vectors of texts, by hash, that the graph holds in any corpus of a fingerprint."""
    rows = client.read("stored_embeddings", hashes=list(hashes), model=vector_index_name(fingerprint))
    return {row["hash"]: np.asarray(row["vector"], dtype=np.float32) for row in rows}


def stored_sentences(client: Client, fingerprint: str, hashes: Iterable[str]) -> dict[str, Vector]:
    """Return the vectors, by hash, that links in the graph have for sentences."""
    return {
        row["hash"]: np.asarray(row["vector"], dtype=np.float32)
        for part in batches(hashes, _SENTENCES)
        for row in client.read("vectors_of_contexts", model=vector_index_name(fingerprint), hashes=part)
    }


def centroid_of(vectors: Sequence[Vector]) -> Vector | None:
    """Return the mean of a document's vectors, scaled to length 1; None for fewer than two, or if they cancel out."""
    if len(vectors) < 2:
        return None
    mean = np.mean(vectors, axis=0, dtype=np.float64)
    length = np.linalg.norm(mean)
    return np.asarray(mean / length, dtype=np.float32) if length else None


def embedded_text(chunk: Chunk) -> str:
    """Return the text that a chunk's vector is made from: title, heading and text, so that its context counts too."""
    return in_context(chunk.title, chunk.heading, chunk.text)


def supplied_vector(document: Document, supplied: SuppliedChunk, dimension: int) -> tuple[str, Vector]:
    """Return the hash of a supplied vector, and the vector scaled to unit length.

    Raises SourceError, naming the document, if the vector has another dimension, is zero or isn't finite.
    """
    vector: Vector = np.asarray(supplied.embedding, dtype=np.float32)
    length = float(np.linalg.norm(vector))
    if len(vector) != dimension or not np.isfinite(length) or length == 0:
        problem = f"of {len(vector)} numbers" if len(vector) != dimension else "without a direction"
        raise SourceError(
            f"{document.path}: the document {document.key!r} brings an embedding {problem}.",
            f"Embeddings of this corpus have {dimension} finite numbers, made by its model; leave them out to have"
            " them made.",
        )
    vector = vector / np.float32(length)
    return supplied_hash(vector), vector


def supplied_hash(vector: Vector) -> str:
    """Return the hash of a supplied unit vector, which no text's hash equals."""
    return digest("given", vector.tobytes().hex())


def _links_of(document: Document, chunk: Chunk) -> tuple[WrittenLink, ...]:
    """Return the links in a chunk; links in front matter belong to the first chunk."""
    start = 0 if chunk.ordinal == 0 else max(chunk.start, document.body_start)
    end = max(chunk.end, document.body_start) if chunk.ordinal == 0 else chunk.end
    return tuple(
        WrittenLink(link.target, link.relation, link.context) for link in document.links if start <= link.start < end
    )
