"""The face of tool graphs: its methods, the code on the page of Python, and what a question reads."""

from __future__ import annotations

import json
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pipeline import HopRank, Tools
from pipeline.db.client import Client
from pipeline.domains.tools.build import build_catalogue
from pipeline.domains.tools.catalogue import Built
from pipeline.domains.tools.settings import ToolSettings
from pipeline.errors import UnknownGraph
from tests.domains.python_page import run_section

from .village import VILLAGE

GARDEN = Path(__file__).parent / "fixtures" / "garden_server.py"


@pytest.fixture
def tools(hoprank: HopRank) -> Iterator[Tools]:
    """The tools of the village."""
    graph = hoprank.graph(f"tools-{uuid.uuid4().hex[:12]}", kind="tools")
    build_catalogue(lambda: graph, VILLAGE, hoprank.settings.section(ToolSettings))
    yield Tools(hoprank, graph.name)
    graph.drop()


class _Named(Tools):
    """The tools of the page's name in a graph of the test, whose live server is the garden."""

    def __init__(self, connection: HopRank, _: str) -> None:
        super().__init__(connection, f"tools-{uuid.uuid4().hex[:12]}")

    def connect(self, *_: Any, **__: Any) -> Built:
        return super().connect([sys.executable, str(GARDEN)])


@pytest.mark.slow
def test_the_code_of_the_page_runs(hoprank: HopRank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = [{"name": one.name, "description": one.description, "inputSchema": one.input} for one in VILLAGE.tools]
    (tmp_path / "tools.json").write_text(json.dumps(listed))
    (tmp_path / "servers").mkdir()
    monkeypatch.chdir(tmp_path)

    named: Any = run_section("Tools", hoprank=hoprank, Tools=_Named)

    hoprank.graph(named["tools"].name).drop()
    assert named["built"].nodes["service"] == 2
    assert "send_letter" in {tool.name for tool in named["found"]}
    assert named["chains"][0].steps
    assert named["details"].name == "send_letter"


def test_a_question_is_one_query_once_the_graph_is_read(tools: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []

    def counted(own: Callable[..., Any]) -> Callable[..., Any]:
        def run(client: object, query: str, /, *rest: Any, **params: Any) -> Any:
            ran.append(query)
            return own(client, query, *rest, **params)

        return run

    for method in ("read", "stream", "write"):
        monkeypatch.setattr(Client, method, counted(getattr(Client, method)))

    tools.find("Send a letter to my aunt")
    cold = list(ran)
    ran.clear()
    tools.find("Send a letter to my uncle")
    warm = list(ran)
    tools.chains("Send a letter to my aunt")
    ran.clear()
    tools.chains_between("address", "forecast")
    tools.show("plan_route")

    assert len(cold) <= 6, cold  # the name is resolved three times: the first question opens the graph
    assert len(warm) == 1, warm
    assert len(ran) == 2, ran


def test_a_question_sees_what_was_built_since_the_last(tools: Tools, tmp_path: Path) -> None:
    (tmp_path / "bakery.json").write_text(json.dumps([{"name": "bake_bread", "description": "Bake a loaf of bread."}]))
    assert "send_letter" in {found.name for found in tools.find("Send a letter to my aunt")}

    tools.build(tmp_path)

    assert [found.name for found in tools.find("Send a letter to my aunt")] == ["bake_bread"]
    assert [tool.id for tool in tools.catalogue().tools] == ["bakery/bake_bread"]


def test_a_graph_that_is_none_is_named(hoprank: HopRank) -> None:
    with pytest.raises(UnknownGraph, match="no graph 'no-such-graph'"):
        Tools(hoprank, "no-such-graph").find("mail me the weather")


def test_nodes_are_reached_from_a_tool(tools: Tools) -> None:
    assert {one.distance for one in tools.traverse("geocode_address", 1)} == {1}
    assert [node.id for node in tools.path("geocode_address", "registry:village")][-1] == "registry:village"
