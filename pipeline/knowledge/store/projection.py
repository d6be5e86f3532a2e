"""GDS projections of knowledge graphs: one for each state of a graph and direction, made at first use.

Those of a corpus are dropped with the corpus, as their names begin as those of pipeline.db.projections do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from neo4j import Record
from neo4j.exceptions import ClientError

from pipeline.db.client import Client
from pipeline.db.projections import is_missing

_BUDGET = 512 * 2**20
"""Bytes of the server's heap for the projections of all graphs."""


def ask_projection(
    client: Client,
    graph_id: str,
    state: str,
    project: Callable[[str], object],
    ask: Callable[[str], list[Record]],
) -> list[Record]:
    """Return what ``ask`` returns of a graph's projection in this state, which ``project`` makes if it is missing.

    ``state`` is the version and direction; those of other versions are dropped. Safe when several ask at once.
    """
    name = f"{_prefix(graph_id)}{state}"
    _ensure(client, graph_id, name, project)
    try:
        return ask(name)
    except ClientError as error:
        # Somebody needed its room, or the server was restarted.
        if not is_missing(error):
            raise
        _ensure(client, graph_id, name, project)
        return ask(name)


def drop_graph_projections(client: Client, graph_id: str) -> None:
    """Drop all projections of a graph."""
    for row in client.read("projections"):
        if row["name"].startswith(_prefix(graph_id)):
            client.read("drop_projection", graph=row["name"])


def read_pagerank(rows: list[Record], limit: int) -> Mapping[str, float]:
    """Return shares of all mass by id, best first, ties by id, from one row of ``ids``, ``scores`` and ``mass``."""
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
        if "already exists" not in (error.message or ""):
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
