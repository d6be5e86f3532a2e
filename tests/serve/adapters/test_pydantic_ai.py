"""The toolset for PydanticAI: the tools of the MCP server, errors and the event loop."""

from __future__ import annotations

import asyncio
import threading
import uuid
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.exceptions import UnexpectedModelBehavior
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models import Model
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.tools import ToolDefinition

from pipeline import HopRank, Memory
from pipeline.errors import QueryTimeout
from pipeline.serve.adapters.pydantic_ai import HopRankMemoryToolset
from pipeline.serve.mcp.tools.table import domain_tools

pytestmark = pytest.mark.slow

QUESTION = "What does the API server run on?"
WRITING = {"memory_remember", "memory_fact", "memory_supersede", "memory_forget"}


@pytest.fixture
def team(hoprank: HopRank) -> Iterator[str]:
    """The name of a memory, which is dropped afterwards."""
    name = f"test-team-{uuid.uuid4().hex[:8]}"
    yield name
    Memory(hoprank, name).drop()


class Script:
    """A model that makes given calls, those of a step at once, and notes the tools that it is offered."""

    def __init__(self, *steps: Sequence[tuple[str, dict[str, Any]]]) -> None:
        self.steps = list(steps)
        self.offered: dict[str, ToolDefinition] = {}
        self.returned: list[ToolReturnPart] = []

    def answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        self.offered = {tool.name: tool for tool in info.function_tools}
        last = messages[-1]
        assert isinstance(last, ModelRequest)
        self.returned += [part for part in last.parts if isinstance(part, ToolReturnPart)]
        if not self.steps:
            return ModelResponse([TextPart("done")])
        return ModelResponse([ToolCallPart(tool, arguments) for tool, arguments in self.steps.pop(0)])

    def run(self, toolset: HopRankMemoryToolset) -> list[ToolReturnPart]:
        """Run an agent to its end, and return what its tools answered."""
        assert asked(FunctionModel(self.answer), toolset) == "done"
        return self.returned


def asked(model: Model, toolset: HopRankMemoryToolset) -> str:
    """Run an agent; the framework's own run_sync leaves its event loop open, which is a warning."""
    return asyncio.run(Agent(model, toolsets=[toolset]).run("Go.")).output


def test_tools_are_those_of_the_mcp_server_but_for_the_memory_s_name(hoprank: HopRank, team: str) -> None:
    script, reader = Script(), Script()
    script.run(HopRankMemoryToolset(hoprank, team))
    reader.run(HopRankMemoryToolset(hoprank, team, read_only=True))

    served = {tool.name: tool for tool in domain_tools(["memory"], read_only=False)}
    assert script.offered.keys() == served.keys()
    assert served.keys() - reader.offered.keys() == WRITING
    for name, offered in script.offered.items():
        schema = served[name].signature().input_schema
        assert schema["properties"].pop("memory")
        assert offered.parameters_json_schema == schema
        assert offered.description == served[name].description
        assert offered.sequential == (name in WRITING)
        assert offered.metadata == {"read_only": name not in WRITING, "destructive": served[name].destructive}


def test_an_agent_reads_why_a_call_failed_and_tries_again(hoprank: HopRank, team: str) -> None:
    Memory(hoprank, team).add("We moved the API server to Hono.")
    script = Script(
        [("memory_history", {"entity": "nobody"})],
        [("memory_forget", {})],
        [("memory_recall", {"question": "x", "top_k": 0})],
        [("memory_recall", {"question": QUESTION, "memory": "somebody-elses"})],
        [("memory_recall", {"question": QUESTION})],
    )

    *failed, answered = script.run(HopRankMemoryToolset(hoprank, team, max_retries=5))

    messages = [
        ("no entity 'nobody'", "hoprank graph list"),
        ("what to forget",),
        ("top_k: Input should be greater than or equal to 1", "Call it as its schema says."),
        ("memory: Extra inputs are not permitted",),
    ]
    assert [part.outcome for part in failed] == ["retried"] * 4
    for part, told in zip(failed, messages, strict=True):
        assert all(text in str(part.content) for text in told), part.content
    assert "We moved the API server to Hono" in str(answered.content)
    with pytest.raises(UnexpectedModelBehavior, match="memory_history"):
        Script(*[[("memory_history", {"entity": "nobody"})]] * 3).run(HopRankMemoryToolset(hoprank, team))


def test_a_fault_is_told_and_not_tried_again(hoprank: HopRank, team: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def too_slow(*_: Any, **__: Any) -> None:
        raise QueryTimeout("The query took 61 s.", "Ask for less.")

    monkeypatch.setattr(Memory, "search", too_slow)

    (failed,) = Script([("memory_recall", {"question": QUESTION})]).run(HopRankMemoryToolset(hoprank, team))

    assert (failed.outcome, failed.content) == ("failed", "The query took 61 s.\nAsk for less.")


def test_tools_leave_the_event_loop_free(hoprank: HopRank, team: str, monkeypatch: pytest.MonkeyPatch) -> None:
    released = threading.Event()
    search = Memory.search

    def held(*given: Any, **options: Any) -> Any:
        assert released.wait(10), "The event loop was blocked."
        return search(*given, **options)

    async def ask(script: Script) -> str:
        agent = Agent(FunctionModel(script.answer), toolsets=[HopRankMemoryToolset(hoprank, team)])
        asyncio.get_running_loop().call_later(0.5, released.set)
        return (await agent.run("Go.")).output

    Memory(hoprank, team).add("We moved the API server to Hono.")
    monkeypatch.setattr(Memory, "search", held)

    assert asyncio.run(ask(Script([("memory_recall", {"question": QUESTION})]))) == "done"


def test_the_framework_s_own_test_model_can_call_the_tools(hoprank: HopRank, team: str) -> None:
    model = TestModel(call_tools=["memory_remember", "memory_recall"])

    asked(model, HopRankMemoryToolset(hoprank, team))

    assert Memory(hoprank, team).has_texts()
