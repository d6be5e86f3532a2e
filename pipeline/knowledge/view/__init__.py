"""Draw a graph as one HTML page: the page embeds Cytoscape.js and needs no network."""

import html
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import networkx as nx

from pipeline.errors import GraphError
from pipeline.knowledge.records import Direction, GraphSize, KnowledgeEdge, KnowledgeNode
from pipeline.knowledge.store.protocol import Store
from pipeline.temporary import replacing

CYTOSCAPE = Path(__file__).parent / "cytoscape.min.js"
"""The library that draws, Cytoscape.js; the explorer of ``hoprank serve`` sends the same file."""

_EDGE_COLOURS = "#4477aa #ee6677 #228833 #ccbb44 #66ccee #aa3377 #bb5566 #004488 #ddaa33 #44aa99".split()
_NODE_COLOURS = "#33475b #e08214 #7fbf7b #af8dc3 #80b1d3 #d6604d #b8a04a #1b7837 #762a83 #8c6d5a".split()
"""Both palettes are distinguishable together, also for colour-blind readers (after Paul Tol and ColorBrewer)."""

_OTHER_COLOUR = "#8a94a0"
_MIN_SIZE, _MAX_SIZE = 14.0, 60.0  # pixels across; chosen by eye
_MAX_PROPERTY_LENGTH = 2_000  # characters in the page; longer values are cut
_NAMES = ("name", "title", "key")
_SEED = 1


def write_page(store: Store, size: GraphSize, path: Path) -> None:
    """Write the page of a part of a graph of this ``size``, atomically; raises GraphError if it can't be written."""
    try:
        with replacing(path) as partial:
            partial.write_text(page(store, size), encoding="utf-8", newline="\n")
    except OSError as error:
        raise GraphError(f"{path} can't be written ({error.strerror}).", "Give a file in a folder of yours.") from error


def page(store: Store, size: GraphSize) -> str:
    """Return the page as HTML; it holds the graph's texts as data, never as markup."""
    folder = Path(__file__).parent
    data = json.dumps(picture(store, size), ensure_ascii=False)
    for character in "<>&\u2028\u2029":  # so that no text can close the script element that holds it
        data = data.replace(character, f"\\u{ord(character):04x}")
    parts = {
        "title": html.escape(store.name),
        "style": (folder / "page.css").read_text(encoding="utf-8"),
        "data": data,
        "library": CYTOSCAPE.read_text(encoding="utf-8"),
        "script": (folder / "page.js").read_text(encoding="utf-8"),
    }
    text = (folder / "page.html").read_text(encoding="utf-8")
    # Splitting at one placeholder after the other never looks for a placeholder inside an inserted part.
    pieces = []
    for name, part in parts.items():
        before, text = text.split(f"{{{{{name}}}}}", 1)
        pieces += [before, part]
    return "".join([*pieces, text])


def picture(store: Store, size: GraphSize) -> dict[str, Any]:
    """Return the data of the page: nodes with positions, sizes and details, edges with widths, types with colours.

    Where nodes state their ``importance``, sizes follow it, and those that state none are the smallest; else PageRank.
    """
    nodes = sorted(store.scan_nodes(), key=lambda node: node.id)
    edges = sorted(store.scan_edges(), key=lambda edge: edge.id)
    pagerank = store.pagerank(None, 0.15, Direction.BOTH, max(1, len(nodes)))
    importance = {node.id: stated for node in nodes if (stated := _stated(node)) > 0} or pagerank
    most_important = max(importance.values(), default=1.0)
    heaviest = max((edge.weight for edge in edges), default=0.0)
    positions = _positions(nodes, edges)
    rows = {node.id: row for row, node in enumerate(nodes)}
    return {
        "name": store.name,
        "total_nodes": size.nodes,
        "nodes": [
            {
                **_node(node, positions[node.id]),
                "pagerank": pagerank.get(node.id, 0.0),
                # Readers compare areas, not widths, so the width grows with the square root.
                "size": round(
                    _MIN_SIZE + (_MAX_SIZE - _MIN_SIZE) * (importance.get(node.id, 0.0) / most_important) ** 0.5, 1
                ),
            }
            for node in nodes
        ],
        "edges": [
            {
                "source": rows[edge.source],
                "target": rows[edge.target],
                "type": edge.type,
                "directed": edge.directed,
                "width": round(1 + 3 * (edge.weight / heaviest if heaviest else 0.0), 2),  # chosen by eye
            }
            for edge in edges
        ],
        "node_types": _coloured((node.type for node in nodes), _NODE_COLOURS),
        "edge_types": _coloured((edge.type for edge in edges), _EDGE_COLOURS),
    }


def _stated(node: KnowledgeNode) -> float:
    """Return the importance of a node by its property of that name; 0 if it states none."""
    value: Any = node.properties.get("importance")
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0


def _node(node: KnowledgeNode, position: tuple[float, float]) -> dict[str, Any]:
    return {
        "id": node.id,
        "name": next((str(node.properties[name]) for name in _NAMES if node.properties.get(name)), node.id),
        "type": node.type,
        "labels": list(node.labels),
        "parent_id": node.parent_id,
        "properties": {name: _short(value) for name, value in node.properties.items()},
        "x": position[0],
        "y": position[1],
    }


def _positions(nodes: Sequence[KnowledgeNode], edges: Iterable[KnowledgeEdge]) -> dict[str, tuple[float, float]]:
    """Return each node's position by a spring layout (Fruchterman and Reingold, 1991); deterministic."""
    drawn = nx.Graph()
    drawn.add_nodes_from(node.id for node in nodes)
    for edge in edges:
        weight = drawn.get_edge_data(edge.source, edge.target, {"weight": 0.1})["weight"]  # chosen by eye
        drawn.add_edge(edge.source, edge.target, weight=weight + min(edge.weight, 1.0))
    scale = 150.0 * max(len(nodes), 4) ** 0.5  # pixels; as the distance below, chosen by eye
    # The method "force" keeps unconnected components from drifting away.
    layout = nx.spring_layout(drawn, k=1.6 / max(len(nodes), 1) ** 0.5, iterations=120, seed=_SEED, method="force")
    return {node_id: (round(float(x) * scale, 1), round(float(y) * scale, 1)) for node_id, (x, y) in layout.items()}


def _coloured(types: Iterable[str], colours: Sequence[str]) -> list[tuple[str, int, str]]:
    """Return each type with its count and colour, most frequent first; types beyond the palette share a grey."""
    counts = sorted(Counter(types).items(), key=lambda item: (-item[1], item[0]))
    return [
        (name, count, colours[row] if row < len(colours) else _OTHER_COLOUR) for row, (name, count) in enumerate(counts)
    ]


def _short(value: Any) -> Any:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return value if len(text) <= _MAX_PROPERTY_LENGTH else f"{text[:_MAX_PROPERTY_LENGTH]} …"
