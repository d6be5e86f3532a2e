"""Incremental neighbours: after any change, the links are those that a fresh computation makes."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline import HopRank
from pipeline.db.catalogue import drop_corpus
from pipeline.db.client import Client
from pipeline.db.corpus import CorpusHandle
from pipeline.edges import EdgeKind
from pipeline.flows.ingest import ingest_documents
from pipeline.ingest.embed import PreparedChunk
from pipeline.ingest.links.similar import similar_pairs
from pipeline.ingest.links.similarity_links import ApproximateSearch, ExactSearch, IncrementalNeighbours
from pipeline.ingest.update.stored import Position
from pipeline.ingest.update.write_session import writing
from pipeline.records import Chunk, Document, Edge, Vector
from tests.plain_corpora import plain_corpus

TOP_K, THRESHOLD, LIMIT = 2, 0.3, 2
DIMENSION = 4

Vectors = Mapping[str, tuple[int, ...]]
Links = set[tuple[str, str, str, float, bool]]

NAMES = st.sampled_from([f"c{number:02}" for number in range(16)])
NUMBERS = st.tuples(*[st.integers(-2, 2)] * DIMENSION).filter(any)
VECTORS = st.dictionaries(NAMES, NUMBERS, min_size=6, max_size=16)
EDITS = st.dictionaries(NAMES, NUMBERS | st.none(), min_size=1, max_size=2)
"""Chunks with their new vectors, or None where they go: few at a time, so that most neighbour lists stay."""


def unit(numbers: tuple[int, ...]) -> Vector:
    vector = np.array(numbers, dtype=np.float32)
    unit_length: Vector = vector / np.float32(np.linalg.norm(vector))
    return unit_length


def position(name: str) -> Position:
    return name, 0


def search_among(corpus: str, vectors: Vectors) -> ExactSearch:
    names = list(vectors)
    stacked = np.stack([unit(vectors[name]) for name in names]) if names else np.empty((0, DIMENSION), np.float32)
    return ExactSearch([f"{corpus}-{name}" for name in names], list(map(position, names)), stacked, TOP_K, THRESHOLD)


def expected(vectors: Vectors) -> Links:
    names = sorted(vectors)
    if not names:
        return set()
    stacked = np.stack([unit(vectors[name]) for name in names])
    pairs = similar_pairs(stacked, top_k=TOP_K, threshold=THRESHOLD, degree_limit=LIMIT, exact_up_to=1000)
    kinds = {True: EdgeKind.SIMILAR.value, False: EdgeKind.CAPPED.value}
    return {(kinds[pair.linked], names[pair.source], names[pair.target], pair.score, pair.mutual) for pair in pairs}


class Graph:
    """A corpus of one chunk a document, whose vectors change from generation to generation."""

    def __init__(self, client: Client) -> None:
        self._client = client
        name = f"test-{uuid.uuid4().hex[:12]}"
        self.corpus = plain_corpus(client, name, dimension=DIMENSION)
        self.vectors: Vectors = {}
        self.links: Links = set()

    def change(self, vectors: Vectors) -> None:
        """Write the next generation with the links that are found missing, and without those that are too many."""
        corpus = self.corpus.id
        removed = {f"{corpus}-{name}" for name, value in self.vectors.items() if vectors.get(name) != value}
        added = {
            f"{corpus}-{name}": position(name) for name, value in vectors.items() if self.vectors.get(name) != value
        }
        with writing(CorpusHandle(self._client, self.corpus)) as session:
            session.begin()
            session.stage_chunks(self._chunk(name, vectors[name]) for name in vectors)
            search = search_among(corpus, vectors)
            neighbours = IncrementalNeighbours(session.corpus, search, TOP_K, LIMIT)
            missing, surplus = neighbours.changes(added, removed)
            session.retire_edges(surplus)
            session.stage_edges(missing, lambda _: None)
            counts = {"documents": len(vectors), "chunks": len(vectors), "entities": 0}
            session.collect_garbage(session.publish(counts=counts))
            self._apply(missing, surplus)
        self.corpus = replace(self.corpus, generation=self.corpus.generation + 1)
        self.vectors = dict(vectors)

    def nearest_while_writing(self, name: str, added: Vectors) -> list[str]:
        """Return the chunks that the index finds near one while others are staged."""
        with writing(CorpusHandle(self._client, self.corpus)) as session:
            session.begin()
            session.stage_chunks(self._chunk(*chunk) for chunk in added.items())
            found = ApproximateSearch(session.corpus, TOP_K, THRESHOLD).near([self._id(name)])
            session.abandon()
        return [neighbour.position[0] for neighbours in found.values() for neighbour in neighbours]

    def drop(self) -> None:
        drop_corpus(self._client, self.corpus)

    def _apply(self, missing: list[Edge], surplus: list[tuple[str, str, str]]) -> None:
        gone = {(kind, source, target) for kind, source, target in surplus}
        kept = {link for link in self.links if (link[0], *map(self._id, link[1:3])) not in gone}
        made = {
            (
                edge.kind.value,
                edge.source.partition("-")[2],
                edge.target.partition("-")[2],
                float(edge.evidence["score"]),
                bool(edge.evidence["mutual"]),
            )
            for edge in missing
        }
        self.links = kept | made

    def _id(self, name: str) -> str:
        return f"{self.corpus.id}-{name}"

    def _chunk(self, name: str, vector: tuple[int, ...]) -> PreparedChunk:
        chunk = Chunk(self._id(name), name, 0, name, name, "", 0, 1, 1, 1, 1)
        return PreparedChunk(chunk, unit(vector), (), str(vector))


@pytest.fixture
def new_graph(client: Client) -> Iterator[Graph]:
    graph = Graph(client)
    yield graph
    graph.drop()


def test_the_index_finds_what_is_staged(new_graph: Graph) -> None:
    vector = (1,) * DIMENSION
    new_graph.change({"a": vector, "b": vector})

    assert new_graph.nearest_while_writing("a", {"c": vector}) == ["b", "c"]


@pytest.mark.slow
@settings(max_examples=10)
@given(VECTORS, st.lists(EDITS, min_size=2, max_size=5))
def test_any_edits_leave_the_links_of_a_fresh_computation(
    client: Client, vectors: Vectors, edits: list[dict[str, tuple[int, ...] | None]]
) -> None:
    graph = Graph(client)
    try:
        graph.change(vectors)
        for edit in edits:
            edited = {**vectors, **edit}
            vectors = {name: numbers for name, numbers in sorted(edited.items()) if numbers is not None}
            graph.change(vectors)
            assert graph.links == expected(vectors)
    finally:
        graph.drop()


def test_a_chunk_over_the_degree_limit_links_its_best_pairs_alone(new_graph: Graph) -> None:
    spokes = {f"c{number:02}": (2, *(number == axis for axis in range(3))) for number in range(3)}
    hub = {"c99": (1, 0, 0, 0)}
    more = {f"c{number:02}": (2, -(number == 10), -(number == 11), -(number == 12)) for number in range(10, 13)}

    new_graph.change({**spokes, **hub})
    new_graph.change({**spokes, **hub, **more})

    assert new_graph.links == expected({**spokes, **hub, **more})
    assert any(kind == "CAPPED" for kind, *_ in new_graph.links)


def test_the_vector_index_finds_the_neighbours_that_all_vectors_give(hoprank: HopRank, corpus_name: str) -> None:
    texts = [f"Note {number} on {topic}." for number in range(6) for topic in ("rivers", "engines", "music")]
    documents = [Document(f"d{place}", f"d{place}", text) for place, text in enumerate(texts)]
    ingest_documents(hoprank.client, hoprank.embedder, hoprank.settings, documents, corpus_name)
    corpus = hoprank.retriever(corpus_name).corpus
    rows = list(corpus.stream("visible_vectors"))
    ids = [row["id"] for row in rows]
    vectors = np.stack([np.asarray(row["vector"].to_numpy(), dtype=np.float32) for row in rows])
    exact = ExactSearch(ids, [(row["document"], row["ordinal"]) for row in rows], vectors, 5, 0.3)
    # The index is searched as the next generation will see it.
    approximate = ApproximateSearch(corpus, 5, 0.3)

    nearest, found = exact.near(ids), approximate.near(ids)

    assert {id_: [one.id for one in near] for id_, near in nearest.items()} == {
        id_: [one.id for one in near] for id_, near in found.items()
    }
