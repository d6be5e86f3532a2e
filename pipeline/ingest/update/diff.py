"""The difference between the chunks that were prepared and those that are stored, when documents are replaced."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from pipeline.db.catalogue import Corpus
from pipeline.db.client import Client, batches
from pipeline.ingest.embed import PreparedChunk
from pipeline.ingest.update.spool import Spool
from pipeline.ingest.update.stored import StoredChunk, chunks_of_documents, staged_chunks
from pipeline.records import Chunk

_AT_ONCE = 500

Position = tuple[str, int]
"""A chunk's document key and ordinal; ties go by it, for ids differ from corpus to corpus."""


@dataclass(frozen=True, slots=True)
class ChangedChunk:
    """A stored chunk as it is to be: its place or heading changed, and its vector too if it was ``embedded_anew``."""

    chunk: PreparedChunk
    embedded_anew: bool


@dataclass(frozen=True, slots=True)
class ChunkDiff:
    """A difference, by chunks' ids.

    ``replaced`` are the visible chunks of the documents that are replaced or removed; ``kept`` are those of them that
    the new version has too. ``removed`` are the chunks to delete: visible ones that the new version lacks, which are
    ``removed_visible`` too, and leftovers staged by a crashed run. ``changed`` stay with another place, heading or
    vector. Similarity links are recomputed around the vectors that are removed and added; a chunk with another vector
    or ordinal is both. ``leftover_documents`` are the ids of documents that a crashed run staged and this one lacks.
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
        """Return how many chunks a corpus of so many has after an update with so many ``new`` ones."""
        return before + new - len(self.kept) - len(self.removed_visible)


def new_chunks(added: dict[str, Position], nothing: Spool[StoredChunk]) -> ChunkDiff:
    """Return the difference of a corpus that holds nothing yet."""
    return ChunkDiff(nothing, frozenset(), (), frozenset(), (), frozenset(), added, ())


def compare(
    client: Client,
    corpus: Corpus,
    new: Spool[PreparedChunk],
    replaced: Collection[str],
    staged: Collection[str],
    stored: Spool[StoredChunk],
) -> ChunkDiff:
    """Compare the ``new`` chunks with the stored ones.

    ``replaced`` are the keys of visible documents that are replaced or removed, ``staged`` the ids of the documents
    that this run has staged. The visible chunks of the replaced documents are put into ``stored``, which is empty.
    """
    versions = {chunk.chunk.id: _Version.of(chunk) for chunk in new}
    kept: set[str] = set()
    removed_visible: set[str] = set()
    vectors_removed: set[str] = set()
    # Whether the vector is another one, by the ids of the stored chunks that aren't as they are to be.
    outdated: dict[str, bool] = {}
    for part in batches(_visible_chunks(client, corpus, replaced), _AT_ONCE):
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
    for chunk in _staged_chunks(client, corpus):
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
        changed=tuple(ChangedChunk(one, outdated[one.chunk.id]) for one in new if one.chunk.id in outdated),
        vectors_removed=frozenset(vectors_removed),
        vectors_added={
            chunk.chunk.id: (chunk.chunk.document_key, chunk.chunk.ordinal)
            for chunk in new
            if chunk.chunk.id not in kept or chunk.chunk.id in vectors_removed
        },
        leftover_documents=tuple(_leftover_documents(client, corpus, staged)),
    )


class _Version(NamedTuple):
    """A new version of a chunk: enough of it to tell whether the stored one differs."""

    fingerprint: int
    content_hash: str
    ordinal: int

    @classmethod
    def of(cls, new: PreparedChunk) -> _Version:
        return cls(_fingerprint(new.chunk, new.links, new.content_hash), new.content_hash, new.chunk.ordinal)

    def outdates(self, stored: StoredChunk) -> dict[str, bool]:
        """Return the chunk's id if anything of it changes, with whether its vector does."""
        if self.fingerprint == _fingerprint(stored.chunk, stored.links, stored.content_hash):
            return {}
        return {stored.chunk.id: self.content_hash != stored.content_hash}

    def moves_vector(self, stored: StoredChunk) -> bool:
        return self.content_hash != stored.content_hash or self.ordinal != stored.chunk.ordinal


def _fingerprint(chunk: Chunk, links: tuple[str, ...], content_hash: str) -> int:
    """Return a number that tells what the graph has of a chunk apart from anything else that it might have."""
    return hash((chunk, links, content_hash))


def _visible_chunks(client: Client, corpus: Corpus, keys: Collection[str]) -> Iterable[StoredChunk]:
    if not corpus.generation:
        return ()
    stored = chunks_of_documents(client, corpus, sorted(keys))
    return (chunk for chunk in stored if chunk.visible(corpus.generation))


def _staged_chunks(client: Client, corpus: Corpus) -> Iterable[StoredChunk]:
    return () if corpus.staging is None else staged_chunks(client, corpus)


def _leftover_documents(client: Client, corpus: Corpus, staged: Collection[str]) -> Iterable[str]:
    if corpus.staging is None:
        return ()
    rows = client.read("staged_documents", corpus=corpus.id, generation=corpus.generation)
    return (row["id"] for row in rows if row["id"] not in staged)
