"""A graph as one page that a browser shows without a network: drawn by Cytoscape.js, which is in the page."""

from __future__ import annotations

import html
import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import networkx as nx

from pipeline.errors import GraphError
from pipeline.knowledge.records import Direction, GraphSize, KnowledgeEdge, KnowledgeNode
from pipeline.knowledge.store.protocol import Store

_OF_EDGES = "#4477aa #ee6677 #228833 #ccbb44 #66ccee #aa3377 #bb5566 #004488 #ddaa33 #44aa99".split()
_OF_NODES = "#33475b #e08214 #7fbf7b #af8dc3 #80b1d3 #d6604d #b8a04a #1b7837 #762a83 #8c6d5a".split()
"""Apart from each other, and from those of the edges, also to colour-blind readers (after Paul Tol and ColorBrewer)."""

_OTHER = "#8a94a0"
_SMALLEST, _LARGEST = 14.0, 60.0
_LONGEST = 2_000
"""Characters of a property that the page holds; the graph has the rest."""
_NAMES = ("name", "title", "key")
_SEED = 1


def write_page(store: Store, size: GraphSize, path: Path) -> None:
    """Write a page of a graph, which is in memory, beside ``path`` and then put it there.

    ``size`` is that of the graph that it was cut from. Raises GraphError if the file can't be written.
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        partial.write_text(page(store, size), encoding="utf-8", newline="\n")
        partial.replace(path)
    except OSError as error:
        raise GraphError(f"{path} can't be written ({error.strerror}).", "Give a file in a folder of yours.") from error
    finally:
        partial.unlink(missing_ok=True)


def page(store: Store, size: GraphSize) -> str:
    """Return the page as HTML; whatever the graph holds is in it as data and never as markup."""
    folder = Path(__file__).parent
    parts = {
        "title": html.escape(store.name),
        "style": (folder / "page.css").read_text(encoding="utf-8"),
        "data": _for_script(picture(store, size)),
        "library": (folder / "cytoscape.min.js").read_text(encoding="utf-8"),
        "script": (folder / "page.js").read_text(encoding="utf-8"),
    }
    text = (folder / "page.html").read_text(encoding="utf-8")
    # Each placeholder's surroundings are cut off first, so that nothing within a part is taken for one.
    found = []
    for name, part in parts.items():
        before, text = text.split(f"{{{{{name}}}}}", 1)
        found += [before, part]
    return "".join([*found, text])


def picture(store: Store, size: GraphSize) -> dict[str, Any]:
    """Return what the page draws: nodes with places, sizes and details, edges with widths, types with colours."""
    nodes = sorted(store.all_nodes(), key=lambda node: node.id)
    edges = sorted(store.all_edges(), key=lambda edge: edge.id)
    importance = store.pagerank(None, 0.15, Direction.BOTH, max(1, len(nodes)))
    greatest = max((edge.weight for edge in edges), default=0.0)
    places = _places(nodes, edges)
    rows = {node.id: row for row, node in enumerate(nodes)}
    return {
        "name": store.name,
        "total_nodes": size.nodes,
        "nodes": [_node(node, importance, places[node.id]) for node in nodes],
        "edges": [_edge(edge, rows, greatest) for edge in edges],
        "node_types": _coloured((node.type for node in nodes), _OF_NODES),
        "edge_types": _coloured((edge.type for edge in edges), _OF_EDGES),
    }


def _node(node: KnowledgeNode, importance: Mapping[str, float], place: tuple[float, float]) -> dict[str, Any]:
    greatest = max(importance.values(), default=1.0)
    share = importance.get(node.id, 0.0)
    said = next((str(node.properties[name]) for name in _NAMES if node.properties.get(name)), node.id)
    return {
        "id": node.id,
        "name": said,
        "type": node.type,
        "labels": list(node.labels),
        "parent_id": node.parent_id,
        "properties": {name: _short(value) for name, value in node.properties.items()},
        "importance": share,
        # The area, and not the width, is what the eye compares.
        "size": round(_SMALLEST + (_LARGEST - _SMALLEST) * (share / greatest) ** 0.5, 1),
        "x": place[0],
        "y": place[1],
    }


def _edge(edge: KnowledgeEdge, rows: Mapping[str, int], greatest: float) -> dict[str, Any]:
    return {
        "source": rows[edge.source],
        "target": rows[edge.target],
        "type": edge.type,
        "directed": edge.directed,
        "width": round(1 + 3 * (edge.weight / greatest if greatest else 0.0), 2),
    }


def _places(nodes: Sequence[KnowledgeNode], edges: Iterable[KnowledgeEdge]) -> dict[str, tuple[float, float]]:
    """Return where each node is drawn: springs along edges (Fruchterman and Reingold, 1991), the same at every run."""
    drawn = nx.Graph()
    drawn.add_nodes_from(node.id for node in nodes)
    for edge in edges:
        weight = drawn.get_edge_data(edge.source, edge.target, {"weight": 0.1})["weight"]
        drawn.add_edge(edge.source, edge.target, weight=weight + min(edge.weight, 1.0))
    room = 150.0 * max(len(nodes), 4) ** 0.5
    # "force" keeps what isn't connected from drifting away
    found = nx.spring_layout(drawn, k=1.6 / max(len(nodes), 1) ** 0.5, iterations=120, seed=_SEED, method="force")
    return {one: (round(float(x) * room, 1), round(float(y) * room, 1)) for one, (x, y) in found.items()}


def _coloured(types: Iterable[str], colours: Sequence[str]) -> list[tuple[str, int, str]]:
    """Return each type with its count and colour, the most frequent first; when colours run out, they share a grey."""
    counts = sorted(Counter(types).items(), key=lambda item: (-item[1], item[0]))
    return [(one, count, colours[row] if row < len(colours) else _OTHER) for row, (one, count) in enumerate(counts)]


def _short(value: Any) -> Any:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return value if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"


def _for_script(value: object) -> str:
    """Return JSON that can't end the script element that it stands in."""
    text = json.dumps(value, ensure_ascii=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
