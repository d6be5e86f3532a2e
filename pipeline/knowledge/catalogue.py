"""The life of named graphs, which ``pipeline.db.catalogue`` looks up: create, publish and drop them; types, indexes."""

import math
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from pipeline.db.catalogue import DERIVED, GRAPH_SCHEMA_VERSION, LONGEST_NAME, NamedGraph, derived_name, find_graph
from pipeline.db.client import Client
from pipeline.db.indexes import ensure_declared, ensure_indexes
from pipeline.db.projections import drop_projections
from pipeline.db.slots import retire_slot
from pipeline.db.writers import is_stale, new_writer
from pipeline.errors import GraphError
from pipeline.knowledge.check import check_text
from pipeline.knowledge.clock import now
from pipeline.knowledge.store.codec import MAX_TYPES, edge_index_of

_DELETE_BATCH = 5_000  # nodes or edges in a transaction; chosen by hand, not measured
_ABANDONED_AFTER = timedelta(days=1)  # no load takes as long; chosen by hand
GRAPH_SCHEMA = (
    "constrain_graph_id",
    "constrain_graph_name",
    "constrain_knowledge_node_key",
    "index_knowledge_node_type",
)
"""Schema queries that knowledge graphs need."""


def make_graph(client: Client, name: str, kind: str = "") -> NamedGraph:
    """Return the graph of that name; create it if there is none, for the domain ``kind`` if one is given.

    Raises GraphError if ``name`` can't be a graph's, or if the graph of that name isn't of this ``kind``.
    """
    new = _new(client, name)
    return of_kind(client, NamedGraph.of(client.write("create_graph", **new, kind=kind or None)[0]["graph"]), kind)


def derived_graph(client: Client, name: str, part: str) -> NamedGraph:
    """Return the graph ``part`` that a domain keeps beside what has this name; it is created if it is missing."""
    derived = derived_name(name, part)
    if graph := find_graph(client, derived):
        return graph
    return NamedGraph.of(client.write("create_graph", **_new(client, derived, derived=True), kind=part)[0]["graph"])


def of_kind(client: Client, graph: NamedGraph, kind: str) -> NamedGraph:
    """Return a graph that the domain ``kind`` may write to: it made it, or takes an empty one that none has made.

    Every graph is of the kind "". Raises GraphError if what it holds is another's.
    """
    if kind and not graph.kind:
        rows = client.write("claim_graph", graph=graph.id, label=graph.label, kind=kind)
        graph = NamedGraph.of(rows[0]["graph"]) if rows else graph
    if kind in ("", graph.kind):
        return graph
    holds = f"is of the domain {graph.kind}" if graph.kind else "holds nodes of another origin"
    raise GraphError(
        f"The graph {graph.name!r} {holds}, not of the domain {kind}.",
        f"Give another name, or drop that graph first: hoprank graph drop {graph.name!r}.",
    )


def check_layout(graph: NamedGraph) -> NamedGraph:
    """Return a graph if it has the layout of this version; otherwise raise GraphError."""
    if graph.schema_version != GRAPH_SCHEMA_VERSION:
        raise GraphError(
            f"The graph {graph.name!r} is of schema version {graph.schema_version}, not {GRAPH_SCHEMA_VERSION}.",
            f"Use the HopRank that made it, or drop it and make it anew: hoprank graph drop {graph.name}.",
        )
    return graph


def add_types(client: Client, graph: NamedGraph, labels: Iterable[str], edge_types: Iterable[str]) -> NamedGraph:
    """Let a graph have these labels and relationship types; return the updated graph.

    A relationship type gets an index that finds its edges by key. It stays when the graph is dropped, as the type does:
    to drop it would make the server plan all its queries anew. Raises GraphError beyond ``MAX_TYPES`` of either.
    """
    labels, edge_types = frozenset(labels), frozenset(edge_types)
    if labels <= graph.node_labels and edge_types <= graph.edge_types:
        return graph
    # Two writers that bring types at once could exceed the limit together.
    with client.locking("lock_graph_types"):
        rows = client.read("graph_state", graph=graph.id)
        if not rows:
            return graph
        now_stored = NamedGraph.of(rows[0]["graph"])
        for kind, types in (("node", now_stored.node_labels | labels), ("edge", now_stored.edge_types | edge_types)):
            if len(types) > MAX_TYPES:
                raise GraphError(
                    f"The graph {graph.name!r} would have {len(types):,} {kind} types; {MAX_TYPES} are the most.",
                    "Neo4j never forgets a type: keep what varies in a property.",
                )
        new = sorted(edge_types - now_stored.edge_types)
        names = {edge_index_of(name): {"edge_index": edge_index_of(name), "edge_type": name} for name in new}
        create = {index: partial(client.schema, "create_edge_index", names[index]) for index in names}
        ensure_indexes(client, create)
        rows = client.write("add_graph_types", graph=graph.id, labels=sorted(labels), edge_types=sorted(edge_types))
    return NamedGraph.of(rows[0]["graph"])


@contextmanager
def replacing(client: Client, name: str) -> Iterator[NamedGraph]:
    """Yield a new, unpublished graph; publish it under ``name`` on success.

    Readers see the old graph until then; publishing deletes it. On any error the new graph is deleted and the old one
    stays.
    """
    before = (datetime.now(UTC) - _ABANDONED_AFTER).isoformat()
    for row in client.read("abandoned_graphs", name=name, before=before):
        # A load that goes on in this machine only looks so old after the clock was set.
        if row["writer"] is None or is_stale(row["writer"], math.inf):
            _delete(client, row["id"])
    with new_writer() as writer:
        graph = NamedGraph.of(client.write("create_unpublished_graph", **_new(client, name), writer=writer)[0]["graph"])
        try:
            yield graph
            replaced = client.write("publish_graph", graph=graph.id, name=name)[0]["replaced"]
        except BaseException:
            _delete(client, graph.id)
            raise
    if replaced:
        _delete(client, replaced)


def drop_graph(client: Client, graph: NamedGraph) -> None:
    """Delete a graph and its contents; an interrupted drop leaves only unpublished remains."""
    client.write("unpublish_graph", graph=graph.id)
    _delete(client, graph.id)


def _delete(client: Client, graph_id: str) -> None:
    graph = NamedGraph(graph_id, "", "", 0, None)
    drop_projections(client, graph_id)
    for query in ("delete_graph_edges", "delete_graph_part"):
        client.delete_in_batches(query, _DELETE_BATCH, label=graph.label)
    retire_slot(client, graph_id)
    client.write("delete_graph", graph=graph_id)


def _new(client: Client, name: str, *, derived: bool = False) -> dict[str, Any]:
    """Return the parameters of the query that creates a graph, once what all graphs share exists."""
    check_text(name.partition(DERIVED)[0] if derived else name, "A graph's name", LONGEST_NAME)
    if DERIVED in name and not derived:
        raise GraphError(
            f"A graph can't be named {name[:50]!r}: {DERIVED!r} marks the graphs that HopRank derives from others.",
            f"Leave {DERIVED!r} out.",
        )
    ensure_declared(client, GRAPH_SCHEMA)
    return {"id": uuid.uuid4().hex[:12], "name": name, "now": now(), "schema_version": GRAPH_SCHEMA_VERSION}
