"""Prechunked documents, which bring their own chunks and optionally vectors; both are used unchanged."""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from pipeline.errors import SourceError
from pipeline.ids import digest
from pipeline.ingest.chunking import Chunker
from pipeline.ingest.chunking.chunk import chunk_id
from pipeline.records import Chunk, Document, SuppliedChunk, Vector


def cut(chunker: Chunker, documents: Sequence[Document], corpus_id: str) -> Iterator[tuple[Document, list[Chunk]]]:
    """Yield each document with its chunks: its own if it is prechunked, else the chunker's."""
    chunked = chunker.chunk_all([document for document in documents if not document.prechunked], corpus_id)
    for document in documents:
        yield document, _supplied_chunks(document, corpus_id) if document.prechunked else next(chunked)


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


def _supplied_chunks(document: Document, corpus_id: str) -> list[Chunk]:
    seen: Counter[str] = Counter()
    chunks: list[Chunk] = []
    for supplied in document.prechunked:
        text = document.text[supplied.start : supplied.end]
        line = document.text.count("\n", 0, supplied.start) + 1
        chunks.append(
            Chunk(
                id=chunk_id(corpus_id, document.key, text, seen[text]),
                document_key=document.key,
                ordinal=len(chunks),
                text=text,
                title=document.title,
                heading="",
                start=supplied.start,
                end=supplied.end,
                line_start=line,
                line_end=line + text.count("\n"),
                tokens=0,
            )
        )
        seen[text] += 1
    return chunks
