"""Paths, plans and drawings of chains, without a server."""

from __future__ import annotations

import math
from itertools import pairwise, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.domains.tools.catalogue import Tool
from pipeline.domains.tools.chains.complete import Given, completed
from pipeline.domains.tools.chains.network import Link, ToolNetwork
from pipeline.domains.tools.chains.plan import UNLINKED, Binding, Chain, plan
from pipeline.domains.tools.chains.search import best_paths, chains_for, chains_in_order
from pipeline.domains.tools.chains.task import TaskWords
from pipeline.domains.tools.types.flows import FieldMapping
from pipeline.domains.tools.views import flowchart

SERVICES = {"farm": "Farm"}


def tool(name: str, *required: str) -> Tool:
    properties = {key: {"type": "string"} for key in required}
    return Tool(name, name, "farm", input={"type": "object", "properties": properties, "required": list(required)})


def flow(source: str, target: str, confidence: float, output: str = "out", into: str = "in", **more: object) -> Link:
    fits = (FieldMapping(output, into, confidence, "direct"),)
    return Link(source, target, confidence, fits, "schema", **more)  # type: ignore[arg-type]


def network(tools: list[Tool], *links: Link) -> ToolNetwork:
    return ToolNetwork.of(tools, SERVICES, links)


def planned(of: ToolNetwork, *targets: str, given: Given | None = None) -> Chain:
    """Return the best plan that holds some tools in order."""
    return plan(of, next(completed(of, {targets: 1.0}, longest=4, limit=1, given=given)))


@given(
    st.dictionaries(
        st.tuples(st.sampled_from("abcde"), st.sampled_from("abcde")).filter(lambda ends: ends[0] != ends[1]),
        st.floats(0.1, 1.0),
        max_size=12,
    ),
    st.integers(1, 4),
)
def test_paths_are_the_best_of_all_simple_paths(links: dict[tuple[str, str], float], longest: int) -> None:
    of = network([tool(name) for name in "abcde"], *(flow(a, b, value) for (a, b), value in links.items()))
    every = {
        ("a", *rest): math.prod(links[step] for step in pairwise(("a", *rest)))
        for size in range(longest)
        for rest in permutations("bcd", size)  # e isn't among the tools
        if all(step in links for step in pairwise(("a", *rest)))
    }

    found = best_paths(of, "a", "abcd", longest=longest, limit=3)

    best = sorted(every.values())[::-1][:3]
    assert [round(path.confidence, 9) for path in found] == [round(value, 9) for value in best]
    assert all(round(every[path.tools], 9) == round(path.confidence, 9) for path in found)


def test_a_plan_binds_inputs_and_lists_what_is_missing() -> None:
    of = network(
        [tool("find", "name"), tool("milk", "cow_id", "pail"), tool("sell", "milk")],
        flow("find", "milk", 0.9, "cow.id", "cow_id"),
        flow("milk", "sell", 0.8, "litres", "milk"),
    )

    chain = planned(of, "find", "milk", "sell", given=Given({"find": {"name": 1.0}}))

    assert chain.tools == ("find", "milk", "sell")
    assert [step.missing for step in chain.steps] == [(), ("pail",), ()]
    assert chain.steps[1].bindings == (Binding("cow_id", 1, "cow.id", 0.9, "direct"),)
    assert [step.level for step in chain.steps] == [1, 2, 3]
    assert round(chain.confidence, 9) == 0.72
    assert planned(of, "find", "milk", "sell").steps[0].missing == ("name",)


def test_an_input_comes_from_the_surest_output_and_from_the_latest_of_equals() -> None:
    tools = [tool("find"), tool("weigh"), tool("sell", "in")]
    surest = network(tools, flow("find", "weigh", 0.9), flow("find", "sell", 0.5), flow("weigh", "sell", 0.8))
    equal = network(tools, flow("find", "weigh", 0.9), flow("find", "sell", 0.8), flow("weigh", "sell", 0.8))
    first = network(tools, flow("find", "weigh", 0.9), flow("find", "sell", 0.9), flow("weigh", "sell", 0.8))

    steps = [planned(of, "find", "weigh", "sell").steps[2].bindings[0].step for of in (surest, equal, first)]

    assert steps == [2, 2, 1]


def test_needs_are_added_before_and_run_in_parallel() -> None:
    of = network(
        [tool("find"), tool("clean"), tool("milk")],
        Link("find", "milk", 1.0, stated=True),
        Link("clean", "milk", 1.0, stated=True, condition="if it is dirty"),
    )

    chain = planned(of, "milk")

    assert chain.tools == ("clean", "find", "milk")
    assert [step.level for step in chain.steps] == [1, 1, 2]
    assert [step.condition for step in chain.steps] == ["if it is dirty", "", ""]
    assert chain.steps[2].after == (1, 2)


def test_needs_that_go_in_a_circle_are_added_once() -> None:
    of = network([tool("a"), tool("b")], Link("a", "b", 1.0, stated=True), Link("b", "a", 1.0, stated=True))

    assert planned(of, "a").tools == ("b", "a")


def test_a_missing_input_is_filled_by_a_sure_source_alone() -> None:
    tools = [tool("locate"), tool("guess"), tool("drive", "place", "speed")]
    of = network(tools, flow("locate", "drive", 0.9, "place", "place"), flow("guess", "drive", 0.5, "speed", "speed"))

    chain = planned(of, "drive")

    assert chain.tools == ("locate", "drive")
    assert chain.steps[1].missing == ("speed",)


def test_chains_for_a_task_join_the_tools_that_fit_each_other() -> None:
    of = network(
        [tool(name) for name in ("read", "draw", "mail", "sing")], flow("read", "draw", 0.9), flow("draw", "mail", 0.6)
    )

    chains = chains_for(
        of, TaskWords(of, "read it and draw it"), {"read": 0.8, "draw": 1.0, "sing": 0.9}, longest=4, limit=5
    )

    assert [chain.tools for chain in chains] == [("read", "draw"), ("sing",)]


def test_a_chain_has_a_tool_for_each_clause_and_prefers_tools_that_fit() -> None:
    of = network([tool(name, "in") for name in ("read", "draw", "paint", "mail")], flow("read", "paint", 0.8))

    tasks: list[dict[str, float]] = [{"read": 1.0}, {"draw": 1.0, "paint": 0.7}, {"mail": 1.0}]

    best, other, *_ = chains_in_order(of, TaskWords(of, ""), tasks, longest=4, limit=5)

    assert (best.tools, round(best.confidence, 9)) == (("read", "paint", "mail"), round(0.8 * UNLINKED, 9))
    assert (other.tools, round(other.confidence, 9)) == (("read", "draw", "mail"), round(UNLINKED**2, 9))
    # Nothing flows from `paint` to `mail`: the order of the task alone puts one behind the other.
    assert [step.after for step in best.steps] == [(), (1,), (2,)]
    assert [step.level for step in best.steps] == [1, 2, 3]
    assert best.steps[2].missing == ("in",)


def test_a_tool_may_serve_two_clauses() -> None:
    of = network([tool("read"), tool("draw")])

    chain = chains_in_order(of, TaskWords(of, ""), [{"read": 1.0}, {"read": 0.9, "draw": 0.5}], longest=4, limit=1)[0]

    assert (chain.tools, chain.confidence) == (("read",), 1.0)


@pytest.mark.parametrize(("found", "tools"), [([], []), ([{}], []), ([{}, {"read": 1.0}], [("read",)])])
def test_a_clause_for_which_nothing_is_found_has_no_tool(
    found: list[dict[str, float]], tools: list[tuple[str, ...]]
) -> None:
    of = network([tool("read")])

    assert [one.tools for one in chains_in_order(of, TaskWords(of, ""), found, longest=4, limit=3)] == tools


def test_a_drawing_holds_names_as_text() -> None:
    hostile = 'x"] --> evil["<script>'
    of = network([tool("find", "name"), tool(hostile, "in")], flow("find", hostile, 0.5))

    drawn = flowchart(planned(of, "find", hostile))

    assert drawn.startswith("flowchart LR\n")
    assert 't1["find<br/><small>Farm</small>"]' in drawn
    assert 'i1_1(["name"]) --> t1' in drawn
    assert '-->|"out to in #40;0.50#41;"| t2' in drawn
    assert "evil[" not in drawn
    assert "<script" not in drawn
