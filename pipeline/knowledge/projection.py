"""GDS projections of knowledge graphs: one for each state of a graph and direction, made at first use.

They are named so that they share the room of the corpora's projections (see pipeline.retrieve.projection).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from neo4j import Record
from neo4j.exceptions import ClientError

from pipeline.graph.client import Client

_PREFIX = "hoprank-graph"
_BUDGET = 512 * 2**20
"""Bytes of the server's heap for the projections of all graphs."""

Project = Callable[[str], object]
"""Makes the projection of this name."""


def projection_of(client: Client, graph_id: str, state: str, project: Project) -> str:
    """Return the name of a graph's projection in this state, made if it is missing; drop those of its other states.

    ``state`` is the version and direction. Safe when two ask at once.
    """
    name = f"{_PREFIX}-{graph_id}-{state}"
    existing = client.read("projections")
    if all(row["name"] != name for row in existing):
        _make_room(client, graph_id, state, existing)
        try:
            project(name)
        except ClientError as error:
            if "already exists" not in (error.message or ""):
                raise
    return name


def drop_graph_projections(client: Client, graph_id: str) -> None:
    """Drop all projections of a graph."""
    for row in client.read("projections"):
        if row["name"].startswith(f"{_PREFIX}-{graph_id}-"):
            client.read("drop_projection", graph=row["name"])


def read_pagerank(rows: list[Record], limit: int) -> Mapping[str, float]:
    """Return shares of all mass by id, best first, ties by id, from one row of ``ids``, ``scores`` and ``mass``."""
    row = rows[0] if rows else None
    if row is None or not row["mass"]:
        return {}
    shares: dict[str, Any] = {node: score / row["mass"] for node, score in zip(row["ids"], row["scores"], strict=True)}
    return dict(sorted(shares.items(), key=lambda item: (-item[1], item[0]))[:limit])


def _make_room(client: Client, graph_id: str, state: str, existing: list[Record]) -> None:
    own = [row for row in existing if row["name"].startswith(f"{_PREFIX}-")]
    total = sum(row["bytes"] for row in own)
    version = state.split("-", 1)[0]
    for row in own:
        same_graph = row["name"].startswith(f"{_PREFIX}-{graph_id}-")
        outdated = same_graph and not row["name"].startswith(f"{_PREFIX}-{graph_id}-{version}-")
        if outdated or total > _BUDGET:
            client.read("drop_projection", graph=row["name"])
            total -= row["bytes"]
