"""The retriever for LangChain: rules, options of a call."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.documents import Document

from pipeline import HopRank
from pipeline.serve.adapters.langchain import HopRankRetriever
from pipeline.serve.adapters.passages import Passage
from tests.serve.adapters.conformance import RULES, Retrieve, Rule, errors_raised, filtered, from_many_threads

pytestmark = pytest.mark.slow


def passages(documents: list[Document]) -> list[Passage]:
    return [Passage(found.page_content, found.metadata, found.metadata["score"]) for found in documents]


def adapted(hoprank: HopRank, corpus: str) -> Retrieve:
    retriever = HopRankRetriever(hoprank=hoprank, corpus=corpus)
    return lambda question, k, filters: passages(retriever.invoke(question, k=k, filter=filters))


def awaited(hoprank: HopRank, corpus: str) -> Retrieve:
    retriever = HopRankRetriever(hoprank=hoprank, corpus=corpus)
    return lambda question, k, filters: passages(asyncio.run(retriever.ainvoke(question, k=k, filter=filters)))


@pytest.mark.parametrize("rule", RULES)
def test_it_conforms(hoprank: HopRank, conforming: str, rule: Rule) -> None:
    rule(hoprank, conforming, adapted(hoprank, conforming))


@pytest.mark.parametrize("rule", [filtered, errors_raised, from_many_threads])
def test_it_conforms_when_it_is_awaited(hoprank: HopRank, conforming: str, rule: Rule) -> None:
    rule(hoprank, conforming, awaited(hoprank, conforming))


def test_the_options_of_a_call_replace_those_of_the_retriever(hoprank: HopRank, conforming: str) -> None:
    retriever = HopRankRetriever(hoprank=hoprank, corpus=conforming, k=2, filter={"kind": "place"})

    def found(**options: Any) -> set[str]:
        return {document.metadata["kind"] for document in retriever.invoke("harbour", **options)}

    assert found() == {"place"}
    assert found(filter={"kind": "song"}) == {"song"}
    assert len(retriever.invoke("harbour", filter={}, k=4)) == 4


def test_it_ranks_by_the_leg_that_is_named(hoprank: HopRank, conforming: str) -> None:
    retriever = HopRankRetriever(hoprank=hoprank, corpus=conforming, leg="vector")

    assert {leg for document in retriever.invoke("harbour") for leg in document.metadata["legs"]} == {"vector"}
