"""The stored documents, chunks and edges of a corpus, and the difference between its chunks and the prepared ones."""

import json
import pickle
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar

from neo4j import Record

from pipeline.db.client import batches
from pipeline.db.corpus import CorpusHandle
from pipeline.db.filterable import DECLARED
from pipeline.edges import EdgeKind
from pipeline.ids import document_id
from pipeline.ingest.embed import PreparedChunk
from pipeline.records import Chunk, Edge, Metadata, WrittenLink, metadata_of, spooled

Item = TypeVar("Item")
_READ_BATCH = 1000  # keys or ids of a query; chosen by hand, not measured
_NO_EVIDENCE = frozenset(("since", "until", "embedding", "embedded"))
_COMPARE_BATCH = 500  # chunks with their texts in memory; chosen by hand, not measured

Position = tuple[str, int]
"""A chunk's document key and ordinal. It decides ties, because ids differ from corpus to corpus."""


class Spool(AbstractContextManager["Spool[Item]"], Generic[Item]):
    """Batches of items in a temporary file, readable any number of times in order; deleted when the context ends."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="hoprank-")  # noqa: SIM115 - __exit__ closes it
        self._ends: list[int] = []
        self.count = 0

    def __exit__(self, *raised: object) -> None:
        self._file.close()

    def append(self, batch: Sequence[Item]) -> None:
        """Append a batch."""
        self._file.seek(0, 2)
        pickle.dump(list(batch), self._file, protocol=pickle.HIGHEST_PROTOCOL)
        self._ends.append(self._file.tell())
        self.count += len(batch)

    def batches(self) -> Iterator[list[Item]]:
        """Yield the batches in the order of their addition."""
        for start, _ in zip([0, *self._ends], self._ends, strict=False):
            self._file.seek(start)
            yield pickle.load(self._file)  # noqa: S301 - the file is this process's own, and has no name

    def __iter__(self) -> Iterator[Item]:
        for batch in self.batches():
            yield from batch


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document in the graph; ``hash`` covers all its content, ``text_hash`` its text only."""

    title: str
    hash: str
    text_hash: str
    path: str


@spooled
@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk in the graph, its links as written, the hash of its embedded text, and its values of declared fields."""

    chunk: Chunk
    links: tuple[WrittenLink, ...]
    content_hash: str
    since: int
    until: int
    declared: Metadata = field(default_factory=dict)


def stored_documents(corpus: CorpusHandle | None) -> dict[str, StoredDocument]:
    """Return the visible documents, by key; none if ``corpus`` is None."""
    if corpus is None:
        return {}
    rows = corpus.stream("stored_documents")
    return {row["key"]: StoredDocument(row["title"], row["hash"], row["text_hash"] or "", row["path"]) for row in rows}


def keys_there(corpus: CorpusHandle, keys: Iterable[str]) -> set[str]:
    """Return those of the keys that visible documents have."""
    ids = [document_id(corpus.id, key) for key in dict.fromkeys(keys)]
    parts = batches(ids, _READ_BATCH)
    return {row["document"]["key"] for part in parts for row in corpus.read("documents_of_ids", ids=part)}


def chunks_of_documents(corpus: CorpusHandle, keys: Iterable[str]) -> Iterator[StoredChunk]:
    """Yield all chunks of some documents, including staged and retired ones."""
    for part in batches(keys, _READ_BATCH):
        yield from map(_stored, corpus.stream("chunks_of_documents", keys=part))


def visible_chunks(corpus: CorpusHandle) -> Iterator[StoredChunk]:
    """Yield the visible chunks."""
    yield from map(_stored, corpus.stream("visible_chunks"))


def stored_counts(corpus: CorpusHandle, kind: str, shards: list[int]) -> Iterator[tuple[int, Any]]:
    """Yield shards of counts of one kind, each with its number; see :mod:`pipeline.ingest.entities.lexicon`."""
    for row in corpus.read("stored_counts", kind=kind, shards=shards) if corpus.generation else ():
        yield row["shard"], json.loads(row["counts"])


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
        metadata=metadata_of(dict(row["metadata"])),
    )
    declared = {name.removeprefix(DECLARED): value for name, value in row["declared"]}
    return StoredChunk(chunk, stored_links(row), row["embedded"], row["since"], row["until"], declared)


def stored_links(row: Mapping[str, Any] | Record) -> tuple[WrittenLink, ...]:
    """Return the links of a stored chunk; relations and contexts are missing where no link has any."""
    targets: list[str] = row["links"]
    nothing = [""] * len(targets)
    columns = (targets, row.get("link_relations") or nothing, row.get("link_contexts") or nothing)
    return tuple(WrittenLink(*link) for link in zip(*columns, strict=True))


@spooled
@dataclass(frozen=True, slots=True)
class ChangedChunk:
    """The new version of a stored chunk with another place, heading or metadata; ``reembedded``: or vector."""

    chunk: PreparedChunk
    reembedded: bool


@dataclass(frozen=True, slots=True)
class ChunkDiff:
    """The difference, by chunks' ids.

    - ``replaced``: the visible chunks of replaced and removed documents.
    - ``kept``: visible chunks that the new version has too.
    - ``removed``: chunks to delete, i.e. visible chunks that the new version lacks, and leftovers staged by a crashed
      run. ``removed_visible`` are the visible ones.
    - ``changed``: chunks that stay with another place, heading, metadata or vector.
    - ``vectors_removed``, ``vectors_added``: the vectors around which similarity links are recomputed. A chunk with
      another vector or ordinal is in both. Of a first ingest, whose vectors are all new, they are empty.
    - ``leftover_documents``: ids of documents that a crashed run staged and this run lacks.
    """

    replaced: Spool[StoredChunk]
    vectors_added: dict[str, Position]
    kept: frozenset[str] = frozenset()
    removed: tuple[str, ...] = ()
    removed_visible: frozenset[str] = frozenset()
    changed: tuple[ChangedChunk, ...] = ()
    vectors_removed: frozenset[str] = frozenset()
    leftover_documents: tuple[str, ...] = ()

    def chunks_after(self, before: int, new: int) -> int:
        """Return the corpus's number of chunks after the update, given the number before and of prepared chunks."""
        return before + new - len(self.kept) - len(self.removed_visible)


def compare(
    corpus: CorpusHandle,
    new: Spool[PreparedChunk],
    replaced: Collection[str],
    staged: Collection[str],
    stored: Spool[StoredChunk],
) -> ChunkDiff:
    """Compare the ``new`` chunks with the stored ones.

    ``replaced`` are the keys of visible documents that are replaced or removed. ``staged`` are the keys of the
    documents that this run has staged. ``stored``, which is empty, is filled with the visible chunks of the replaced
    documents.
    """
    crashed = corpus.record.staging is not None
    if not (corpus.generation or crashed):
        return ChunkDiff(stored, {})  # nothing to compare with: the chunks of a first ingest aren't listed one by one
    versions = {chunk.chunk.id: _version(chunk) for chunk in new}
    kept: set[str] = set()
    removed_visible: set[str] = set()
    vectors_removed: set[str] = set()
    # Whether the vector changes, by the ids of the stored chunks that change.
    outdated: dict[str, bool] = {}
    chunks = chunks_of_documents(corpus, sorted(replaced)) if corpus.generation else ()
    visible = (chunk for chunk in chunks if chunk.since <= corpus.generation < chunk.until)
    for part in batches(visible, _COMPARE_BATCH):
        stored.append(part)
        for chunk in part:
            id_, before = chunk.chunk.id, _version(chunk)
            version = versions.get(id_)
            if version is None:
                removed_visible.add(id_)
            else:
                kept.add(id_)
                if version != before:
                    outdated[id_] = version.content_hash != before.content_hash
            if version is None or version[1:] != before[1:]:
                vectors_removed.add(id_)
    leftovers = []
    for chunk in map(_stored, corpus.stream("staged_chunks") if crashed else ()):
        version, before = versions.get(chunk.chunk.id), _version(chunk)
        if version is None:
            leftovers.append(chunk.chunk.id)
        elif version != before:
            outdated[chunk.chunk.id] = version.content_hash != before.content_hash
    staged_ids = {document_id(corpus.id, key) for key in staged} if crashed else set()
    staged_documents = corpus.read("staged_documents") if crashed else ()
    return ChunkDiff(
        replaced=stored,
        kept=frozenset(kept),
        removed=(*removed_visible, *leftovers),
        removed_visible=frozenset(removed_visible),
        changed=tuple(ChangedChunk(chunk, outdated[chunk.chunk.id]) for chunk in new if chunk.chunk.id in outdated),
        vectors_removed=frozenset(vectors_removed),
        vectors_added={
            chunk.chunk.id: (chunk.chunk.document_key, chunk.chunk.ordinal)
            for chunk in new
            if chunk.chunk.id not in kept or chunk.chunk.id in vectors_removed
        },
        leftover_documents=tuple(row["id"] for row in staged_documents if row["id"] not in staged_ids),
    )


class _Version(NamedTuple):
    """A hash of everything that the graph holds of a chunk, the hash of its embedded text, and its ordinal."""

    fingerprint: int
    content_hash: str
    ordinal: int


def _version(chunk: PreparedChunk | StoredChunk) -> _Version:
    # 1, 1.0 and true are different values
    metadata, declared = (repr(sorted(values.items())) for values in (chunk.chunk.metadata, chunk.declared))
    fingerprint = hash((chunk.chunk, metadata, declared, chunk.links, chunk.content_hash))
    return _Version(fingerprint, chunk.content_hash, chunk.chunk.ordinal)
