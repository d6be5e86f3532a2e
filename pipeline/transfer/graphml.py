"""Write a corpus as GraphML: documents, chunks and entities as nodes, and the edges between them."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from lxml import etree

from pipeline.edges import EDGES, EdgeKind
from pipeline.ids import digest
from pipeline.text.graphml import NAMESPACE, add_data, attribute_declaration, element, text_of, without_forbidden
from pipeline.transfer.formats import Part

_NODES = {
    "document": ("key", "title", "path"),
    "chunk": ("document", "ordinal", "title", "heading", "text"),
    "entity": ("key", "name"),
}
_KEYS = {
    "node": ("kind", *dict.fromkeys(name for names in _NODES.values() for name in names)),
    "edge": ("kind", "score", "count", "position", "about", "mutual", "context"),
}
_TYPES = {
    "ordinal": "long",
    "count": "long",
    "position": "long",
    "score": "double",
    "about": "boolean",
    "mutual": "boolean",
}


def write_graphml(parts: Iterable[Part], path: Path) -> None:
    """Stream ``parts`` into one GraphML file, in their order."""
    with etree.xmlfile(str(path), encoding="utf-8") as file:
        file.write_declaration()
        with file.element(f"{{{NAMESPACE}}}graphml", nsmap={None: NAMESPACE}):
            for owner, names in _KEYS.items():
                for name in names:
                    file.write(attribute_declaration(f"{owner}_{name}", owner, name, _TYPES.get(name, "string")))
            with file.element(f"{{{NAMESPACE}}}graph", {"id": "corpus", "edgedefault": "directed"}):
                for part in parts:
                    for written in _elements(part):
                        file.write(written, pretty_print=True)


def _elements(part: Part) -> Iterator[Any]:
    if part.kind in _NODES:
        node = element("node", id=_id(part))
        values = {"kind": part.kind, **{name: part.value[name] for name in _NODES[part.kind]}}
        yield _with_data(node, "node", values)
    elif part.kind == "edge":
        source, target, kind = part.value["source"], part.value["target"], part.value["kind"]
        label = EDGES[EdgeKind(kind)].target.value
        edge = element("edge", source=_node_id("chunk", source), target=_node_id(label, target))
        yield _with_data(edge, "edge", {name: part.value[name] for name in _KEYS["edge"] if name in part.value})


def _with_data(parent: Any, owner: str, values: dict[str, Any]) -> Any:
    for name, value in values.items():
        add_data(parent, f"{owner}_{name}", without_forbidden(text_of(value)))
    return parent


def _id(part: Part) -> str:
    value = part.value
    return _node_id(part.kind, [value["document"], value["ordinal"]] if part.kind == "chunk" else value["key"])


def _node_id(kind: str, key: Any) -> str:
    return f"{kind[0]}_{digest(kind, *map(str, key if isinstance(key, list) else [key]))}"
