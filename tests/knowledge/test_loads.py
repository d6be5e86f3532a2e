"""Loads that replace a graph: what an interrupted one left is removed by a later one, what goes on is not."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable

import neo4j
import pytest

from pipeline.db.catalogue import find_graph
from pipeline.db.client import Client
from pipeline.knowledge.catalogue import drop_graph, replacing

Cypher = Callable[..., list[neo4j.Record]]
AGE = "MATCH (g:HopRankKnowledgeGraph {id: $id}) SET g.created_at = '2001-01-01T00:00:00+00:00'"


def exists(cypher: Cypher, id_: str) -> bool:
    return bool(cypher("MATCH (g:HopRankKnowledgeGraph {id: $id}) RETURN g", id=id_))


def test_a_load_that_goes_on_is_kept_though_the_clock_was_set(client: Client, cypher: Cypher) -> None:
    with replacing(client, "loads") as first:
        cypher(AGE, id=first.id)
        with replacing(client, "loads"):
            pass
        assert exists(cypher, first.id)

    published = find_graph(client, "loads")
    assert published is not None
    assert published.id == first.id
    drop_graph(client, published)


@pytest.mark.parametrize("writer", ["elsewhere.invalid/1/1.00/abc", "{host}/{pid}/0/abc", None])
def test_what_a_load_left_is_removed_by_a_later_one(client: Client, cypher: Cypher, writer: str | None) -> None:
    with pytest.raises(KeyboardInterrupt), replacing(client, "loads") as left:
        raise KeyboardInterrupt
    cypher(
        "CREATE (:HopRankKnowledgeGraph {id: $id, awaited_name: 'loads', version: 0, writer: $writer})",
        id=left.id,
        writer=writer and writer.format(host=socket.gethostname(), pid=os.getpid()),
    )
    cypher(AGE, id=left.id)

    with replacing(client, "loads") as graph:
        assert not exists(cypher, left.id)
    drop_graph(client, graph)
