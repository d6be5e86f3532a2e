"""The retriever for LlamaIndex: rules, what a node says, its filters."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from llama_index.core.base.llms.types import CompletionResponse, CompletionResponseGen, LLMMetadata
from llama_index.core.llms import CustomLLM
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle
from llama_index.core.vector_stores.types import FilterCondition, FilterOperator, MetadataFilter, MetadataFilters

from pipeline import HopRank
from pipeline.errors import FilterError, QuestionError
from pipeline.serve.adapters.llamaindex import HopRankRetriever, translate
from pipeline.serve.adapters.passages import Passage
from tests.serve.adapters.conformance import RULES, Retrieve, Rule, errors_raised, filtered, from_many_threads
from tests.serve.adapters.quickstart import answer

pytestmark = pytest.mark.slow

IN_LLAMAINDEX = {"$eq": "==", "$ne": "!=", "$gte": ">=", "$in": "in"}


class StandIn(CustomLLM):
    """Answers from its prompt."""

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(context_window=100_000)

    def complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:  # noqa: ARG002
        return CompletionResponse(text=answer(prompt))

    def stream_complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponseGen:
        raise NotImplementedError


def passages(nodes: list[NodeWithScore]) -> list[Passage]:
    return [Passage(node.node.get_content(MetadataMode.NONE), node.metadata, node.get_score(True)) for node in nodes]


def native(filters: Mapping[str, Any] | None) -> MetadataFilters | None:
    """The filters of the conformance suite as LlamaIndex's."""
    if filters is None:
        return None
    ((key, condition),) = filters.items()
    ((operator, value),) = condition.items()
    return one(key, IN_LLAMAINDEX[operator], value)


def one(key: str, operator: str, value: Any) -> MetadataFilters:
    return MetadataFilters(filters=[MetadataFilter(key=key, operator=FilterOperator(operator), value=value)])


def adapted(hoprank: HopRank, corpus: str) -> Retrieve:
    return lambda question, k, filters: passages(
        HopRankRetriever(hoprank, corpus, similarity_top_k=k, filters=native(filters)).retrieve(question)
    )


def awaited(hoprank: HopRank, corpus: str) -> Retrieve:
    """Awaited, and with filters in HopRank's form."""
    return lambda question, k, filters: passages(
        asyncio.run(HopRankRetriever(hoprank, corpus, similarity_top_k=k, filters=filters).aretrieve(question))
    )


@pytest.mark.parametrize("rule", RULES)
def test_it_conforms(hoprank: HopRank, conforming: str, rule: Rule) -> None:
    rule(hoprank, conforming, adapted(hoprank, conforming))


@pytest.mark.parametrize("rule", [filtered, errors_raised, from_many_threads])
def test_it_conforms_when_it_is_awaited(hoprank: HopRank, conforming: str, rule: Rule) -> None:
    rule(hoprank, conforming, awaited(hoprank, conforming))


def test_a_node_says_where_it_is_from(hoprank: HopRank, conforming: str) -> None:
    (found,) = HopRankRetriever(hoprank, conforming, similarity_top_k=1).retrieve("Who reads the tide gauge?")
    (hit,) = hoprank.search("Who reads the tide gauge?", corpus=conforming, top_k=1).hits

    node: Any = found.node
    assert (node.node_id, node.ref_doc_id) == (hit.id, hit.document)
    assert (node.start_char_idx, node.end_char_idx) == (hit.start, hit.end)


def test_prompts_get_what_is_worth_reading_of_the_metadata(hoprank: HopRank, conforming: str) -> None:
    (found,) = HopRankRetriever(hoprank, conforming, similarity_top_k=1).retrieve("Who reads the tide gauge?")

    said = found.node.get_metadata_str(MetadataMode.LLM).splitlines()
    assert {line.split(":")[0] for line in said} == {"document", "title", "heading", "year", "kind", "tags"}


def test_the_vector_of_a_query_replaces_its_text_s(hoprank: HopRank, conforming: str) -> None:
    retriever = HopRankRetriever(hoprank, conforming, leg="vector")
    vector = [float(value) for value in hoprank.embedder.embed_query("gas and oil lit the lighthouse")]

    found = retriever.retrieve(QueryBundle("Who reads the tide gauge?", embedding=vector))

    assert found[0].metadata["document"] == "places/lighthouse"
    with pytest.raises(QuestionError, match="2"):
        retriever.retrieve(QueryBundle("Who reads the tide gauge?", embedding=[1.0, 0.0]))


def test_no_filters_are_no_restriction() -> None:
    assert translate(MetadataFilters(filters=[])) == {}


@pytest.mark.parametrize(
    ("filters", "message"),
    [
        (one("kind", "is_empty", None), "is_empty"),
        (one("kind", "all", "person"), "'all'"),
        (MetadataFilters(filters=[one("year", ">", 1)], condition=FilterCondition.NOT), r"negates \$gt of 'year'"),
    ],
)
def test_filters_that_hoprank_lacks_are_refused(filters: MetadataFilters, message: str) -> None:
    with pytest.raises(FilterError, match=message):
        translate(filters)
