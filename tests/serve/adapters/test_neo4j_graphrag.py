"""The retriever for neo4j-graphrag: rules, records and tools."""

from __future__ import annotations

from typing import Any

import neo4j
import pytest
from neo4j_graphrag.llm import LLMInterfaceV2, LLMResponse
from neo4j_graphrag.types import RetrieverResult, RetrieverResultItem

from pipeline import HopRank
from pipeline.serve.adapters.neo4j_graphrag import HopRankRetriever
from pipeline.serve.adapters.passages import Passage
from tests.serve.adapters.conformance import RULES, Retrieve, Rule
from tests.serve.adapters.quickstart import answer

pytestmark = pytest.mark.slow


class StandIn(LLMInterfaceV2):
    """Answers from its prompt."""

    def __init__(self) -> None:
        super().__init__("stand-in")

    def invoke(self, input: Any, **_: Any) -> LLMResponse:  # noqa: A002 - the name of the interface
        return LLMResponse(content=answer("\n".join(message["content"] for message in input)))

    async def ainvoke(self, input: Any, **_: Any) -> LLMResponse:  # noqa: A002
        return self.invoke(input)


def passages(result: RetrieverResult) -> list[Passage]:
    found = [(item.content, item.metadata or {}) for item in result.items]
    return [Passage(content, metadata, metadata["score"]) for content, metadata in found]


def adapted(hoprank: HopRank, corpus: str) -> Retrieve:
    retriever = HopRankRetriever(hoprank, corpus)
    return lambda question, k, filters: passages(retriever.search(query_text=question, top_k=k, filters=filters))


@pytest.mark.parametrize("rule", RULES)
def test_it_conforms(hoprank: HopRank, conforming: str, rule: Rule) -> None:
    rule(hoprank, conforming, adapted(hoprank, conforming))


def test_it_searches_by_a_vector(hoprank: HopRank, conforming: str) -> None:
    vector = [float(value) for value in hoprank.embedder.embed_query("gas and oil lit the lighthouse")]

    result = HopRankRetriever(hoprank, conforming, leg="vector").search(query_vector=vector, top_k=1)

    assert [found.metadata["document"] for found in passages(result)] == ["places/lighthouse"]


def test_the_result_says_how_it_was_searched(hoprank: HopRank, conforming: str) -> None:
    metadata = HopRankRetriever(hoprank, conforming).search(query_text="harbour").metadata

    assert metadata is not None
    assert (metadata["__retriever"], metadata["corpus"], metadata["leg"]) == ("HopRankRetriever", conforming, "hoprank")


def test_a_formatter_of_one_s_own_makes_the_items(hoprank: HopRank, conforming: str) -> None:
    def cited(record: neo4j.Record) -> RetrieverResultItem:
        return RetrieverResultItem(content=f"[{record['metadata']['document']}] {record['content']}")

    retriever = HopRankRetriever(hoprank, conforming, result_formatter=cited)

    (item,) = retriever.search(query_text="Who reads the tide gauge?", top_k=1).items

    assert item.content.startswith("[tides/gauge] The tide gauge")


def test_an_agent_can_call_it_as_a_tool(hoprank: HopRank, conforming: str) -> None:
    retriever = HopRankRetriever(hoprank, conforming)

    tool = retriever.convert_to_tool("search", "Searches the archive.")

    assert {"query_text", "top_k", "filters"} <= tool.get_parameters()["properties"].keys()
    assert tool.execute(query_text="Who reads the tide gauge?", top_k=1)


def test_the_connection_keeps_its_name_on_the_server(hoprank: HopRank, conforming: str) -> None:
    HopRankRetriever(hoprank, conforming).search(query_text="harbour")

    assert hoprank.client._driver._pool.pool_config.user_agent == "hoprank"
