"""The verbs for servers."""

from __future__ import annotations

import uuid

from pipeline import HopRank
from pipeline.domains.tools.build import build_catalogue
from pipeline.domains.tools.settings import ToolSettings
from tests.domains.verbs import asked

from .village import VILLAGE


def test_tools_are_found_and_chained(hoprank: HopRank) -> None:
    graph = hoprank.graph(f"tools-{uuid.uuid4().hex[:12]}")
    try:
        build_catalogue(lambda: graph, VILLAGE, hoprank.settings.section(ToolSettings))

        task = "find the place of an address"
        found = asked(hoprank, "tools", "find", task=task, top_k=3, graph=graph.name)
        chains = asked(hoprank, "tools", "chain", task=task, limit=1, graph=graph.name)
    finally:
        graph.drop()

    assert "geocode_address" in str(found["tools"][0])
    assert len(chains["chains"]) == 1
    assert "geocode_address" in str(chains["chains"][0])
