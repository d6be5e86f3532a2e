"""Places for the nodes of a drawing: each component by its distances, the components packed, and no two nodes touch."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import TypeAlias

import networkx as nx
import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import shortest_path
from scipy.spatial.distance import cdist

Places: TypeAlias = NDArray[np.float64]
"""A row (x, y) for each node, in pixels of a drawing that is not zoomed."""

# Chosen by eye, on corpora and graphs of 8 to 320 nodes.
_EDGE = 115.0
"""Pixels of an edge: a short label fits between two nodes."""

_GAP = 10.0  # pixels between nodes that would touch
_ROUNDS = 60  # in which nodes are pushed apart; all were apart after 40
_MARGIN = 60.0  # pixels around a component
_LABEL = np.array([120.0, 30.0])  # pixels beside and below a node without an edge, for its label

_SEED = 1  # any number: the same graph is drawn the same
_ITERATIONS = 150  # after 100 nothing moved that one sees

_ASPECT = 1.3  # of a drawing's width to its height, as of most screens


def arrange(nodes: Sequence[Hashable], edges: Iterable[tuple[Hashable, Hashable]], sizes: Sequence[float]) -> Places:
    """Return a place for each node, the same each time; ``sizes`` are their widths in pixels.

    In a component, places are as far apart as the shortest paths between them (stress majorization: Gansner, Koren and
    North, 2004), which draws no knot around hubs, as springs do. Components are packed into rows, the largest first;
    nodes without an edge stand in a grid below them.
    """
    graph = nx.Graph()
    graph.add_nodes_from(range(len(nodes)))
    row_of = {node: row for row, node in enumerate(nodes)}
    graph.add_edges_from((row_of[one], row_of[other]) for one, other in edges if one != other)
    places, radii = np.zeros((len(nodes), 2)), np.asarray(sizes, dtype=float) / 2
    components = sorted(map(sorted, nx.connected_components(graph)), key=lambda rows: (-len(rows), rows[0]))
    for component in components:
        if len(component) > 1:
            places[component] = _apart(_by_distance(graph.subgraph(component), component), radii[component])
    boxes = [
        np.ptp(places[rows], axis=0) + 2 * radii[rows].max() + (2 * _MARGIN if len(rows) > 1 else _LABEL)
        for rows in components
    ]
    for component, corner in zip(components, _packed(boxes), strict=True):
        places[component] += corner - places[component].min(axis=0)
    return places


def _by_distance(graph: nx.Graph, order: Sequence[int]) -> Places:
    """Lay out a component: minimise the squared errors of distances, each relative to the distance, by majorization."""
    degree = dict(graph.degree)
    for one, other, edge in graph.edges(data=True):
        # Edges of a hub are longer, so that there is room around it.
        edge["length"] = 1 + np.log2(min(degree[one], degree[other])) / 2 + np.log2(max(degree[one], degree[other])) / 6
    wanted = shortest_path(nx.to_scipy_sparse_array(graph, nodelist=order, weight="length"), directed=False)
    weights = np.divide(1.0, wanted**2, out=np.zeros_like(wanted), where=wanted > 0)
    laplacian = np.diag(weights.sum(axis=1)) - weights
    inverse = np.linalg.pinv(laplacian)
    places = _start(wanted)
    for _ in range(_ITERATIONS):
        drawn = cdist(places, places)
        ratio = np.divide(weights * wanted, drawn, out=np.zeros_like(drawn), where=drawn > 0)
        places = inverse @ (ratio.sum(axis=1)[:, None] * places - ratio @ places)
    return np.asarray(places * _EDGE)


def _start(wanted: Places) -> Places:
    """Place by classical scaling of the distances: the same each time, and near the end, unlike chance."""
    size = len(wanted)
    centred = np.eye(size) - 1 / size
    values, vectors = np.linalg.eigh(-centred @ wanted**2 @ centred / 2)
    # Nodes of equal distances to all others would fall together, and never part.
    nudge = np.random.default_rng(_SEED).normal(scale=0.05, size=(size, 2))
    scaled: Places = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0)) + nudge
    return scaled


def _apart(places: Places, radii: NDArray[np.float64]) -> Places:
    """Push nodes that touch apart, and turn the whole so that it is wider than high."""
    places = places - places.mean(axis=0)
    _, axes = np.linalg.eigh(places.T @ places)
    places = places @ axes[:, ::-1]
    least = radii[:, None] + radii[None] + _GAP
    for _ in range(_ROUNDS):
        distance = cdist(places, places) + np.eye(len(places)) * 1e9
        overlap = np.maximum(least - distance, 0)
        if not overlap.any():
            break
        push = overlap / np.maximum(distance, 1e-9) / 2
        places = places + push.sum(axis=1)[:, None] * places - push @ places
    return places


def _packed(boxes: Sequence[Sequence[float]]) -> Iterator[NDArray[np.float64]]:
    """Yield a corner for each box (width, height), in rows without overlap; the first, the largest, has its own."""
    area = sum(width * height for width, height in boxes)
    row = max([(area * _ASPECT) ** 0.5, *(width for width, _ in boxes)])
    x = y = height = 0.0
    for number, (width, high) in enumerate(boxes):
        if x and (x + width > row or (number == 1 and width < x / 2)):
            x, y, height = 0.0, y + height, 0.0
        yield np.array([x, y])
        x, height = x + width, max(height, high)
