"""Which chunks come, stay and go when documents are replaced: what was prepared against what is stored."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import NamedTuple

from pipeline.db.catalogue import Corpus
from pipeline.db.client import Client, batches
from pipeline.ingest.links.edges import LinkedChunk
from pipeline.ingest.links.neighbours import Order
from pipeline.ingest.update.load import Moved
from pipeline.ingest.update.spool import Spool
from pipeline.ingest.update.stored import StoredChunk, chunks_of_documents, staged_chunks
from pipeline.records import Chunk

_AT_ONCE = 500


class Piece(NamedTuple):
    """A chunk that was prepared; ``embedded`` is the hash of what its vector was made from."""

    linked: LinkedChunk
    embedded: str


@dataclass(slots=True)
class Settled:
    """The outcome, by chunks' ids.

    ``old`` are the visible chunks of the documents that are replaced or removed. ``goes`` are those of them that go,
    and what a run that died had staged and this one doesn't want; ``vanished`` are the visible ones of these. ``moved``
    stay, with another place, heading or vector. ``unplaced`` lose their cosine links, ``placed`` get new ones.
    """

    old: Spool[StoredChunk]
    kept: set[str] = field(default_factory=set)
    goes: list[str] = field(default_factory=list)
    vanished: set[str] = field(default_factory=set)
    moved: list[Moved] = field(default_factory=list)
    unplaced: set[str] = field(default_factory=set)
    placed: dict[str, Order] = field(default_factory=dict)
    abandoned: list[str] = field(default_factory=list)


def settle(
    client: Client,
    corpus: Corpus,
    new: Spool[Piece],
    replaced: Collection[str],
    given: Collection[str],
    old: Spool[StoredChunk],
) -> Settled:
    """Compare; ``replaced`` are the keys of documents that were visible, ``given`` the ids of those now staged."""
    settled = Settled(old)
    wanted = {piece.linked.chunk.id: _Wanted.of(piece) for piece in new}
    anew: dict[str, bool] = {}
    if corpus.generation:
        for part in batches(chunks_of_documents(client, corpus, sorted(replaced)), _AT_ONCE):
            visible = [one for one in part if one.visible(corpus.generation)]
            _take_visible(settled, visible, wanted, anew)
            old.append(visible)
    if corpus.staging is not None:
        for one in staged_chunks(client, corpus):
            _take_staged(settled, one, wanted, anew)
        rows = client.read("staged_documents", corpus=corpus.id, generation=corpus.generation)
        settled.abandoned = [row["id"] for row in rows if row["id"] not in given]
    for linked, embedded in new:
        chunk = linked.chunk
        if chunk.id in anew:
            settled.moved.append(Moved(linked, embedded, anew[chunk.id]))
        if chunk.id not in settled.kept or chunk.id in settled.unplaced:
            settled.placed[chunk.id] = (chunk.document_key, chunk.ordinal)
    return settled


class _Wanted(NamedTuple):
    content: int
    embedded: str
    ordinal: int

    @classmethod
    def of(cls, piece: Piece) -> _Wanted:
        return cls(
            _content(piece.linked.chunk, piece.linked.links, piece.embedded), piece.embedded, piece.linked.chunk.ordinal
        )


def _take_visible(
    settled: Settled, stored: list[StoredChunk], wanted: dict[str, _Wanted], anew: dict[str, bool]
) -> None:
    for one in stored:
        id_ = one.chunk.id
        if id_ not in wanted:
            settled.goes.append(id_)
            settled.vanished.add(id_)
            settled.unplaced.add(id_)
            continue
        settled.kept.add(id_)
        _compare(one, wanted[id_], anew)
        if wanted[id_].embedded != one.embedded or wanted[id_].ordinal != one.chunk.ordinal:
            settled.unplaced.add(id_)


def _take_staged(settled: Settled, one: StoredChunk, wanted: dict[str, _Wanted], anew: dict[str, bool]) -> None:
    if one.chunk.id in wanted:
        _compare(one, wanted[one.chunk.id], anew)
    else:
        settled.goes.append(one.chunk.id)


def _compare(stored: StoredChunk, wanted: _Wanted, anew: dict[str, bool]) -> None:
    if _content(stored.chunk, stored.links, stored.embedded) != wanted.content:
        anew[stored.chunk.id] = stored.embedded != wanted.embedded


def _content(chunk: Chunk, links: tuple[str, ...], embedded: str) -> int:
    """Return a number that tells what the graph has of a chunk apart from anything else that it might have."""
    return hash((chunk, links, embedded))
