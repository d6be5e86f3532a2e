"""The difference between the prepared chunks and the stored chunks of replaced documents."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from pipeline.db.client import batches
from pipeline.db.corpus import CorpusHandle
from pipeline.ingest.embed import PreparedChunk
from pipeline.ingest.update.spool import Spool
from pipeline.ingest.update.stored import StoredChunk, chunks_of_documents, staged_chunks
from pipeline.records import Chunk, WrittenLink

_BATCH = 500

Position = tuple[str, int]
"""A chunk's document key and ordinal. It decides ties, because ids differ from corpus to corpus."""


@dataclass(frozen=True, slots=True)
class ChangedChunk:
    """The new version of a stored chunk with another place or heading; ``reembedded``: with another vector too."""

    chunk: PreparedChunk
    reembedded: bool


@dataclass(frozen=True, slots=True)
class ChunkDiff:
    """The difference, by chunks' ids.

    - ``replaced``: the visible chunks of replaced and removed documents.
    - ``kept``: visible chunks that the new version has too.
    - ``removed``: chunks to delete, i.e. visible chunks that the new version lacks, and leftovers staged by a crashed
      run. ``removed_visible`` are the visible ones.
    - ``changed``: chunks that stay with another place, heading or vector.
    - ``vectors_removed``, ``vectors_added``: the vectors around which similarity links are recomputed. A chunk with
      another vector or ordinal is in both.
    - ``leftover_documents``: ids of documents that a crashed run staged and this run lacks.
    """

    replaced: Spool[StoredChunk]
    kept: frozenset[str]
    removed: tuple[str, ...]
    removed_visible: frozenset[str]
    changed: tuple[ChangedChunk, ...]
    vectors_removed: frozenset[str]
    vectors_added: dict[str, Position]
    leftover_documents: tuple[str, ...]

    def chunks_after(self, before: int, new: int) -> int:
        """Return the corpus's number of chunks after the update, given the number before and of prepared chunks."""
        return before + new - len(self.kept) - len(self.removed_visible)


def new_chunks(added: dict[str, Position], nothing: Spool[StoredChunk]) -> ChunkDiff:
    """Return the difference of an empty corpus."""
    return ChunkDiff(nothing, frozenset(), (), frozenset(), (), frozenset(), added, ())


def compare(
    corpus: CorpusHandle,
    new: Spool[PreparedChunk],
    replaced: Collection[str],
    staged: Collection[str],
    stored: Spool[StoredChunk],
) -> ChunkDiff:
    """Compare the ``new`` chunks with the stored ones.

    ``replaced`` are the keys of visible documents that are replaced or removed. ``staged`` are the ids of the documents
    that this run has staged. ``stored``, which is empty, is filled with the visible chunks of the replaced documents.
    """
    versions = {chunk.chunk.id: _Version.of(chunk) for chunk in new}
    kept: set[str] = set()
    removed_visible: set[str] = set()
    vectors_removed: set[str] = set()
    # Whether the vector changes, by the ids of the stored chunks that change.
    outdated: dict[str, bool] = {}
    for part in batches(_visible_chunks(corpus, replaced), _BATCH):
        stored.append(part)
        for chunk in part:
            id_ = chunk.chunk.id
            version = versions.get(id_)
            if version is None:
                removed_visible.add(id_)
            else:
                kept.add(id_)
                outdated.update(version.outdates(chunk))
            if version is None or version.moves_vector(chunk):
                vectors_removed.add(id_)
    leftovers = []
    for chunk in _staged_chunks(corpus):
        version = versions.get(chunk.chunk.id)
        if version is None:
            leftovers.append(chunk.chunk.id)
        else:
            outdated.update(version.outdates(chunk))
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
        leftover_documents=tuple(_leftover_documents(corpus, staged)),
    )


class _Version(NamedTuple):
    """The identity of a new version of a chunk, compared with the stored version."""

    fingerprint: int
    content_hash: str
    ordinal: int

    @classmethod
    def of(cls, new: PreparedChunk) -> _Version:
        return cls(_fingerprint(new.chunk, new.links, new.content_hash), new.content_hash, new.chunk.ordinal)

    def outdates(self, stored: StoredChunk) -> dict[str, bool]:
        """Return the chunk's id, mapped to whether its vector changes; empty if nothing changes."""
        if self.fingerprint == _fingerprint(stored.chunk, stored.links, stored.content_hash):
            return {}
        return {stored.chunk.id: self.content_hash != stored.content_hash}

    def moves_vector(self, stored: StoredChunk) -> bool:
        return self.content_hash != stored.content_hash or self.ordinal != stored.chunk.ordinal


def _fingerprint(chunk: Chunk, links: tuple[WrittenLink, ...], content_hash: str) -> int:
    """Return a hash of everything that the graph holds of a chunk."""
    return hash((chunk, links, content_hash))


def _visible_chunks(corpus: CorpusHandle, keys: Collection[str]) -> Iterable[StoredChunk]:
    if not corpus.generation:
        return ()
    stored = chunks_of_documents(corpus, sorted(keys))
    return (chunk for chunk in stored if chunk.visible(corpus.generation))


def _staged_chunks(corpus: CorpusHandle) -> Iterable[StoredChunk]:
    return () if corpus.record.staging is None else staged_chunks(corpus)


def _leftover_documents(corpus: CorpusHandle, staged: Collection[str]) -> Iterable[str]:
    if corpus.record.staging is None:
        return ()
    return (row["id"] for row in corpus.read("staged_documents") if row["id"] not in staged)
