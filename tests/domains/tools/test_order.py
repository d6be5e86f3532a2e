"""Evidence that one tool runs before another: stated needs, names in texts, logs of calls."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipeline.domains.tools.catalogue import Need, Tool
from pipeline.domains.tools.link import order_edges, parallel_edges
from pipeline.domains.tools.order import Mention, closure, condition, mentions, read_calls, resolved
from pipeline.errors import SourceError
from pipeline.files import DEFAULT_LIMITS


def tool(name: str, text: str = "", service: str = "farm", *, needs: tuple[Need, ...] = (), **fields: str) -> Tool:
    schema = {"type": "object", "properties": {key: {"description": value} for key, value in fields.items()}}
    return Tool(f"{service}/{name}", name, service, text, input=schema, needs=needs)


def test_a_need_means_a_tool_of_the_service_before_one_of_another() -> None:
    tools = [
        tool("milk_cow", needs=(Need("find_cow"), Need("farm/milk_cow"), Need("nothing"), Need("count_eggs"))),
        tool("find_cow"),
        tool("find_cow", service="zoo"),
        tool("count_eggs", service="zoo"),
        tool("weigh", service="zoo"),
        tool("weigh", service="shop"),
        tool("sell", needs=(Need("weigh"),)),
    ]

    found = resolved(tools)

    assert [other for other, _ in found["farm/milk_cow"]] == ["farm/find_cow", "zoo/count_eggs"]
    # Two tools of other services have the name: neither is meant.
    assert found["farm/sell"] == []


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("If the cow has no name, ask for it.", "If the cow has no name, ask for it"),
        ("Finds the cow unless it is named. Then goes on.", "unless it is named"),
        ("To find the cow.", ""),
        ("", ""),
    ],
)
def test_the_condition_of_a_need_is_what_its_reason_says(reason: str, expected: str) -> None:
    assert condition(Need("find_cow", reason=reason)) == expected


def test_needs_are_edges_from_what_is_needed_and_conditions_are_kept() -> None:
    needs = resolved(
        [
            tool("milk_cow", needs=(Need("find_cow"), Need("clean_pail", reason="if it is dirty"))),
            tool("find_cow"),
            tool("clean_pail"),
        ]
    )

    edges = {
        (edge.source, edge.target): edge
        for edge in order_edges(needs, [Mention("farm/milk_cow", "farm/find_cow", "")], {})
    }

    assert {ends: edge.type for ends, edge in edges.items()} == {
        ("farm/find_cow", "farm/milk_cow"): "sequential",
        ("farm/clean_pail", "farm/milk_cow"): "conditional",
    }
    assert edges["farm/clean_pail", "farm/milk_cow"].properties["condition"] == "if it is dirty"
    assert edges["farm/find_cow", "farm/milk_cow"].properties["order"] == 0


def test_tools_that_a_third_one_needs_are_parallel_unless_one_needs_the_other() -> None:
    needs = resolved(
        [
            tool("milk_cow", needs=(Need("find_cow"), Need("clean_pail"), Need("open_gate"))),
            tool("find_cow", needs=(Need("open_gate"),)),
            tool("clean_pail"),
            tool("open_gate"),
        ]
    )

    pairs = {(edge.source, edge.target): edge.properties["for"] for edge in parallel_edges(needs)}

    assert pairs == {
        ("farm/clean_pail", "farm/find_cow"): ["farm/milk_cow"],
        ("farm/clean_pail", "farm/open_gate"): ["farm/milk_cow"],
    }


def test_what_is_needed_comes_nearest_first_and_a_cycle_ends() -> None:
    assert closure("a", {"a": ["b", "c", "gone"], "b": ["d"], "c": [], "d": ["a"]}) == ["b", "c", "d"]


def test_a_parameter_that_names_a_tool_asks_for_it_first() -> None:
    tools = [tool("milk_cow", "Milks a cow.", cow_id="The id, as `find_cow` returns it."), tool("find_cow", "Finds.")]

    assert mentions(tools) == [Mention("farm/find_cow", "farm/milk_cow", "The id, as `find_cow` returns it")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Use find-cow to get its id.", [("find-cow", "milk-cow")]),
        ("After calling this, find-cow tells where it went.", [("milk-cow", "find-cow")]),
        ("Unlike find-cow it needs no name.", []),
        ("Finds the cow. Milks it.", []),
        ("请先通过 `find-cow` 查询。", [("find-cow", "milk-cow")]),
    ],
)
def test_the_clause_tells_what_comes_first(text: str, expected: list[tuple[str, str]]) -> None:
    tools = [tool("milk-cow", text), tool("find-cow", ""), tool("find-cow", "", "zoo")]

    found = [(one.before.removeprefix("farm/"), one.after.removeprefix("farm/")) for one in mentions(tools)]

    assert found == expected


def test_a_plain_word_names_no_tool() -> None:
    assert mentions([tool("milk_cow", "First find the cow."), tool("find", "")]) == []


def test_calls_that_follow_each_other_are_edges_by_their_share() -> None:
    calls = {("a", "b"): 3, ("a", "c"): 1, ("b", "c"): 4, ("need", "b"): 1}
    needs = {"b": [("need", Need("need"))]}

    edges = {(edge.source, edge.target): edge for edge in order_edges(needs, [], calls)}

    assert {ends: (edge.weight, edge.properties["calls"]) for ends, edge in edges.items()} == {
        ("a", "b"): (0.75, 3),
        ("b", "c"): (1.0, 4),
        ("need", "b"): (1.0, 1),
    }
    assert edges["need", "b"].properties["stated"] is True


def test_a_log_is_read_session_by_session(tmp_path: Path) -> None:
    tools = [tool("milk"), tool("sell"), tool("find"), tool("find", service="zoo")]
    log = tmp_path / "calls.jsonl"
    calls = [
        ("1", "farm/find"),
        ("2", "milk"),
        ("1", "milk"),
        ("1", "milk"),
        ("1", "unknown"),
        ("2", "sell"),
        ("1", "find"),
    ]
    log.write_text("\n".join(json.dumps({"session": session, "tool": name}) for session, name in calls) + "\n\n")

    # `find` alone may be either; `unknown` is none.
    assert read_calls(log, tools, DEFAULT_LIMITS) == {("farm/find", "farm/milk"): 1, ("farm/milk", "farm/sell"): 1}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{}", "line 1 has no `session`"),
        ('{"session": "1", "tool": "x"}\n[', "line 2 isn't JSON"),
        ("", "is empty"),
        (None, "can't be read"),
    ],
)
def test_a_log_of_another_form_is_told(tmp_path: Path, text: str | None, says: str) -> None:
    log = tmp_path / "calls.jsonl"
    if text is not None:
        log.write_text(text)

    with pytest.raises(SourceError, match=says):
        read_calls(log, [], DEFAULT_LIMITS)
