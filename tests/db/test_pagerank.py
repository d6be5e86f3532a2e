"""Power iteration, against networkx."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.db.pagerank import power_iteration

NODES = 6
edges = st.lists(
    st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1), st.floats(0.01, 10)),
    max_size=20,
    unique_by=lambda edge: edge[:2],
)
restarts = st.lists(st.floats(0, 1), min_size=NODES, max_size=NODES).filter(any)


def scores(
    edges: list[tuple[int, int, float]], restart: list[float], *, damping: float, iterations: int, tolerance: float = 0
) -> list[float]:
    source, target = (np.array([edge[end] for edge in edges], dtype=np.intp) for end in (0, 1))
    weight = np.array([edge[2] for edge in edges], dtype=np.float64)
    probability = np.array(restart) / sum(restart)
    return list(
        power_iteration(
            source, target, weight, probability, damping=damping, iterations=iterations, tolerance=tolerance
        )
    )


@given(edges, restarts, st.floats(0.1, 0.9))
def test_shares_at_convergence_are_those_of_networkx(
    edges: list[tuple[int, int, float]], restart: list[float], damping: float
) -> None:
    graph = nx.DiGraph()
    graph.add_nodes_from(range(NODES))
    graph.add_weighted_edges_from(edges)
    wanted = nx.pagerank(graph, damping, dict(enumerate(restart)), max_iter=2000, tol=1e-12)

    found = scores(edges, restart, damping=damping, iterations=2000, tolerance=1e-14)

    total = sum(found)
    assert [score / total for score in found] == pytest.approx([wanted[node] for node in range(NODES)], abs=1e-6)


def test_what_arrives_at_a_dead_end_is_lost() -> None:
    assert scores([(0, 1, 3.0)], [1, 0], damping=0.5, iterations=50) == [0.5, 0.25]


def test_it_ends_as_soon_as_nothing_moves_more_than_the_tolerance() -> None:
    loop = [(0, 1, 1.0), (1, 0, 1.0)]

    assert scores(loop, [1, 0], damping=0.5, iterations=1) == [0.5, 0.5]
    assert scores(loop, [1, 0], damping=0.5, iterations=99, tolerance=2.0) == [0.5, 0.5]
