"""Communities, by GDS on the server and by networkx without it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import pytest

from pipeline import HopRank, KnowledgeEdge, KnowledgeGraph, KnowledgeNode
from pipeline.db.client import Client
from pipeline.errors import GraphError

Filled = Callable[..., KnowledgeGraph]

CLIQUES = ["abcd", "efg", "hij"]


def edges() -> list[KnowledgeEdge]:
    """Three groups whose members all know each other, in a chain of light edges."""
    within = [KnowledgeEdge(*pair, "knows") for group in CLIQUES for pair in combinations(group, 2)]
    return [*within, KnowledgeEdge("d", "e", "met", weight=0.1), KnowledgeEdge("g", "h", "met", weight=0.1)]


def test_groups_are_found_with_and_without_gds(filled: Filled, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = filled(edges(), [KnowledgeNode("z", "alone")])
    wanted = [list("abcd"), list("efg"), list("hij"), ["z"]]

    assert graph.communities() == wanted
    assert graph.to_memory().communities() == wanted
    monkeypatch.setattr(client, "has_gds", False)
    assert graph.communities() == wanted
    assert graph.importance() == pytest.approx(graph.to_memory().importance())


def test_a_lower_resolution_makes_larger_ones(filled: Filled) -> None:
    graph = filled(edges())

    assert len(graph.communities(gamma=0.01)) < len(graph.communities()) < len(graph.communities(gamma=10))


def test_where_no_two_belong_together_each_is_alone(filled: Filled) -> None:
    graph = filled([], [KnowledgeNode(id_, "t") for id_ in "cab"])

    assert graph.communities() == graph.to_memory().communities() == [["a"], ["b"], ["c"]]


def test_only_what_is_visible_is_grouped(filled: Filled) -> None:
    graph = filled(edges(), [KnowledgeNode("j", "gone", created_at="2020-01-01", expired_at="2021-01-01")])

    assert graph.communities() == [list("abcd"), list("efg"), list("hi")]


def test_an_empty_graph_has_none(graph: KnowledgeGraph) -> None:
    assert graph.communities() == []
    assert graph.to_memory().communities() == []
    with pytest.raises(GraphError, match="gamma is 0"):
        graph.communities(gamma=0)


def test_a_corpus_has_communities_too(hoprank: HopRank, library: str) -> None:
    opened = KnowledgeGraph.open(library, client=hoprank.client)

    assert {id_ for group in opened.communities() for id_ in group} == {node.id for node in opened.nodes()}
