"""Documents to chunks with vectors: what is embedded, and what is taken from the graph instead."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pipeline import HopRank
from pipeline.db.client import Client
from pipeline.embedding.sentence_transformer import SentenceTransformerEmbedder
from pipeline.ingest.chunking.chunk import cut
from pipeline.ingest.embed import PreparedDocument, centroid_of, embed, embedded_text
from pipeline.ingest.engine import make_chunker
from pipeline.records import Chunk, Document, Link, Precision, Vector
from pipeline.settings import load_settings

ADA = Document("ada", "Ada Lovelace", "Ada Lovelace wrote notes on the engine.", path="x")
ENGINE = Document("engine", "Engine", "The engine was never built.", path="x")


class Counting(SentenceTransformerEmbedder):
    """An embedder that notes what it was asked to encode."""

    def __init__(self) -> None:
        super().__init__()
        self.encoded: list[str] = []

    def encode(
        self, texts: Sequence[str], done: Callable[[int], None] | None = None, *, precision: Precision | None = None
    ) -> Vector:
        self.encoded += texts
        return super().encode(texts, done, precision=precision)


@pytest.fixture(scope="module")
def counting() -> Counting:
    return Counting()


Prepare = Callable[..., list[PreparedDocument]]


@pytest.fixture
def prepare(client: Client, counting: Counting) -> Prepare:
    counting.encoded.clear()
    return prepared_by(client, counting, "model-of-nobody@1/384/mean/float32")


def prepared_by(client: Client, embedder: SentenceTransformerEmbedder, fingerprint: str) -> Prepare:
    chunker = make_chunker(embedder, load_settings({"chunk": {"max_tokens": 40, "overlap": 0}}))

    def prepare(documents: Sequence[Document], done: Callable[[int], None] = lambda _: None) -> list[PreparedDocument]:
        chunked = list(cut(chunker, documents, "corpus"))
        return embed(client, embedder, fingerprint, chunked, done)

    return prepare


def test_documents_come_in_order_with_their_chunks(prepare: Prepare) -> None:
    long = Document("long", "", "One sentence of some length stands here. " * 20)
    ada, longer, engine = prepare([ADA, long, ENGINE])

    assert [one.document for one in (ada, longer, engine)] == [ADA, long, ENGINE]
    assert [piece.chunk.ordinal for piece in longer.chunks] == list(range(len(longer.chunks)))
    assert len(longer.chunks) > 3
    assert [piece.chunk.text for piece in engine.chunks] == [ENGINE.text]


def test_vectors_are_those_of_title_heading_and_text(prepare: Prepare, counting: Counting) -> None:
    (ada,) = prepare([ADA])
    (piece,) = ada.chunks

    assert counting.encoded == ["Ada Lovelace\nAda Lovelace wrote notes on the engine."]
    assert piece.vector @ counting.encode(counting.encoded)[0] == pytest.approx(1, abs=1e-3)


def test_a_text_that_stands_twice_is_embedded_once(prepare: Prepare, counting: Counting) -> None:
    done: list[int] = []
    same = [Document(key, "Same", "The same words.") for key in ("a", "b", "c")]

    prepared = prepare(same, done.append)

    assert len(counting.encoded) == sum(done) == 1
    assert len({one.chunks[0].content_hash for one in prepared}) == 1
    assert len({one.chunks[0].chunk.id for one in prepared}) == 3


@pytest.mark.parametrize("text", ["", " \n "])
def test_a_document_without_text_has_no_chunks(prepare: Prepare, text: str) -> None:
    (blank,) = prepare([Document("blank", "Blank", text)])

    assert blank.chunks == ()
    assert prepare([]) == []


def test_links_go_with_the_chunk_that_they_stand_in(prepare: Prepare) -> None:
    text = " ".join(f"Sentence number {number} has its own link." for number in range(20))
    places = [text.index(f"number {number} ") for number in (0, 10, 19)]
    links = tuple(Link(f"{place}.md", place, place + 4) for place in places)

    (one,) = prepare([Document("a", "", text, links=links)])

    assert sorted(link.target for piece in one.chunks for link in piece.links) == sorted(link.target for link in links)
    for piece in one.chunks:
        held = [link.target for link in links if piece.chunk.start <= link.start < piece.chunk.end]
        assert [link.target for link in piece.links] == held


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

    (same,) = prepared_by(hoprank.client, counting, hoprank.embedder.fingerprint)([stored])
    assert counting.encoded == []
    assert np.linalg.norm(same.chunks[0].vector) == pytest.approx(1, abs=1e-5)

    prepared_by(hoprank.client, counting, hoprank.embedder.fingerprint)([renamed])
    prepared_by(hoprank.client, counting, "another-model@1/384")([stored])
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


def test_a_document_of_several_chunks_has_the_mean_of_their_vectors(prepare: Prepare) -> None:
    long = Document("long", "", "One sentence of some length stands here. " * 20)
    ada, longer = prepare([ADA, long])

    centroid = centroid_of([chunk.vector for chunk in longer.chunks])
    assert centroid_of([chunk.vector for chunk in ada.chunks[:1]]) is None
    assert len(ada.chunks) == 1
    assert centroid is not None
    mean = np.mean([piece.vector for piece in longer.chunks], axis=0)
    assert centroid == pytest.approx(mean / np.linalg.norm(mean), abs=1e-6)
    assert centroid.dtype == np.float32


UNIT_VECTORS = arrays(np.float32, 3, elements=st.integers(-9, 9)).filter(np.any)


@example([np.array([1, 0, 0], dtype=np.float32), np.array([-1, 0, 0], dtype=np.float32)])
@given(st.lists(UNIT_VECTORS.map(lambda vector: vector / np.linalg.norm(vector)), max_size=5))
def test_a_centroid_has_length_1_and_the_order_does_not_matter(vectors: list[Vector]) -> None:
    centroid = centroid_of(vectors)

    if len(vectors) < 2 or not np.mean(vectors, axis=0, dtype=np.float64).any():
        assert centroid is None
        return
    backwards = centroid_of(vectors[::-1])
    assert centroid is not None
    assert backwards is not None
    assert float(np.linalg.norm(centroid)) == pytest.approx(1, abs=1e-5)
    assert backwards == pytest.approx(centroid, abs=1e-5)
