"""Named graphs: made, found, listed, published, dropped. A graph's internal id never changes."""

from __future__ import annotations

import difflib
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from pipeline.db.client import Client
from pipeline.db.indexes import drop_indexes
from pipeline.errors import GraphError
from pipeline.knowledge.check import check_text
from pipeline.knowledge.store.projection import drop_graph_projections

_LONGEST_NAME = 200
_DELETE_AT_ONCE = 5_000
_ABANDONED = timedelta(days=1)
_SECONDS_ONLINE = 600
GRAPH_SCHEMA = (
    "constrain_graph_id",
    "constrain_graph_name",
    "constrain_knowledge_node_key",
    "constrain_knowledge_edge_key",
    "index_knowledge_node_type",
    "index_knowledge_edge_type",
)
"""The schema queries that knowledge graphs need."""


@dataclass(frozen=True, slots=True)
class NamedGraph:
    """A graph as it is stored. ``version`` counts its changes; ``dimension`` is None until a node has an embedding."""

    id: str
    name: str
    created_at: str
    version: int
    dimension: int | None

    @property
    def label(self) -> str:
        """Neo4j's label of its nodes, and the name of its full-text index."""
        return f"Graph_{self.id}"

    @property
    def vector_index(self) -> str:
        """Name of its vector index."""
        return f"Graph_{self.id}_vector"

    @classmethod
    def of(cls, properties: Mapping[str, Any]) -> NamedGraph:
        """Take a graph from its node's properties."""
        return cls(
            properties["id"],
            properties.get("name") or properties.get("awaited_name") or "",
            properties["created_at"],
            properties["version"],
            properties.get("dimension"),
        )


def now() -> str:
    """Return the time in ISO 8601, to the microsecond."""
    return datetime.now(UTC).isoformat()


def list_graphs(client: Client) -> list[tuple[NamedGraph, int]]:
    """Return every graph with how many nodes it has, by name."""
    return [(NamedGraph.of(row["graph"]), row["nodes"]) for row in client.read("graphs")]


def find_graph(client: Client, name: str) -> NamedGraph | None:
    """Return the graph of that name, or None."""
    rows = client.read("graph_named", name=name)
    return NamedGraph.of(rows[0]["graph"]) if rows else None


def get_graph(client: Client, name: str) -> NamedGraph:
    """Return the graph of that name; raises GraphError, naming the nearest, if there is none."""
    graph = find_graph(client, name)
    if graph is None:
        names = [known.name for known, _ in list_graphs(client)]
        near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
        known = f"Known: {', '.join(names)}." if names else "There is none yet."
        raise GraphError(f"There is no graph {name!r}.", f"Did you mean {near[0]!r}?" if near else known)
    return graph


def make_graph(client: Client, name: str) -> NamedGraph:
    """Return the graph of that name, which is made if there is none."""
    check_text(name, "A graph's name", _LONGEST_NAME)
    ensure_graph_schema(client)
    return NamedGraph.of(client.write("create_graph", id=_new_id(), name=name, now=now())[0]["graph"])


@contextmanager
def replacing(client: Client, name: str) -> Iterator[NamedGraph]:
    """Yield a new graph that takes the place of the one of that name when all went well.

    Until then readers have the old one; if anything is raised, they keep it, and nothing is left of the new one.
    """
    check_text(name, "A graph's name", _LONGEST_NAME)
    ensure_graph_schema(client)
    before = (datetime.now(UTC) - _ABANDONED).isoformat()
    for row in client.read("abandoned_graphs", name=name, before=before):
        _delete(client, row["id"])
    created = client.write("create_unpublished_graph", id=_new_id(), name=name, now=now())
    graph = NamedGraph.of(created[0]["graph"])
    try:
        yield graph
        replaced = client.write("publish_graph", graph=graph.id, name=name)[0]["replaced"]
    except BaseException:
        _delete(client, graph.id)
        raise
    if replaced:
        _delete(client, replaced)


def drop_graph(client: Client, graph: NamedGraph) -> None:
    """Delete a graph with all that it holds; a drop cut short leaves nothing that can be found."""
    client.write("unpublish_graph", graph=graph.id)
    _delete(client, graph.id)


def ensure_graph_schema(client: Client) -> None:
    """Make the constraints and indexes that all graphs share, where they are missing; wait until they are online."""
    wanted = {query.removeprefix("constrain_").removeprefix("index_"): query for query in GRAPH_SCHEMA}
    states = client.read("index_states", index_names=list(wanted))
    missing = wanted.keys() - {row["name"] for row in states if row["state"] == "ONLINE"}
    for index in sorted(missing):
        client.schema(wanted[index])
        client.read("await_index", index=index, seconds=_SECONDS_ONLINE)


def ensure_vector_index(client: Client, graph: NamedGraph, dimension: int) -> None:
    """Make a graph's vector index where it is missing, and wait until it is online."""
    if not client.read("index_states", index_names=[graph.vector_index]):
        names = {"graph_label": graph.label, "graph_vector": graph.vector_index}
        client.schema("create_graph_vector_index", names, dimension=dimension)
        client.read("await_index", index=graph.vector_index, seconds=_SECONDS_ONLINE)


def ensure_text_index(client: Client, graph: NamedGraph, analyzer: str) -> None:
    """Make a graph's full-text index where it is missing, and wait until it is online."""
    if not client.read("index_states", index_names=[graph.label]):
        client.schema("create_graph_text_index", {"graph_label": graph.label}, analyzer=analyzer)
        client.read("await_index", index=graph.label, seconds=_SECONDS_ONLINE)


def _delete(client: Client, graph_id: str) -> None:
    graph = NamedGraph(graph_id, "", "", 0, None)
    drop_graph_projections(client, graph_id)
    drop_indexes(client, [graph.label, graph.vector_index])
    for query in ("delete_graph_edges", "delete_graph_part"):
        while client.write(query, label=graph.label, limit=_DELETE_AT_ONCE)[0]["deleted"]:
            pass
    client.write("delete_graph", graph=graph_id)


def _new_id() -> str:
    return uuid.uuid4().hex[:12]
