"""Traces of tasks: what is kept of a task's steps, and what finds it again."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline import Memory
from pipeline.domains.memory.memory import AgentMemory
from pipeline.domains.memory.recall.recall import FoundText
from pipeline.domains.memory.traces import Step
from pipeline.errors import InputError
from tests.domains.verbs import asked

REFUND = (
    Step(thought="Find the order first.", tool="find_order", input={"number": 7}, result="1 order, paid twice"),
    Step(tool="refund", input={"order": 7, "euros": 12.5}),
    Step(thought="Tell the customer."),
)


DEEP: dict[str, Any] = {}
for _ in range(500):
    DEEP = {"a": DEEP}


def test_a_task_that_was_done_is_found_for_a_similar_one(memory: AgentMemory) -> None:
    team = Memory(memory.hoprank, memory.name)
    made, _ = team.trace("Refund order 7, which was paid twice", REFUND, "Refunded.", date="2026-03-01", session="s1")
    team.trace("Water the garden", [{"tool": "open_valve", "result": "open"}], "All beds are wet.", date="2026-03-02")
    told, _ = team.add("Refunds of orders that were paid twice take two days.", date="2026-03-03")

    def found(question: str, **conditions: Any) -> list[str]:
        items = team.search(question, filters=conditions, levels=["texts"]).items
        return [item.key for item in items if isinstance(item, FoundText)]

    question = "Give back the money for an order that was paid twice"
    traces, every = found(question, kind="trace"), found(question)

    assert traces[0] == made.key
    assert told.key in every
    assert told.key not in traces
    assert made.text == (
        "Task: Refund order 7, which was paid twice\n"
        '1. Find the order first. -> find_order({"number": 7}): 1 order, paid twice\n'
        '2. refund({"order": 7, "euros": 12.5})\n'
        "3. Tell the customer.\n"
        "Outcome: Refunded."
    )
    (kept,) = team.texts([made.key])
    assert (kept.text, kept.session, kept.metadata["tools"]) == (made.text, "s1", "find_order, refund")
    assert found("order", tools={"$like": "refund"}) == [made.key]


def test_a_server_keeps_traces_and_recalls_them_alone(memory: AgentMemory) -> None:
    def ask(verb: str, **arguments: Any) -> Any:
        return asked(memory.hoprank, "memory", verb, memory=memory.name, **arguments)

    steps = [{"tool": "find_order", "input": {"number": 7}, "result": "paid twice"}]
    told = ask("remember", text="Refund order 7", steps=steps, outcome="Refunded.", key="task/7")
    ask("remember", text="Refund order 8 as we did order 7.", key="note/8")

    traces = ask("recall", question="Refund order 9", traces=True)["items"]
    every = ask("recall", question="Refund order 9")["items"]

    assert told["key"] == "task/7"
    assert [one["hit"]["document"] for one in traces] == ["task/7"]
    assert {"task/7", "note/8"} <= {one["hit"]["document"] for one in every if "hit" in one}


@pytest.mark.parametrize(
    ("task", "steps", "said"),
    [
        ("  ", [{"tool": "x"}], "text is empty"),
        ("t", [{"tool": "x"}, {}], "Step 2 is empty"),
        ("t", [{"tol": "x"}], "Step 1 has `tol`"),
        ("t", [{"tool": "x" * 201}], "Step 1 has the `tool`"),
        ("t", ["x"], "Step 1"),
        ("t", [{"tool": "x"}, {"input": {"a": "y" * 10_000}}], "Step 2 has 10,009 characters"),
        ("t", [{"input": DEEP}], "Step 1 is nested too deeply"),
    ],
)
def test_a_malformed_trace_is_refused(memory: AgentMemory, task: str, steps: list[Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Memory(memory.hoprank, memory.name).trace(task, steps)


@given(
    st.builds(
        Step,
        thought=st.text(max_size=20),
        tool=st.text(max_size=20),
        input=st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5), max_size=3),
        result=st.text(max_size=20),
    )
)
def test_a_line_holds_all_of_a_step(step: Step) -> None:
    line = str(step)

    assert all(part in line for part in (step.thought.strip(), step.tool, step.result.strip()))
    assert not step.input or json.dumps(step.input, ensure_ascii=False) in line
