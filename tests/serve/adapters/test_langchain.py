"""The retriever for LangChain: rules, the quickstart's questions in a chain, options of a call."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompt_values import PromptValue
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import Runnable, RunnableLambda, RunnablePassthrough

from pipeline import HopRank
from pipeline.serve.adapters.langchain import HopRankRetriever
from pipeline.serve.adapters.passages import Passage
from tests.serve.adapters.conformance import RULES, Retrieve, Rule, errors_raised, filtered, from_many_threads
from tests.serve.adapters.quickstart import READ, TOP_K, answer, check_answers

pytestmark = pytest.mark.slow

PROMPT = ChatPromptTemplate.from_template("Answer from these passages:\n\n{context}\n\nQuestion: {question}")


def passages(documents: list[Document]) -> list[Passage]:
    return [Passage(found.page_content, found.metadata, found.metadata["score"]) for found in documents]


def joined(documents: list[Document]) -> str:
    return "\n\n".join(found.page_content for found in documents)


def stand_in(prompt: PromptValue) -> str:
    """Answer from the prompt, in place of a model."""
    return answer(prompt.to_string())


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


def test_it_finds_the_documents_of_the_quickstart(hoprank: HopRank, islands: str) -> None:
    retriever = HopRankRetriever(hoprank=hoprank, corpus=islands, k=TOP_K)

    check_answers(lambda question: [found.metadata["document"] for found in retriever.invoke(question)])


@pytest.fixture
def chain(hoprank: HopRank, islands: str) -> Runnable[str, str]:
    """A chain as LangChain's tutorials write it, with what stands in for a model."""
    retriever = HopRankRetriever(hoprank=hoprank, corpus=islands, k=TOP_K)
    given = {"context": retriever | RunnableLambda(joined), "question": RunnablePassthrough()}
    return given | PROMPT | RunnableLambda(stand_in) | StrOutputParser()


def test_it_answers_in_a_chain_that_is_awaited(chain: Runnable[str, str]) -> None:
    async def ask() -> list[str]:
        return await asyncio.gather(*(chain.ainvoke(question) for question in READ))

    assert asyncio.run(ask()) == list(READ.values())


def test_a_chat_model_gets_the_passages(hoprank: HopRank, islands: str) -> None:
    seen: list[str] = []

    def note(prompt: PromptValue) -> PromptValue:
        seen.append(prompt.to_string())
        return prompt

    retriever = HopRankRetriever(hoprank=hoprank, corpus=islands, k=3)
    (question, *_) = READ
    context = joined(retriever.invoke(question))

    said = (PROMPT | note | FakeListChatModel(responses=["A dog."])).invoke({"context": context, "question": question})

    assert said.content == "A dog."
    assert context in seen[0]


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
