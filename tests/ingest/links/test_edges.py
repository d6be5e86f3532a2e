"""The edges that a corpus should have: all that one fresh ingest would make, whatever the order of its chunks."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.edges import EdgeKind
from pipeline.ids import document_id, entity_id
from pipeline.ingest.embed import PreparedChunk
from pipeline.ingest.entities.extract import ChunkNames
from pipeline.ingest.links.entity_links import LinkResolver, hyperlink_edges, name_edges, structure_edges
from pipeline.records import Chunk, Edge, WrittenLink

CORPUS = "corpus"
TITLES = {"ada.md": "Ada Lovelace", "babbage.md": "Charles Babbage", "empty.md": "Nothing"}


def linked(
    key: str, text: str, *links: str, ordinal: int = 0, angle: float = 0.0, title: str | None = None
) -> PreparedChunk:
    chunk = Chunk(
        f"{key}-{ordinal}", key, ordinal, text, TITLES[key] if title is None else title, "", 0, len(text), 1, 1, 5
    )
    return PreparedChunk(
        chunk, np.array([np.cos(angle), np.sin(angle)], dtype=np.float32), tuple(map(WrittenLink, links)), "hash"
    )


CHUNKS = [
    linked("ada.md", "Ada Lovelace met Charles Babbage", "babbage.md", "babbage.md#life", "gone.md"),
    linked("ada.md", "in Turin", ordinal=1, angle=1.5),
    linked("babbage.md", "Charles Babbage was in Turin", "Ada Lovelace", angle=0.1),
]


Desired = Callable[[str, list[PreparedChunk]], list[Edge]]
Edges = Callable[..., set[tuple[str, str, tuple[object, ...]]]]


@pytest.fixture(scope="module")
def desired(extract: Callable[..., tuple[list[ChunkNames], dict[str, str]]]) -> Desired:
    """Return all edges of a corpus but the cosine links."""

    def make(corpus: str, chunks: list[PreparedChunk]) -> list[Edge]:
        plain = [one.chunk for one in chunks]
        resolver = LinkResolver(TITLES)
        links = (hyperlink_edges(corpus, one.chunk, one.links, resolver) for one in chunks)
        return [*structure_edges(corpus, plain), *name_edges(corpus, extract(plain)[0]), *chain.from_iterable(links)]

    return make


@pytest.fixture(scope="module")
def edges(desired: Desired) -> Edges:
    """Return ends and evidence of the edges of one kind."""

    def make(kind: EdgeKind, chunks: list[PreparedChunk] = CHUNKS) -> set[tuple[str, str, tuple[object, ...]]]:
        found = desired(CORPUS, chunks)
        return {(edge.source, edge.target, tuple(edge.evidence.values())) for edge in found if edge.kind is kind}

    return make


def test_each_chunk_is_part_of_its_document(edges: Edges) -> None:
    assert edges(EdgeKind.PART_OF) == {
        ("ada.md-0", document_id(CORPUS, "ada.md"), ()),
        ("ada.md-1", document_id(CORPUS, "ada.md"), ()),
        ("babbage.md-0", document_id(CORPUS, "babbage.md"), ()),
    }


def test_the_chunks_of_one_document_follow_each_other(edges: Edges) -> None:
    ten = [linked("ada.md", "x", ordinal=ordinal) for ordinal in range(12)]

    assert edges(EdgeKind.NEXT) == {("ada.md-0", "ada.md-1", ())}
    assert edges(EdgeKind.NEXT, ten) == {(f"ada.md-{place}", f"ada.md-{place + 1}", ()) for place in range(11)}


def test_mentions_carry_count_position_and_whether_the_chunk_is_about_it(edges: Edges) -> None:
    ada, charles, turin = (entity_id(CORPUS, key) for key in ("ada lovelace", "charles babbage", "turin"))

    assert edges(EdgeKind.MENTIONS) == {
        ("ada.md-0", ada, (1, 0, True)),
        ("ada.md-0", charles, (1, 17, False)),
        ("ada.md-1", ada, (1, 0, True)),
        ("ada.md-1", turin, (1, 3, False)),
        ("babbage.md-0", charles, (1, 0, True)),
        ("babbage.md-0", turin, (1, 23, False)),
    }


def test_a_title_that_is_named_is_referred_to(edges: Edges) -> None:
    assert edges(EdgeKind.REFERS_TO) == {("ada.md-0", document_id(CORPUS, "babbage.md"), (1, 17))}


def test_hyperlinks_are_counted_by_document_and_dead_ones_left_out(edges: Edges) -> None:
    chunks = [linked("ada.md", "x", "babbage.md", "./babbage.md", "gone.md", "ada.md", "empty.md")]

    assert edges(EdgeKind.LINKS_TO, chunks) == {
        ("ada.md-0", document_id(CORPUS, "babbage.md"), (2,)),
        ("ada.md-0", document_id(CORPUS, "empty.md"), (1,)),
    }


def test_no_chunks_want_nothing(desired: Desired) -> None:
    assert desired(CORPUS, []) == []


def test_ids_are_those_of_the_corpus(desired: Desired) -> None:
    here, there = desired("one", CHUNKS), desired("two", CHUNKS)
    targets = {edge.target for edge in here} & {edge.target for edge in there}

    assert targets == {"ada.md-1"}, "only chunks, whose ids the chunker makes, have one id in both"


@settings(max_examples=20)
@given(
    st.lists(st.tuples(st.sampled_from(list(TITLES)), st.floats(0, 3.1)), min_size=1, max_size=12),
    st.randoms(use_true_random=False),
)
def test_the_order_of_chunks_changes_nothing(
    desired: Desired, parts: list[tuple[str, float]], shuffler: random.Random
) -> None:
    chunks = [
        linked(key, f"Ada Lovelace by Turin {place}", "Nothing", ordinal=place, angle=angle)
        for place, (key, angle) in enumerate(parts)
    ]
    before = desired(CORPUS, chunks)
    shuffler.shuffle(chunks)
    after = desired(CORPUS, chunks)

    assert {edge.key: edge for edge in after} == {edge.key: edge for edge in before}
    assert len({edge.key for edge in before}) == len(before)


def test_an_edge_is_told_by_its_kind_and_ends() -> None:
    assert Edge(EdgeKind.NEXT, "a", "b", {"score": 1.0}).key == Edge(EdgeKind.NEXT, "a", "b").key == ("NEXT", "a", "b")
