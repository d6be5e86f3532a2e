"""The verbs for servers."""

from __future__ import annotations

import math
import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from pipeline import HopRank, Memory, Tools
from pipeline.db.catalogue import find_graph
from pipeline.domains.tools.build import build_catalogue
from pipeline.domains.tools.settings import ToolSettings
from pipeline.errors import GraphError, SourceError
from tests.domains.verbs import asked

from .village import VILLAGE

TIDES = {
    "name": "tide_at",
    "description": "The height of the tide at a port, at a time.",
    "inputSchema": {"type": "object", "properties": {"port": {"type": "string"}}, "required": ["port"]},
}
WEATHER = {"name": "weather_at", "description": "The weather at a port.", "inputSchema": {"type": "object"}}


@pytest.fixture
def graph(hoprank: HopRank) -> Iterator[str]:
    """The name of the village's graph of tools."""
    made = hoprank.graph(f"tools-{uuid.uuid4().hex[:12]}", kind="tools")
    build_catalogue(lambda: made, VILLAGE, hoprank.settings.section(ToolSettings))
    yield made.name
    made.drop()


def test_tools_are_found_and_chained(hoprank: HopRank, graph: str) -> None:
    task = "find the place of an address"

    found = asked(hoprank, "tools", "find", task=task, top_k=3, graph=graph)
    chains = asked(hoprank, "tools", "chain", task=task, limit=1, graph=graph)

    assert "geocode_address" in str(found["tools"][0])
    assert len(chains["chains"]) == 1
    assert "geocode_address" in str(chains["chains"][0])


def test_an_agent_tells_the_tools_of_a_server_and_other_servers_stay(hoprank: HopRank, graph: str) -> None:
    def build(*tools: Any, **arguments: Any) -> Any:
        return asked(hoprank, "tools", "build", server="harbour", tools=list(tools), graph=graph, **arguments)

    before = {tool.id for tool in Tools(hoprank, graph).catalogue().tools}
    would = build(TIDES, {"description": "no name"}, dry_run=True)
    assert {tool.id for tool in Tools(hoprank, graph).catalogue().tools} == before
    did = build(TIDES, {"description": "no name"})
    again = build(TIDES)
    changed = build({**TIDES, "inputSchema": {"type": 7}}, WEATHER)
    gone = build(WEATHER)

    assert {**did, "dry_run": True} == would
    assert (did["added"], did["changed"], did["removed"]) == (["harbour/tide_at"], [], [])
    assert [(one["source"], "`name`" in one["reason"]) for one in did["skipped"]] == [("harbour, tool 2", True)]
    assert not any(again[name] for name in ("added", "changed", "removed", "skipped", "faults"))
    assert (changed["added"], changed["changed"]) == (["harbour/weather_at"], ["harbour/tide_at"])
    assert changed["faults"][0].startswith("harbour/tide_at: input schema")
    assert (gone["removed"], gone["added"]) == (["harbour/tide_at"], [])
    assert {tool.id for tool in Tools(hoprank, graph).catalogue().tools} == {*before, "harbour/weather_at"}
    assert asked(hoprank, "tools", "find", task="weather at a port", top_k=1, graph=graph)["tools"][0]["name"] == (
        "weather_at"
    )


def test_only_saying_what_would_change_makes_no_graph(hoprank: HopRank) -> None:
    name = f"tools-{uuid.uuid4().hex[:12]}"

    would = asked(hoprank, "tools", "build", server="harbour", tools=[TIDES], graph=name, dry_run=True)

    assert would["added"] == ["harbour/tide_at"]
    assert find_graph(hoprank.client, name) is None


def test_a_graph_that_holds_something_else_is_left_as_it_is(hoprank: HopRank) -> None:
    memory = Memory(hoprank, f"memory-{uuid.uuid4().hex[:12]}")
    memory.fact("tide-service", "depends_on", "hono", create=["library"])
    try:
        with pytest.raises(GraphError, match="of the domain memory"):
            asked(hoprank, "tools", "build", server="harbour", tools=[TIDES], graph=memory.name)
        assert memory.history("tide-service")
    finally:
        memory.drop()


def _deep(levels: int) -> Any:
    value: Any = {}
    for _ in range(levels):
        value = {"properties": {"a": value}}
    return value


@pytest.mark.parametrize(
    ("server", "tools", "said"),
    [
        ("harbour", [{"description": "x"}], "harbour, tool 1 has no `name`"),
        ("harbour", [7], "harbour, tool 1"),
        ("  ", [TIDES], "name has 0 characters"),
        ("harbour", [], "harbour has no tools"),
        ("harbour", [{**TIDES, "inputSchema": _deep(5_000)}], "nested too deeply"),
    ],
)
def test_tools_that_cannot_be_read_are_refused_and_nothing_changes(
    hoprank: HopRank, graph: str, server: str, tools: list[Any], said: str
) -> None:
    kept = Tools(hoprank, graph)
    before = kept.catalogue()

    with pytest.raises(SourceError, match=said):
        kept.add(server, tools)

    assert kept.catalogue() == before


def test_what_cannot_be_stored_is_mended(hoprank: HopRank, graph: str) -> None:
    odd = {"name": "tide\ud800", "description": "a\x00b", "annotations": {"x": math.nan, "readOnlyHint": True}}

    changed = Tools(hoprank, graph).add("harb\x00our", [odd])

    (tool,) = (tool for tool in Tools(hoprank, graph).catalogue().tools if tool.id in changed.added)
    assert (tool.annotations, "\x00" in tool.description) == ({"readOnlyHint": True}, False)
