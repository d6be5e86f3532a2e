"""Nearest vectors, against all cosines; and whoever links by cosine links the same."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.domains.skills.check import _near_by_meaning
from pipeline.embedding.nearest import Rows, Scores, cosines, nearest, unit_vectors
from pipeline.ingest.links.similar import similar_pairs
from pipeline.knowledge import KnowledgeNode
from pipeline.knowledge.chunks import CosineEdges, GraphChunk, chunk_edges, chunk_nodes
from pipeline.knowledge.store.memory import MemoryStore
from pipeline.records import Vector

vectors = st.lists(st.lists(st.integers(-3, 3).map(float), min_size=3, max_size=3).filter(any), min_size=2, max_size=12)


def cosine(one: list[float], other: list[float]) -> float:
    return min(1.0, float(np.dot(one, other) / np.linalg.norm(one) / np.linalg.norm(other)))


@given(vectors, st.integers(1, 5) | st.none(), st.sampled_from([-1.0, 0.0, 0.5, 0.9]))
def test_each_row_has_its_nearest(vectors: list[list[float]], top_k: int | None, threshold: float) -> None:
    listed = nearest(unit_vectors(vectors), np.arange(len(vectors)), top_k, threshold)

    for row, vector in enumerate(vectors):
        wanted = sorted(
            (-round(cosine(vector, other), 4), column) for column, other in enumerate(vectors) if column != row
        )
        within = [(score, column) for score, column in wanted if -score >= threshold][:top_k]
        found = [(-score, column) for place, column, score in zip(*listed, strict=True) if place == row]
        assert [score for score, _ in found] == pytest.approx([score for score, _ in within], abs=1.01e-4)


@given(st.lists(st.sampled_from([[1.0, 0.0], [0.0, 1.0], [3.0, 4.0]]), min_size=2, max_size=40), st.integers(1, 5))
def test_of_equal_vectors_the_first_are_listed(vectors: list[list[float]], top_k: int) -> None:
    unit, half = unit_vectors(vectors), np.arange(0, len(vectors), 2)
    rows = np.arange(len(vectors))

    for among in (None, half):
        every = [*zip(*(column.tolist() for column in nearest(unit, rows, None, 0.5)), strict=True)]
        found = [*zip(*(column.tolist() for column in nearest(unit, rows, top_k, 0.5, among=among)), strict=True)]
        for row in rows.tolist():
            of_row = [pair for pair in every if pair[0] == row and (among is None or pair[1] in half)]
            assert [pair for pair in found if pair[0] == row] == of_row[:top_k]


def test_a_vector_that_is_there_often_is_compared_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    scored: list[int] = []

    def counting(vectors: Vector, row: Rows, other: Rows, digits: int) -> Scores:
        scored.append(len(row))
        return cosines(vectors, row, other, digits)

    monkeypatch.setattr("pipeline.embedding.nearest.cosines", counting)
    unit = unit_vectors([[3.0, 4.0]] * 2_000)

    listed = nearest(unit, np.arange(2_000), 5, 0.5)

    assert len(listed.row) == 5 * 2_000
    assert sum(scored) <= 6 * 2_000


@given(vectors)
def test_a_corpus_a_graph_and_a_check_of_skills_link_the_same(vectors: list[list[float]]) -> None:
    threshold = 0.7
    ids = [f"{row:02}" for row in range(len(vectors))]
    unit = unit_vectors(vectors)
    chunks = [GraphChunk(id=id_, embedding=vector) for id_, vector in zip(ids, vectors, strict=True)]
    nodes = chunk_nodes(chunks, "chunk")

    linked = similar_pairs(unit, top_k=99, threshold=threshold, degree_limit=99, exact_up_to=99)
    edges = chunk_edges(nodes, chunks, CosineEdges(threshold), ())
    near = _near_by_meaning([KnowledgeNode(node.id, "skill", embedding=node.embedding) for node in nodes], threshold)
    ranked = MemoryStore("graph", nodes, []).nearest(vectors[0], 99)

    of_corpus = {(ids[min(pair.source, pair.target)], ids[max(pair.source, pair.target)]) for pair in linked}
    clear = {
        (ids[one], ids[other])
        for one, other in combinations(range(len(ids)), 2)
        if cosine(vectors[one], vectors[other]) >= threshold + 1e-4
    }
    assert clear <= of_corpus
    assert {(edge.source, edge.target) for edge in edges} | clear == of_corpus
    assert {(pair.one, pair.other) for pair in near} == of_corpus
    assert [ranked[id_] for id_ in ids] == pytest.approx([cosine(vectors[0], other) for other in vectors], abs=1e-6)
