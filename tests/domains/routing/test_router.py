"""Routed searches on a live server: which projects are searched, where hits are from, and what is said of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import pytest

from pipeline import HopRank
from pipeline.db.catalogue import drop_corpus, get_corpus, get_graph
from pipeline.domains.routing.project_graph import ProjectGraph
from pipeline.domains.routing.router import Router, search_routed
from pipeline.domains.routing.schema import Project, Relation, RelationType
from pipeline.errors import GraphError, QuestionError
from pipeline.flows import maintain
from pipeline.knowledge.catalogue import drop_graph
from pipeline.retrieve.results import RetrieverResult
from tests.domains.routing.town import Town

CLOSING = "which accounts are set to zero when a year ends"


def searched(result: RetrieverResult) -> list[str]:
    return [one["project"] for one in result.metadata["routing"]["searched"]]


@pytest.fixture(scope="module")
def router(hoprank: HopRank, town: Town) -> Router:
    return Router(hoprank, town.graph)


@pytest.fixture
def own_graph(hoprank: HopRank, town: Town, request: pytest.FixtureRequest) -> Iterator[ProjectGraph]:
    """A graph of one test's own, of the projects harbour and ledger."""
    graph = ProjectGraph.open(hoprank, f"{town.graph}-{request.node.name[:40]}")
    for name in ("harbour", "ledger"):
        graph.add_node(Project(name, corpus=town.corpus(name)))
    yield graph
    drop_graph(hoprank.client, get_graph(hoprank.client, graph.graph.name))


def test_the_project_that_answers_is_searched_and_no_other(router: Router) -> None:
    result = router.search(CLOSING)

    assert searched(result) == ["ledger"]
    assert result.items[0].metadata["project"] == "ledger"
    assert result.items[0].metadata["document"] == "entries.md"
    assert len(result.metadata["routing"]["passed_over"]) == 6


def test_each_hit_says_where_it_is_from_and_why(router: Router, town: Town) -> None:
    item = router.search("when does the moon cross the meridian", source="harbour").items[0]

    assert (item.metadata["project"], item.metadata["corpus"]) == ("almanac", town.corpus("almanac"))
    assert item.metadata["relation"] == "uses"
    assert item.metadata["route"][0] == "harbour uses almanac: tides follow the moon"


def test_source_code_answers_by_its_functions(router: Router) -> None:
    item = router.search("next transit of the moon").items[0]

    assert (item.metadata["document"], item.metadata["document_metadata"]) == ("moon.py", {"language": "python"})


def test_all_projects_are_searched_on_request(router: Router) -> None:
    result = router.search("what happens when a gauge does not answer", mode="all", top_k=20)

    assert len(searched(result)) == 7
    assert len({item.metadata["project"] for item in result.items}) > 3


def test_named_projects_alone_are_searched_by_the_oracle(router: Router) -> None:
    result = router.search(CLOSING, mode="oracle", projects=["kiln", "loom"])

    assert set(searched(result)) == {"kiln", "loom"}
    assert {item.metadata["project"] for item in result.items} <= {"kiln", "loom"}


def test_hits_come_in_the_order_of_their_scores(router: Router) -> None:
    items = router.search("how is a list stored", mode="all", top_k=12).items

    assert [item.metadata["rank"] for item in items] == list(range(1, len(items) + 1))
    scores = [item.metadata["score"] for item in items]
    assert scores == sorted(scores, reverse=True)


def test_a_filter_that_the_chosen_projects_lack_widens_the_search(router: Router) -> None:
    result = router.search(CLOSING, filters={"language": "python"})

    assert {item.metadata["project"] for item in result.items} == {"almanac"}
    assert result.metadata["routing"]["widened"] == "ledger found nothing"


def test_a_relevance_that_no_project_reaches_is_looked_for_in_all_and_told(router: Router) -> None:
    result = router.search("Recommend a good moisturiser for dry skin", min_relevance=0.5)

    assert result.items == ()
    assert len(searched(result)) == 7
    assert result.metadata["relevance"] < 0.06
    assert result.metadata["warnings"][0].startswith("These projects seem to know nothing about this")
    assert router.search(CLOSING, min_relevance=0.06).items


def test_the_oracle_never_searches_other_projects(router: Router) -> None:
    result = router.search(CLOSING, mode="oracle", projects=["kiln"], filters={"language": "python"})

    assert result.items == ()
    assert searched(result) == ["kiln"]
    assert result.metadata["routing"]["widened"] is None


def test_the_oracle_names_projects_without_an_index(hoprank: HopRank, own_graph: ProjectGraph) -> None:
    own_graph.add_node(Project("new", path="/nowhere"))
    router = Router(hoprank, own_graph.graph.name)

    with pytest.raises(GraphError, match=r"No named project can be searched: new \(there is no index yet\)"):
        router.search(CLOSING, mode="oracle", projects=["new"])

    assert searched(router.search(CLOSING, mode="oracle", projects=["new", "ledger"])) == ["ledger"]


def test_a_project_without_an_index_is_told(hoprank: HopRank, own_graph: ProjectGraph) -> None:
    own_graph.add_node(Project("new", path="/nowhere"))

    result = Router(hoprank, own_graph.graph.name).search(CLOSING)

    assert result.metadata["routing"]["unindexed"] == {"new": "there is no index yet"}
    assert searched(result) == ["ledger"]


def test_a_change_of_the_graph_is_seen_by_the_next_search(hoprank: HopRank, own_graph: ProjectGraph) -> None:
    router = Router(hoprank, own_graph.graph.name)
    router.search(CLOSING)

    own_graph.graph.remove_node("ledger")

    assert searched(router.search(CLOSING)) == ["harbour"]


def test_a_relation_with_more_weight_counts_more(hoprank: HopRank, own_graph: ProjectGraph) -> None:
    router = Router(hoprank, own_graph.graph.name)
    before = router._route("entry", "graph", "harbour", ())[1]
    own_graph.add_edge(Relation("harbour", "ledger", RelationType.LEARNS_FROM, 0.5))
    between = router._route("entry", "graph", "harbour", ())[1]
    own_graph.add_edge(Relation("harbour", "ledger", RelationType.LEARNS_FROM, 1.0))
    after = router._route("entry", "graph", "harbour", ())[1]

    shares = [{one.project.id: one.share for one in route.considered}["ledger"] for route in (before, between, after)]
    assert shares == sorted(set(shares))


@pytest.mark.slow
def test_a_corpus_that_is_renamed_or_dropped_is_not_searched(
    hoprank: HopRank, own_graph: ProjectGraph, new_corpus: Callable[[], AbstractContextManager[str]], tmp_path: Any
) -> None:
    (tmp_path / "a.md").write_text("Accounts of income are set to zero when a year ends.", encoding="utf-8")
    with new_corpus() as name, new_corpus() as other:
        hoprank.ingest(tmp_path, corpus=name)
        own_graph.add_node(Project("third", corpus=name))
        router = Router(hoprank, own_graph.graph.name)
        assert "third" in searched(router.search(CLOSING))

        maintain.rename(hoprank.client, name, other)
        assert router.search(CLOSING).metadata["routing"]["unindexed"] == {"third": "there is no index yet"}
        drop_corpus(hoprank.client, get_corpus(hoprank.client, other))
        assert searched(router.search(CLOSING)) == ["ledger"]


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"source": "ledgr"}, GraphError, "no project 'ledgr'"),
        ({"mode": "oracle", "projects": ["nobody"]}, GraphError, "no project 'nobody'"),
        ({"mode": "oracle"}, GraphError, "oracle searches the projects that are named"),
        ({"mode": "some"}, QuestionError, "no routing 'some'"),
        ({"mode": "graph", "projects": ["kiln"]}, QuestionError, "graph chooses the projects itself"),
        ({"mode": "all", "projects": ["kiln"]}, QuestionError, "all chooses the projects itself"),
        ({"top_k": 0}, QuestionError, "top_k is 0"),
    ],
)
def test_wrong_input_is_named(router: Router, options: dict[str, Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        router.search(CLOSING, **options)


def test_a_graph_that_is_missing_or_empty_is_named(hoprank: HopRank, town: Town) -> None:
    name = f"{town.graph}-empty"
    with pytest.raises(GraphError, match="There is no graph"):
        Router(hoprank, name).search(CLOSING)
    ProjectGraph.open(hoprank, name)
    try:
        with pytest.raises(GraphError, match="holds no project"):
            Router(hoprank, name).search(CLOSING)
    finally:
        drop_graph(hoprank.client, get_graph(hoprank.client, name))


def test_an_empty_question_is_refused(hoprank: HopRank) -> None:
    with pytest.raises(QuestionError, match="empty"):
        search_routed(hoprank, " ")
