"""The plan of a filter: what the indexes are asked for admits what the filter does, and no more where it says so."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipeline.db.filterable import (
    MOST_FIELDS,
    check_filterable,
    check_keeps_digits,
    chunk_properties,
    declared_values,
    key_of,
)
from pipeline.errors import ConfigurationError, InputError
from pipeline.retrieve.filters.parse import declared_fields, parse_filter
from pipeline.retrieve.filters.plan import make_plan
from tests.retrieve.filters.test_parse import DOCUMENTS, NAMES, VALUES, oracle

LONG = "tide " * 20
BIG = st.sampled_from([2**53, 2**53 + 1, -(2**53) - 1, 2.0**53, 10**400, 1e308, -0.0, 0, 5e-324])
TEXTS = st.sampled_from(
    ["", "a", "a" * 60, "a" * 61, "a" * 60 + "b", "ab", LONG, LONG + "!", "\x00", "ø", "💥", "1", "true"]
)
HARD = BIG | TEXTS | st.booleans()


def holds(text: str, terms: list[str]) -> bool:
    """Whether a chunk with these terms meets a Lucene query, of the kind that plans make."""
    position = 0

    def clause() -> bool:
        nonlocal position
        if text[position] == "(":
            position += 1
            met = clauses()
            position += 1
            return met
        if match := re.compile(r"filterable:\[(\d+) TO (\d+)\}").match(text, position):
            position = match.end()
            return any(match[1] <= one < match[2] for one in terms)
        match = re.compile(r"filterable:(\d+)").match(text, position)
        assert match, text[position:]
        position = match.end()
        return match[1] in terms

    def clauses() -> bool:
        nonlocal position
        signs: dict[str, list[bool]] = {"+": [], "-": [], "": []}
        while position < len(text) and text[position] != ")":
            if text[position] == " ":
                position += 1
                continue
            sign = text[position] if text[position] in "+-" else ""
            position += len(sign)
            signs[sign].append(clause())
        wanted = all(signs["+"]) if signs["+"] else any(signs[""])
        return wanted and not any(signs["-"])

    return clauses()


def in_a_box(plan: Any, properties: Mapping[str, Any]) -> bool:
    """Whether a chunk may be in a box: one with a list of several values has no key."""
    terms = properties["filterable"] or []
    return any(
        all(
            side.first <= key < side.after if (key := properties[side.property]) is not None else side.several in terms
            for side in box
        )
        for box in plan.boxes
    )


def check(document: Mapping[str, Any], row: Mapping[str, Any]) -> None:
    """Compare what the indexes admit of a row with the plain model."""
    plan = make_plan(parse_filter(document), sorted(NAMES))
    properties = chunk_properties(sorted(NAMES), row)
    wanted = oracle(document, row)
    if plan.terms:
        found = holds(plan.terms, properties["filterable"] or [])
        assert found >= wanted
        assert not plan.exact or found == wanted
    if plan.boxes is not None:
        found = in_a_box(plan, properties)
        assert found >= wanted
        single = not any(isinstance(value, list) and len(value) > 1 for value in row.values())
        assert not (plan.boxes_exact and single) or found == wanted


@given(DOCUMENTS, st.dictionaries(st.sampled_from(NAMES), VALUES))
def test_the_indexes_admit_what_the_filter_does(document: dict[str, Any], row: dict[str, Any]) -> None:
    check(document, row)


@given(st.sampled_from(["$eq", "$ne", "$lt", "$lte", "$gt", "$gte"]), HARD, HARD)
@example("$gt", 2**53, 2**53 + 1)
@example("$lt", "a" * 61, "a" * 60)
def test_values_that_share_a_key_are_not_left_out(operator: str, operand: Any, value: Any) -> None:
    if operator not in ("$eq", "$ne") and isinstance(operand, bool):
        return
    check({"year": {operator: operand}}, {"year": value})


@given(HARD | VALUES.filter(lambda value: not isinstance(value, list)), HARD)
def test_the_order_of_keys_is_that_of_values(one: Any, other: Any) -> None:
    if isinstance(one, bool) or isinstance(other, bool) or isinstance(one, str) is not isinstance(other, str):
        return
    if isinstance(one, str) and max(len(one.encode()), len(other.encode())) > 60:
        return
    if one < other:
        assert key_of(one) <= key_of(other)  # type: ignore[operator]


def test_a_chunks_own_value_comes_before_its_documents() -> None:
    assert declared_values(["lang", "year"], {"year": 1, "lang": "da", "x": 1}, {"year": 2}) == {
        "lang": "da",
        "year": 2,
    }


@pytest.mark.parametrize(
    ("filters", "by"),
    [
        ({"year": {"$gte": 1}}, ["index"]),
        ({"year": 1, "draft": {"$ne": True}}, ["index", "full-text index"]),
        ({"year": 1, "place": "Vind"}, ["index", "streamed"]),
        ({"$or": [{"year": 1}, {"author": "x"}]}, ["full-text index", "full-text index"]),
        ({"$or": [{"year": 1}, {"place": "x"}]}, ["full-text index", "streamed"]),
        ({"author": {"$like": "x"}}, ["streamed"]),
        ({"title": "x", "metadata.year": 1}, ["streamed", "index"]),
    ],
)
def test_a_plan_says_how_each_condition_is_evaluated(filters: dict[str, Any], by: list[str]) -> None:
    plan = make_plan(parse_filter(filters), sorted(NAMES))

    assert [one["by"] for one in plan.evaluated] == by


def test_without_declared_fields_all_is_streamed() -> None:
    plan = make_plan(parse_filter({"year": 1}), ())

    assert (plan.terms, plan.boxes, plan.exact) == ("", None, False)
    assert plan.fields == (("metadata.year", "metadata.year"),)


@pytest.mark.parametrize("names", [[""], [" "], ["a\nb"], ["x" * 201], [3], [f"f{n}" for n in range(MOST_FIELDS + 1)]])
def test_what_cannot_be_declared_is_refused(names: list[Any]) -> None:
    with pytest.raises(InputError):
        check_filterable(names)


def test_names_are_kept_once_in_order_and_fields_of_chunks_are_none() -> None:
    assert declared_fields(["year", "metadata.lang", "year", "metadata.title"]) == ("lang", "title", "year")
    with pytest.raises(InputError, match="title"):
        declared_fields(["title"])


def test_an_analyser_that_drops_digits_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="simple"):
        check_keeps_digits("simple")
    check_keeps_digits("english")
