"""The page on frameworks: its examples run as they stand, with what stands in for a model."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from typing import Any

import pytest
from haystack import component
from haystack.core.serialization_security import DESERIALIZATION_ALLOWLIST_ENV_VAR
from langchain_core.messages import AIMessage
from langchain_core.prompt_values import PromptValue
from langchain_core.runnables import RunnableLambda
from pydantic_ai.models.function import FunctionModel

from pipeline import HopRank, Memory
from pipeline.docs import read_page
from tests.serve.adapters.quickstart import answer
from tests.serve.adapters.test_llamaindex import StandIn as LlamaIndexModel
from tests.serve.adapters.test_neo4j_graphrag import StandIn as GraphRAGModel
from tests.serve.adapters.test_pydantic_ai import Script

pytestmark = pytest.mark.slow

SECTIONS = dict(
    re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", read_page("frameworks").text, flags=re.MULTILINE | re.DOTALL)
)


@component
class HaystackModel:
    """Answers from its prompt."""

    @component.output_types(replies=list[str])
    def run(self, prompt: str) -> dict[str, list[str]]:
        return {"replies": [answer(prompt)]}


def langchain_model(prompt: PromptValue) -> AIMessage:
    return AIMessage(answer(prompt.to_string()))


def run(section: str, corpus: str, named: str = '"handbook"', /, **given: Any) -> dict[str, Any]:
    """Run the code of a section on another corpus, graph or memory than the ``named`` one; return its names."""
    (code,) = re.findall(r"^```python\n(.*?)^```", SECTIONS[section], flags=re.MULTILINE | re.DOTALL)
    names = dict(given)
    exec(compile(code.replace(named, repr(corpus)), section, "exec"), names)  # noqa: S102 - our own page
    return names


def test_langchain(hoprank: HopRank, islands: str) -> None:
    names = run("LangChain", islands, hoprank=hoprank, llm=RunnableLambda(langchain_model))

    assert len(names["documents"]) == 5
    assert names["answer"] == "Celsius"


def run_store(framework: str, corpus: str, hoprank: HopRank) -> dict[str, Any]:
    (section,) = (name for name in SECTIONS if name.endswith(f"store for {framework}"))
    (code,) = re.findall(r"^```python\n(.*?)^```", SECTIONS[section], flags=re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {"hoprank": hoprank}
    exec(code.replace('"log"', repr(corpus)), names)  # noqa: S102 - our own page
    return names


def test_a_store_for_langchain(hoprank: HopRank, corpus_name: str) -> None:
    names = run_store("LangChain", corpus_name, hoprank)

    assert [document.id for document in names["found"]] == ["ada"]
    assert names["retriever"].invoke("Who wrote the log?") == []


def test_a_store_for_llamaindex(hoprank: HopRank, corpus_name: str) -> None:
    names = run_store("LlamaIndex", corpus_name, hoprank)

    assert [found.node for found in names["nodes"]] == [names["log"]]
    assert names["store"].get_nodes() == []


def test_a_store_for_haystack(hoprank: HopRank, corpus_name: str) -> None:
    names = run_store("Haystack", corpus_name, hoprank)

    assert [document.id for document in names["found"]] == ["ada"]
    assert names["store"].count_documents() == 0


def test_llamaindex(hoprank: HopRank, islands: str) -> None:
    names = run("LlamaIndex", islands, hoprank=hoprank, llm=LlamaIndexModel())

    assert len(names["nodes"]) == 20
    assert str(names["answer"]) == "Celsius"


@pytest.mark.usefixtures("server")
def test_haystack(islands: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DESERIALIZATION_ALLOWLIST_ENV_VAR, HaystackModel.__module__)
    names = run("Haystack", islands, llm=HaystackModel())

    assert names["answer"] == {"llm": {"replies": ["Celsius"]}}
    assert names["again"].to_dict()["components"] == names["pipeline"].to_dict()["components"]
    names["pipeline"].get_component("retriever").close()


def test_neo4j_graphrag(hoprank: HopRank, islands: str) -> None:
    names = run("neo4j-graphrag", islands, hoprank=hoprank, llm=GraphRAGModel())

    assert len(names["found"].items) == 5
    assert names["answer"].answer == "Celsius"


def test_a_store_for_langgraph(hoprank: HopRank, corpus_name: str) -> None:
    try:
        names = run("A store for LangGraph", corpus_name, '"agents"', hoprank=hoprank)

        assert [item.key for item in names["found"]] == ["food"]
        assert names["item"].value == {"text": "Ada likes plums.", "year": 2026}
        assert names["namespaces"] == [("users", "ada")]
    finally:
        hoprank.graph(corpus_name).drop()


@pytest.fixture
def event_loop_of_run_sync() -> Iterator[None]:
    """PydanticAI's run_sync makes an event loop if there is none, and leaves it open, which is a warning."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    asyncio.set_event_loop(None)
    loop.close()


@pytest.mark.usefixtures("event_loop_of_run_sync")
def test_a_memory_for_pydantic_ai(hoprank: HopRank, corpus_name: str) -> None:
    said = "The API server runs on Hono since February 10th."
    script = Script([("memory_remember", {"text": said})], [("memory_recall", {"question": "What runs the API?"})])
    try:
        names = run("A memory for PydanticAI", corpus_name, '"team"', hoprank=hoprank, llm=FunctionModel(script.answer))
        recalled = script.returned[-1].content
    finally:
        Memory(hoprank, corpus_name).drop()

    assert names["answer"] == "done"
    assert said in str(recalled)
    assert "memory_supersede" in script.offered
    assert "memory_forget" not in script.offered
