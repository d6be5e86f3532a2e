"""Documents of a corpus as it holds them: list them, and read one, or the originals of many."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from neo4j import Record

from pipeline.db.client import Client, batches
from pipeline.db.corpus import CorpusHandle, open_corpus, read_whole
from pipeline.errors import InputError, UnknownDocument, did_you_mean
from pipeline.ids import document_id
from pipeline.records import METADATA, metadata_of
from pipeline.text.outline import join_chunks

_SUGGESTED = 1_000
"""Keys that a misspelt one is compared with. Chosen by hand, to bound the time."""

_PAGE = 1_000  # documents of a query; chosen by hand, as in pipeline.ingest.update.stored


_TEXTS = 100  # documents with their texts of a query, which are held in memory; chosen by hand


@dataclass(frozen=True, slots=True)
class DocumentEntry:
    """A document in a list: its key, title, the path that it was read from, and its author's metadata."""

    key: str
    title: str
    path: str
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, properties: Mapping[str, Any]) -> DocumentEntry:
        """Make an entry from the properties of a document's node."""
        title, path = properties.get("title") or "", properties.get("path") or ""
        return cls(properties["key"], title, path, metadata_of(properties))


@dataclass(frozen=True, slots=True)
class StoredText:
    """A document with its text: that of its chunks, joined. White space and markup between chunks are not stored.

    ``chunks`` are the ids of the chunks in order, ``chunk_metadata`` the metadata of those that have any, by id.
    """

    entry: DocumentEntry
    text: str
    chunks: tuple[str, ...]
    chunk_metadata: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the document as plain JSON values."""
        values = {"text": self.text, "chunks": list(self.chunks), "chunk_metadata": self.chunk_metadata}
        return {**asdict(self.entry), **values}


def list_documents(
    client: Client, corpus_name: str, *, prefix: str = "", after: str = "", limit: int = 100
) -> list[DocumentEntry]:
    """Return up to ``limit`` documents whose key begins with ``prefix``, in the order of their keys.

    ``after`` is the last key of the page before. Raises UnknownCorpus, and InputError if ``limit`` is under 1.
    """
    if limit < 1:
        raise InputError(f"The limit is {limit}.", "Ask for 1 document or more.")
    rows = open_corpus(client, corpus_name).read("documents_after", prefix=prefix, after=after, limit=limit)
    return [DocumentEntry.of(row["document"]) for row in rows]


def read_document(client: Client, corpus_name: str, key: str) -> StoredText:
    """Return a document with its text; raises UnknownCorpus or UnknownDocument, with the key that is most like it."""
    corpus = open_corpus(client, corpus_name)
    rows = corpus.read("document_chunks", id=document_id(corpus.id, key))
    if not rows:
        known = (entry.key for entry in list_documents(client, corpus_name, limit=_SUGGESTED))
        fix = "A document's key is its path relative to the folder that was ingested, or its .jsonl id."
        raise UnknownDocument(
            f"The corpus {corpus_name!r} has no document {key[:80]!r}.", did_you_mean(key, known, fix)
        )
    return _stored_text(rows[0])


def read_documents(client: Client, corpus_name: str) -> Iterator[StoredText]:
    """Yield all documents with their texts, in the order of their keys, some at a time.

    Raises UnknownCorpus, and Superseded if they are replaced meanwhile.
    """
    corpus = open_corpus(client, corpus_name)
    for part in batches((row["document"]["key"] for row in _all(corpus)), _TEXTS):
        ids = [document_id(corpus.id, key) for key in part]
        yield from map(_stored_text, corpus.read("chunks_of_ids", ids=ids))
        corpus.check_visible()


def _stored_text(row: Record) -> StoredText:
    chunks = [chunk for chunk in row["chunks"] if chunk[0] is not None]
    text = join_chunks((start, end, text) for _, start, end, text, _ in chunks)
    metadata = {id_: metadata_of(dict(given)) for id_, *_, given in chunks if given}
    return StoredText(DocumentEntry.of(row["document"]), text, tuple(id_ for id_, *_ in chunks), metadata)


def read_originals(
    client: Client, corpus_name: str, keys: Iterable[str] | None = None
) -> list[tuple[DocumentEntry, str]]:
    """Return documents, by default all, with what each can be read from again, or ""; in the order of their keys.

    They are of one generation. Keys that the corpus doesn't have are left out. Raises UnknownCorpus.
    """
    wanted = None if keys is None else list(keys)

    def read() -> list[tuple[DocumentEntry, str]]:
        corpus = open_corpus(client, corpus_name)
        found = [row["document"] for row in (_all(corpus) if wanted is None else _with_keys(corpus, wanted))]
        corpus.check_visible()
        found.sort(key=lambda document: document["key"])
        return [(DocumentEntry.of(document), document.get("original") or "") for document in found]

    return read_whole(read)


def _all(corpus: CorpusHandle) -> Iterator[Record]:
    after: str | None = ""
    while after is not None:
        rows = corpus.read("documents_after", prefix="", after=after, limit=_PAGE)
        yield from rows
        after = rows[-1]["document"]["key"] if len(rows) == _PAGE else None


def _with_keys(corpus: CorpusHandle, keys: Iterable[str]) -> Iterator[Record]:
    for part in batches({document_id(corpus.id, key) for key in keys}, _PAGE):
        yield from corpus.read("documents_of_ids", ids=part)


def keys_of_value(client: Client, corpus_name: str, field: str, value: str) -> list[str]:
    """Return the keys of the documents whose metadata has a text in a field, in order; raises UnknownCorpus."""
    rows = open_corpus(client, corpus_name).read("document_keys_of_value", property=f"{METADATA}{field}", value=value)
    return [row["key"] for row in rows]
