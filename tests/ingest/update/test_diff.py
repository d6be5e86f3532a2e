"""The difference of chunks: what is kept, removed and changed, and whose vectors move."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from pipeline.db.catalogue import drop_corpus, get_corpus
from pipeline.db.client import Client
from pipeline.db.corpus import open_corpus
from pipeline.ingest.embed import PreparedChunk, PreparedDocument
from pipeline.ingest.update.stored import ChunkDiff, Spool, StoredChunk, compare
from pipeline.ingest.update.write_session import writing
from pipeline.records import Chunk, Document
from tests.plain_corpora import plain_corpus


def chunk(id_: str, ordinal: int = 0, *, document: str = "d", heading: str = "", content: str = "x") -> PreparedChunk:
    body = Chunk(id_, document, ordinal, id_, "Title", heading, 0, 1, 1, 1, 1)
    return PreparedChunk(body, np.array([1, 0], dtype=np.float32), (), content)


class Stored:
    """A corpus with chunks in it, some of them left by a run that died."""

    def __init__(self, client: Client, name: str) -> None:
        self._client = client
        self._name = name
        plain_corpus(client, name, dimension=2)
        self.prefix = get_corpus(client, name).id

    def named(self, prepared: PreparedChunk) -> PreparedChunk:
        """Give a chunk an id that no other corpus has."""
        return replace(prepared, chunk=replace(prepared.chunk, id=f"{self.prefix}-{prepared.chunk.id}"))

    def write(self, *chunks: PreparedChunk, publish: bool = True) -> None:
        with writing(open_corpus(self._client, self._name)) as session:
            session.begin()
            keys = {one.chunk.document_key for one in chunks}
            session.stage_documents([PreparedDocument(Document(key, "Title", ""), ()) for key in keys])
            session.stage_chunks(map(self.named, chunks))
            if publish:
                counts = {"documents": 1, "chunks": len(chunks), "entities": 0}
                session.collect_garbage(session.publish(counts=counts))

    def compare(self, *chunks: PreparedChunk, replaced: tuple[str, ...] = ("d",)) -> ChunkDiff:
        corpus = open_corpus(self._client, self._name)
        staged = {one.chunk.document_key for one in chunks}
        with Spool[PreparedChunk]() as new, Spool[StoredChunk]() as stored:
            new.append([self.named(one) for one in chunks])
            diff = compare(corpus, new, replaced, staged, stored)
            self.replaced = {self.bare(one.chunk.id) for one in diff.replaced}
            return diff

    def bare(self, id_: str) -> str:
        return id_.removeprefix(f"{self.prefix}-")

    def all_bare(self, ids: object) -> set[str]:
        return {self.bare(id_) for id_ in ids}  # type: ignore[attr-defined]


@pytest.fixture
def stored(client: Client, corpus_name: str) -> Iterator[Stored]:
    yield Stored(client, corpus_name)
    drop_corpus(client, get_corpus(client, corpus_name))


def test_into_an_empty_corpus_all_is_added_without_a_list(stored: Stored) -> None:
    diff = stored.compare(chunk("a"), chunk("b", 1))

    assert not (diff.vectors_added)
    assert not (diff.kept)
    assert not (diff.removed)
    assert not (diff.changed)
    assert not (diff.vectors_removed)
    assert diff.chunks_after(0, 2) == 2


def test_the_same_again_changes_nothing(stored: Stored) -> None:
    stored.write(chunk("a"), chunk("b", 1))

    diff = stored.compare(chunk("a"), chunk("b", 1))

    assert stored.all_bare(diff.kept) == stored.replaced == {"a", "b"}
    assert not (diff.removed)
    assert not (diff.changed)
    assert not (diff.vectors_added)
    assert not (diff.vectors_removed)
    assert diff.chunks_after(2, 2) == 2


def test_a_chunk_that_the_new_version_lacks_is_removed_with_its_vector(stored: Stored) -> None:
    stored.write(chunk("a"), chunk("b", 1))

    diff = stored.compare(chunk("a"))

    assert stored.all_bare(diff.removed) == stored.all_bare(diff.removed_visible) == {"b"}
    assert stored.all_bare(diff.vectors_removed) == {"b"}
    assert diff.chunks_after(2, 1) == 1


@pytest.mark.parametrize(
    ("later", "reembedded", "moves"),
    [
        (chunk("a", heading="New"), False, False),
        (chunk("a", 3), False, True),
        (chunk("a", content="y"), True, True),
    ],
    ids=["heading", "ordinal", "vector"],
)
def test_a_chunk_that_stays_with_another_place_or_vector_is_changed(
    stored: Stored, later: PreparedChunk, reembedded: bool, moves: bool
) -> None:
    stored.write(chunk("a"))

    diff = stored.compare(later)

    assert stored.all_bare(diff.kept) == {"a"}
    assert [(stored.bare(one.chunk.chunk.id), one.reembedded) for one in diff.changed] == [("a", reembedded)]
    assert bool(diff.vectors_removed) == bool(diff.vectors_added) == moves


def test_documents_that_are_not_replaced_are_left_alone(stored: Stored) -> None:
    stored.write(chunk("a"), chunk("b", document="other"))

    assert not stored.compare(chunk("a")).removed


def test_what_a_dead_run_staged_is_taken_up_or_removed(stored: Stored) -> None:
    stored.write(chunk("a"))
    stored.write(chunk("b", document="wanted", content="old"), chunk("c", document="unwanted"), publish=False)

    diff = stored.compare(chunk("b", document="wanted", content="new"), replaced=())

    assert stored.all_bare(diff.removed) == {"c"}
    assert not diff.removed_visible
    assert [one.reembedded for one in diff.changed] == [True]
    assert len(diff.leftover_documents) == 1
