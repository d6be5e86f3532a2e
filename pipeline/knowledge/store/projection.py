"""GDS projections of knowledge graphs: one for each version of a graph and direction, created on first use.

Their names share a prefix with those of pipeline.db.projections, so dropping a corpus drops its projections here too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from neo4j import Record
from neo4j.exceptions import ClientError

from pipeline.db.client import Client
from pipeline.db.projections import is_duplicate, is_missing

_BUDGET = 512 * 2**20
"""Bytes of the server's heap for the projections of all graphs."""


def run_on_projection(
    client: Client,
    graph_id: str,
    state: str,
    project: Callable[[str], object],
    run: Callable[[str], list[Record]],
) -> list[Record]:
    """Return the rows of ``run`` on a graph's projection; ``project`` creates the projection if it is missing.

    Both take the projection's name. ``state`` is ``VERSION-DIRECTION``; the graph's projections of other versions are
    dropped. Safe for concurrent callers.
    """
    name = f"{_prefix(graph_id)}{state}"
    _ensure(client, graph_id, name, project)
    try:
        return run(name)
    except ClientError as error:
        # Another caller evicted the projection, or the server was restarted.
        if not is_missing(error):
            raise
        _ensure(client, graph_id, name, project)
        return run(name)


def drop_graph_projections(client: Client, graph_id: str) -> None:
    """Drop all projections of a graph."""
    for row in client.read("projections"):
        if row["name"].startswith(_prefix(graph_id)):
            client.read("drop_projection", graph=row["name"])


def read_pagerank(rows: list[Record], limit: int) -> Mapping[str, float]:
    """Return each score's share of the total by id, best first, ties by id.

    ``rows`` holds at most one row, with the lists ``ids`` and ``scores`` and the total ``mass``.
    """
    row = rows[0] if rows else None
    if row is None or not row["mass"]:
        return {}
    shares: dict[str, float] = {
        node: score / row["mass"] for node, score in zip(row["ids"], row["scores"], strict=True)
    }
    return dict(sorted(shares.items(), key=lambda item: (-item[1], item[0]))[:limit])


def _ensure(client: Client, graph_id: str, name: str, project: Callable[[str], object]) -> None:
    existing = client.read("projections")
    if any(row["name"] == name for row in existing):
        return
    _make_room(client, graph_id, name, existing)
    try:
        project(name)
    except ClientError as error:
        if not is_duplicate(error):
            raise


def _make_room(client: Client, graph_id: str, name: str, existing: list[Record]) -> None:
    own = [row for row in existing if "-view-" in row["name"]]
    total = sum(row["bytes"] for row in own)
    version = name.rsplit("-", 1)[0]
    for row in own:
        outdated = row["name"].startswith(_prefix(graph_id)) and row["name"].rsplit("-", 1)[0] != version
        if outdated or total > _BUDGET:
            client.read("drop_projection", graph=row["name"])
            total -= row["bytes"]


def _prefix(graph_id: str) -> str:
    return f"hoprank-{graph_id}-view-"
