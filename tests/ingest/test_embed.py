"""Documents to chunks with vectors: what is embedded, and what is taken from the graph instead."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline import HopRank
from pipeline.db.client import Client
from pipeline.db.indexes import embedding_name
from pipeline.embedding.embedder import Embedder
from pipeline.ids import document_id
from pipeline.ingest.embed import Preparer, content_hash, embedded_text
from pipeline.ingest.session import make_chunker
from pipeline.records import Chunk, Document, Link, Vector
from pipeline.settings import load_settings

ADA = Document("ada", "Ada Lovelace", "Ada Lovelace wrote notes on the engine.", path="x")
ENGINE = Document("engine", "Engine", "The engine was never built.", path="x")


class Counting(Embedder):
    """An embedder that notes what it was asked to encode."""

    def __init__(self) -> None:
        super().__init__()
        self.encoded: list[str] = []

    def encode(self, texts: Sequence[str], done: Callable[[int], None] | None = None) -> Vector:
        self.encoded += texts
        return super().encode(texts, done)


@pytest.fixture(scope="module")
def counting() -> Counting:
    return Counting()


@pytest.fixture
def preparer(client: Client, counting: Counting) -> Preparer:
    counting.encoded.clear()
    return make(client, counting, "model-of-nobody@1/384")


def make(client: Client, embedder: Embedder, fingerprint: str) -> Preparer:
    chunker = make_chunker(embedder, load_settings({"chunk": {"max_tokens": 40, "overlap": 0}}))
    return Preparer(client, embedder, chunker, "corpus", embedding_name(fingerprint))


def nothing(_: int) -> None:
    pass


def test_documents_come_in_order_with_id_hash_and_chunks(preparer: Preparer) -> None:
    long = Document("long", "", "One sentence of some length stands here. " * 20)
    ada, longer, engine = preparer.prepare([ADA, long, ENGINE], nothing)

    assert [one.document for one in (ada, longer, engine)] == [ADA, long, ENGINE]
    assert (ada.id, ada.hash) == (document_id("corpus", "ada"), content_hash(ADA))
    assert [piece.chunk.ordinal for piece in longer.pieces] == list(range(len(longer.pieces)))
    assert len(longer.pieces) > 3
    assert [piece.chunk.text for piece in engine.pieces] == [ENGINE.text]


def test_vectors_are_those_of_title_heading_and_text(preparer: Preparer, counting: Counting) -> None:
    (ada,) = preparer.prepare([ADA], nothing)
    (piece,) = ada.pieces

    assert counting.encoded == ["Ada Lovelace\nAda Lovelace wrote notes on the engine."]
    assert piece.vector @ counting.encode(counting.encoded)[0] == pytest.approx(1, abs=1e-3)


def test_a_text_that_stands_twice_is_embedded_once(preparer: Preparer, counting: Counting) -> None:
    done: list[int] = []
    same = [Document(key, "Same", "The same words.") for key in ("a", "b", "c")]

    prepared = preparer.prepare(same, done.append)

    assert len(counting.encoded) == sum(done) == 1
    assert len({one.embedded for one in prepared}) == 1
    assert len({one.pieces[0].chunk.id for one in prepared}) == 3


@pytest.mark.parametrize("text", ["", " \n "])
def test_a_document_without_text_has_no_chunks(preparer: Preparer, text: str) -> None:
    (blank,) = preparer.prepare([Document("blank", "Blank", text)], nothing)

    assert (blank.pieces, blank.embedded) == ((), ())


def test_nothing_is_prepared_from_nothing(preparer: Preparer) -> None:
    assert preparer.prepare([], nothing) == []


def test_links_go_with_the_chunk_that_they_stand_in(preparer: Preparer) -> None:
    text = " ".join(f"Sentence number {number} has its own link." for number in range(20))
    places = [text.index(f"number {number} ") for number in (0, 10, 19)]
    links = tuple(Link(f"{place}.md", place, place + 4) for place in places)

    (one,) = preparer.prepare([Document("a", "", text, links=links)], nothing)

    assert sorted(target for piece in one.pieces for target in piece.links) == sorted(link.target for link in links)
    for piece in one.pieces:
        held = [link.target for link in links if piece.chunk.start <= link.start < piece.chunk.end]
        assert list(piece.links) == held


def test_vectors_that_the_graph_has_are_not_made_again(
    hoprank: HopRank,
    counting: Counting,
    corpus_name: str,
    jsonl: Callable[[Iterable[Mapping[str, Any]]], Path],
) -> None:
    text = "A text that only this test stores, and whose vector it wants back."
    hoprank.ingest(jsonl([{"id": "stored", "title": "Stored", "text": text}]), corpus=corpus_name)
    stored = Document("elsewhere", "Stored", text)
    renamed = Document("elsewhere", "Renamed", text)
    counting.encoded.clear()

    (same,) = make(hoprank.client, counting, hoprank.embedder.fingerprint).prepare([stored], nothing)
    assert counting.encoded == []
    assert np.linalg.norm(same.pieces[0].vector) == pytest.approx(1, abs=1e-5)

    make(hoprank.client, counting, hoprank.embedder.fingerprint).prepare([renamed], nothing)
    make(hoprank.client, counting, "another-model@1/384").prepare([stored], nothing)
    assert len(counting.encoded) == 2


def chunk(title: str, heading: str) -> Chunk:
    return Chunk("c", "d", 0, "The text.", title, heading, 0, 9, 1, 1, 3)


@pytest.mark.parametrize(
    ("title", "heading", "expected"),
    [
        ("", "", "The text."),
        ("Title", "", "Title\nThe text."),
        ("", "One > Two", "One > Two\nThe text."),
        ("Title", "One > Two", "Title > One > Two\nThe text."),
        ("T" * 300, "One", f"{'T' * 100}\nThe text."),
    ],
)
def test_what_is_embedded_has_its_context_before_it(title: str, heading: str, expected: str) -> None:
    assert embedded_text(chunk(title, heading)) == expected
