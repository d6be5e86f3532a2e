"""Draw a graph as one HTML page: the page embeds Cytoscape.js and needs no network."""

import html
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Set
from pathlib import Path
from typing import Any

from pipeline.errors import GraphError
from pipeline.knowledge.records import Direction, GraphSize, KnowledgeNode
from pipeline.knowledge.store.protocol import Store
from pipeline.knowledge.view.layout import arrange
from pipeline.resources import filled
from pipeline.temporary import replacing

_HERE = Path(__file__).parent

CYTOSCAPE = _HERE / "cytoscape.min.js"
"""The library that draws, Cytoscape.js."""

SHARED = (CYTOSCAPE, *(_HERE / name for name in ("theme.css", "graph.css", "graph.js")))
"""The files that the page of a graph embeds, and that the explorer of ``hoprank serve`` sends."""

_COLOURS = 10
"""Colours of the theme for types of nodes, and as many for types of edges.

They are distinguishable together, also for colour-blind readers (after Paul Tol and ColorBrewer).
"""

_OWN_COLOURS = frozenset(("chunk", "entity", "document"))
"""Types of nodes of a corpus, whose colours are those of the explorer; the first three of the palette are the same."""

_MIN_SIZE, _MAX_SIZE = 14.0, 60.0  # pixels across; chosen by eye
_MAX_PROPERTY_LENGTH = 2_000  # characters in the page; longer values are cut
_NAMES = ("name", "title", "key")


def write_page(store: Store, size: GraphSize, path: Path) -> None:
    """Write the page of a part of a graph of this ``size``, atomically; raises GraphError if it can't be written."""
    try:
        with replacing(path) as partial:
            partial.write_text(page(store, size), encoding="utf-8", newline="\n")
    except OSError as error:
        raise GraphError(f"{path} can't be written ({error.strerror}).", "Give a file in a folder of yours.") from error


def page(store: Store, size: GraphSize) -> str:
    """Return the page as HTML; it holds the graph's texts as data, never as markup."""
    data = json.dumps(picture(store, size), ensure_ascii=False)
    for character in "<>&\u2028\u2029":  # so that no text can close the script element that holds it
        data = data.replace(character, f"\\u{ord(character):04x}")
    parts = {
        "title": html.escape(store.name),
        "style": _text("theme.css", "graph.css", "page.css"),
        "data": data,
        "library": CYTOSCAPE.read_text(encoding="utf-8"),
        # One module: what the first exports, the second uses.
        "script": re.sub(r"^export ", "", _text("graph.js", "page.js"), flags=re.MULTILINE),
    }
    return filled(_text("page.html"), parts)


def _text(*names: str) -> str:
    return "".join((_HERE / name).read_text(encoding="utf-8") for name in names)


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
    sizes = [_size(importance.get(node.id, 0.0) / most_important) for node in nodes]
    places = arrange([node.id for node in nodes], ((edge.source, edge.target) for edge in edges), sizes)
    rows = {node.id: row for row, node in enumerate(nodes)}
    return {
        "name": store.name,
        "total_nodes": size.nodes,
        "nodes": [
            {
                **_node(node),
                "x": round(float(x), 1),
                "y": round(float(y), 1),
                "pagerank": pagerank.get(node.id, 0.0),
                "size": size_,
            }
            for node, (x, y), size_ in zip(nodes, places, sizes, strict=True)
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
        "node_types": _coloured((node.type for node in nodes), "node", _OWN_COLOURS),
        "edge_types": _coloured((edge.type for edge in edges), "edge"),
    }


def _size(importance: float) -> float:
    # Readers compare areas, not widths, so the width grows with the square root.
    return round(_MIN_SIZE + (_MAX_SIZE - _MIN_SIZE) * math.sqrt(importance), 1)


def _stated(node: KnowledgeNode) -> float:
    """Return the importance of a node by its property of that name; 0 if it states none."""
    value: Any = node.properties.get("importance")
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0


def _node(node: KnowledgeNode) -> dict[str, Any]:
    return {
        "id": node.id,
        "name": next((str(node.properties[name]) for name in _NAMES if node.properties.get(name)), node.id),
        "type": node.type,
        "labels": list(node.labels),
        "parent_id": node.parent_id,
        "properties": {name: _short(value) for name, value in node.properties.items()},
    }


def _coloured(types: Iterable[str], group: str, own: Set[str] = frozenset()) -> list[tuple[str, int, str]]:
    """Return each type with its count and the name of its colour in ``theme.css``, the most frequent first.

    Those of ``own`` have colours of their name; types beyond the palette share a grey.
    """
    counts = sorted(Counter(types).items(), key=lambda item: (-item[1], item[0]))
    others = iter([*range(1, _COLOURS + 1)] if own.isdisjoint(name for name, _ in counts) else range(4, _COLOURS + 1))
    return [(name, count, name if name in own else f"{group}-{next(others, 'other')}") for name, count in counts]


def _short(value: Any) -> Any:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return value if len(text) <= _MAX_PROPERTY_LENGTH else f"{text[:_MAX_PROPERTY_LENGTH]} …"
