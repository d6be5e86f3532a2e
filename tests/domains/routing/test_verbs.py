"""The verbs for servers."""

from __future__ import annotations

import pytest

from pipeline import HopRank
from pipeline.domains.routing.project_graph import ProjectGraph
from pipeline.domains.routing.schema import Project, Relation, RelationType
from pipeline.errors import GraphError
from tests.domains.routing.town import Town
from tests.domains.verbs import asked

CLOSING = "which accounts are set to zero when a year ends"


def test_the_projects_that_answer_are_searched(hoprank: HopRank, town: Town) -> None:
    found = asked(hoprank, "routing", "search", question=CLOSING, graph=town.graph, top_k=3)
    named = asked(hoprank, "routing", "search", question=CLOSING, projects=["harbour"], graph=town.graph, top_k=3)

    assert found["items"][0]["metadata"]["project"] == "ledger"
    assert {item["metadata"]["project"] for item in named["items"]} == {"harbour"}


def test_what_was_of_use_weighs_the_relation_that_led_there(
    hoprank: HopRank, projects: ProjectGraph, graph_name: str
) -> None:
    for name in ("harbour", "almanac"):
        projects.add_node(Project(name))
    projects.add_edge(Relation("harbour", "almanac", RelationType.USES, 0.6))
    projects.add_edge(Relation("harbour", "almanac", RelationType.LEARNS_FROM, 0.6))
    given = {"source": "harbour", "project": "almanac", "rank": 2, "graph": graph_name}

    useful = asked(hoprank, "routing", "used", question="When is high water?", **given)["weights"]
    other = {**given, "question": "Who keeps the gauge?", "useful": False, "relation": "uses"}
    (useless,) = asked(hoprank, "routing", "used", **other)["weights"]

    assert {one["type"] for one in useful} == {"uses", "learns_from"}
    assert all(one["weight"] > 0.6 for one in useful)
    assert useless["weight"] < 0.6
    assert [(event["useful"], event["rank"]) for event in useless["events"]] == [(False, 2), (True, 2)]
    related = asked(hoprank, "routing", "related", project="harbour", graph=graph_name)["projects"]
    assert {one["project"] for one in related} == {"almanac"}
    with pytest.raises(GraphError, match="nobody"):
        asked(hoprank, "routing", "used", question="?", **{**given, "project": "nobody"})


def test_projects_are_related(hoprank: HopRank, town: Town) -> None:
    related = asked(hoprank, "routing", "related", project="harbour", graph=town.graph)["projects"]

    assert ("almanac", "uses") in {(one["project"], one["type"]) for one in related}
