"""Write a corpus as GraphML: documents, chunks and entities as nodes, and the edges between them."""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lxml import etree

from pipeline.edges import EDGES, EdgeKind
from pipeline.ids import digest
from pipeline.records import metadata_of
from pipeline.text.graphml import NAMESPACE, add_data, attribute_declaration, element, text_of, without_forbidden
from pipeline.transfer.formats import Part

_NODES = {
    "document": ("key", "title", "path"),
    "chunk": ("document", "ordinal", "title", "heading", "text"),
    "entity": ("key", "name"),
}
_KEYS = {
    "node": ("kind", *dict.fromkeys(name for names in _NODES.values() for name in names), "metadata"),
    "edge": ("kind", "score", "count", "position", "about", "mutual", "context"),
}
_TYPES = {
    **dict.fromkeys(("ordinal", "count", "position"), "long"),
    "score": "double",
    **dict.fromkeys(("about", "mutual"), "boolean"),
}


def write_graphml(parts: Iterable[Part], path: Path) -> None:
    """Stream ``parts`` into one GraphML file, in their order."""
    with etree.xmlfile(os.fsencode(path), encoding="utf-8") as file:
        file.write_declaration()
        with file.element(f"{{{NAMESPACE}}}graphml", nsmap={None: NAMESPACE}):
            for owner, names in _KEYS.items():
                for name in names:
                    file.write(attribute_declaration(f"{owner}_{name}", owner, name, _TYPES.get(name, "string")))
            with file.element(f"{{{NAMESPACE}}}graph", {"id": "corpus", "edgedefault": "directed"}):
                for part in parts:
                    if part.kind in _NODES or part.kind == "edge":
                        file.write(_element(part), pretty_print=True)


def _element(part: Part) -> Any:
    value = part.value
    if part.kind in _NODES:
        key = [value["document"], value["ordinal"]] if part.kind == "chunk" else value["key"]
        owner, written = "node", element("node", id=_node_id(part.kind, key))
        fields = {"kind": part.kind, **{name: value[name] for name in _NODES[part.kind]}}
        if metadata := metadata_of(value):
            fields["metadata"] = json.dumps(metadata, ensure_ascii=False, sort_keys=True)
    else:
        target = _node_id(EDGES[EdgeKind(value["kind"])].target.value, value["target"])
        owner, written = "edge", element("edge", source=_node_id("chunk", value["source"]), target=target)
        fields = {name: value[name] for name in _KEYS["edge"] if name in value}
    for name, field in fields.items():
        add_data(written, f"{owner}_{name}", without_forbidden(text_of(field)))
    return written


def _node_id(kind: str, key: Any) -> str:
    return f"{kind[0]}_{digest(kind, *map(str, key if isinstance(key, list) else [key]))}"
