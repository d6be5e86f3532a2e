"""GraphML, as networkx, Gephi, yEd and Cytoscape read it.

Each field is an attribute. Each property is an attribute ``p.NAME``, or ``j.NAME`` if its value needs JSON (see
pipeline.knowledge.store.codec). A graph with both kinds of edges is written as directed; each undirected edge is then
written in both directions, the second marked ``reverse``, which an import skips.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from lxml import etree

from pipeline.errors import GraphError
from pipeline.files import Unreadable, parse_json
from pipeline.knowledge.exchange.json_format import edge_of, mapping_of, node_of
from pipeline.knowledge.records import KnowledgeEdge, KnowledgeNode
from pipeline.knowledge.store.codec import AS_JSON, NATIVE, prefixed_property
from pipeline.text.graphml import NAMESPACE, add_data, attribute_declaration, element, is_legal, kind_of, text_of

_Q = f"{{{NAMESPACE}}}"
_READERS: Mapping[str, Callable[[str], object]] = {
    "boolean": lambda text: text == "true",
    **dict.fromkeys(("int", "long"), int),
    **dict.fromkeys(("float", "double"), float),
}
"""How a value is read, by its type in GraphML; a value of another type is a text."""

_LISTS = frozenset({"labels", "embedding", "child_ids"})


def write_graphml(nodes: Iterable[KnowledgeNode], edges: Iterable[KnowledgeEdge], path: Path) -> None:
    """Write nodes and edges, ordered by id; raises GraphError naming a text with characters that XML forbids."""
    ordered = sorted(edges, key=lambda edge: edge.id)
    directed = not ordered or any(edge.directed for edge in ordered)
    root = element("graphml")
    graph = element("graph", edgedefault="directed" if directed else "undirected")
    keys: dict[tuple[str, str, str], str] = {}
    for node in sorted(nodes, key=lambda node: node.id):
        values = _attributes(mapping_of(node))
        _fill(etree.SubElement(graph, f"{_Q}node", id=_legal(values.pop("id"))), "node", values, keys)
    for edge in ordered:
        values = _attributes(mapping_of(edge))
        ends = {end: _legal(values.pop(end)) for end in ("source", "target")}
        edge_name = _legal(values.pop("id"))
        _fill(etree.SubElement(graph, f"{_Q}edge", ends, id=edge_name), "edge", values, keys)
        if directed and not edge.directed:
            back = {"source": ends["target"], "target": ends["source"]}
            reverse = etree.SubElement(graph, f"{_Q}edge", back, id=f"{edge_name} reverse")
            _fill(reverse, "edge", {**values, "reverse": True}, keys)
    for (owner, name, kind), key in keys.items():
        root.append(attribute_declaration(key, owner, name, kind))
    root.append(graph)
    etree.ElementTree(root).write(os.fsencode(path), encoding="utf-8", xml_declaration=True)


def read_graphml(path: Path) -> tuple[Iterator[KnowledgeNode], Iterator[KnowledgeEdge]]:
    """Return the nodes and edges of a file written by :func:`write_graphml` or another program.

    Unknown attributes become properties, and the default types are ``node`` and ``edge``. Raises GraphError if
    the file is no GraphML.
    """
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=True)
    try:
        root = etree.parse(os.fsencode(path), parser).getroot()
    except etree.XMLSyntaxError as error:
        raise GraphError(f"{path} is no GraphML ({error}).", "Give a graph that was exported.") from error
    if next(root.iter(etree.Entity), None) is not None:
        raise GraphError(f"{path} holds entities of its own (&name;).", "Write out what they stand for.")
    graph = root.find(f"{_Q}graph")
    if graph is None:
        raise GraphError(f"{path} holds no GraphML graph.", "Give a graph that was exported.")
    keys = {key.get("id"): (key.get("attr.name"), key.get("attr.type")) for key in root.iter(f"{_Q}key")}
    directed = graph.get("edgedefault") == "directed"
    nodes = (node_of(_record(node, keys, "node", {})) for node in graph.iter(f"{_Q}node"))
    edges = (
        edge_of(_record(edge, keys, "edge", {"directed": directed}))
        for edge in graph.iter(f"{_Q}edge")
        if ("reverse", True) not in (_value(data, keys) for data in edge.iter(f"{_Q}data"))
    )
    return nodes, edges


def _attributes(record: dict[str, Any]) -> dict[str, Any]:
    properties = dict(prefixed_property(name, value) for name, value in record.pop("properties", {}).items())
    flat: dict[str, Any] = {}
    for name, value in {**record, **properties}.items():
        if isinstance(value, list):  # native in Neo4j, but GraphML has no type for lists
            name = AS_JSON + name.removeprefix(NATIVE) if name.startswith(NATIVE) else name
            value = json.dumps(value, ensure_ascii=False)
        flat[name] = value
    return flat


def _fill(parent: Any, owner: str, values: Mapping[str, Any], keys: dict[tuple[str, str, str], str]) -> None:
    """Add ``values`` to an element as data; ``keys`` collects the declarations that they need."""
    for name, value in values.items():
        key = keys.setdefault((owner, _legal(name), kind_of(value)), f"d{len(keys)}")
        add_data(parent, key, _legal(text_of(value)))


def _record(read: Any, keys: Mapping[str, tuple[str, str]], kind: str, defaults: dict[str, Any]) -> dict[str, Any]:
    attributes: dict[str, Any] = dict(read.attrib)
    if "directed" in attributes:
        attributes["directed"] = attributes["directed"] == "true"
    properties: dict[str, Any] = {}
    for data in read.iter(f"{_Q}data"):
        name, value = _value(data, keys)
        if name.startswith((NATIVE, AS_JSON)):
            properties[name[2:]] = _parsed(name, value) if name.startswith(AS_JSON) else value
        else:
            attributes[name] = _parsed(name, value) if name in _LISTS else value
    fields = KnowledgeNode.__slots__ if kind == "node" else KnowledgeEdge.__slots__
    record = _from_foreign(attributes, fields, {"type": kind, **defaults})
    if properties:
        record["properties"] = {**record.get("properties", {}), **properties}
    return record


def _value(data: Any, keys: Mapping[str, tuple[str, str]]) -> tuple[str, Any]:
    name, kind = keys.get(data.get("key"), (data.get("key"), "string"))
    text = data.text or ""
    if not name:
        raise GraphError(f"The data {text[:60]!r} is of no named attribute.", "Give each key an id and an attr.name.")
    read = _READERS.get(kind, str)
    try:
        return name, read(text)
    except ValueError as error:
        raise _malformed(name, text, f"of type {kind}") from error


def _parsed(name: str, value: object) -> Any:
    try:
        return parse_json(str(value))
    except Unreadable as error:
        raise _malformed(name, value, "JSON") from error


def _malformed(name: str, value: object, kind: str) -> GraphError:
    return GraphError(f"The attribute {name!r} holds {str(value)[:60]!r}, which isn't {kind}.", "Mend the value.")


def _legal(text: str) -> str:
    if not is_legal(text):
        raise GraphError(f"GraphML can't hold the control character in {text[:60]!r}.", "Export the graph as JSON.")
    return text


def _from_foreign(
    attributes: Mapping[str, Any], fields: tuple[str, ...], defaults: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a record's fields from another program's attributes; attributes outside ``fields`` become properties."""
    own = {name: value for name, value in attributes.items() if name in fields and name != "properties"}
    nested = attributes.get("properties")
    properties = dict(nested) if isinstance(nested, Mapping) else {} if nested is None else {"properties": nested}
    properties.update((name, value) for name, value in attributes.items() if name not in fields)
    return {**defaults, **own, **({"properties": properties} if properties else {})}
