"""The verbs for servers."""

from __future__ import annotations

from pipeline import HopRank
from tests.domains.routing.town import Town
from tests.domains.verbs import asked

CLOSING = "which accounts are set to zero when a year ends"


def test_the_projects_that_answer_are_searched(hoprank: HopRank, town: Town) -> None:
    found = asked(hoprank, "routing", "search", question=CLOSING, graph=town.graph, top_k=3)
    named = asked(hoprank, "routing", "search", question=CLOSING, projects=["harbour"], graph=town.graph, top_k=3)

    assert found["items"][0]["metadata"]["project"] == "ledger"
    assert {item["metadata"]["project"] for item in named["items"]} == {"harbour"}


def test_projects_are_related(hoprank: HopRank, town: Town) -> None:
    related = asked(hoprank, "routing", "related", project="harbour", graph=town.graph)["projects"]

    assert ("almanac", "uses") in {(one["project"], one["type"]) for one in related}
