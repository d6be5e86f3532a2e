"""Filters by themselves: what is refused and how, and what each operator means, against an oracle in plain Python."""

from __future__ import annotations

import fnmatch
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import FilterError
from pipeline.retrieve.filters.conditions import as_row_test, as_test
from pipeline.retrieve.filters.parse import DEEPEST, LONGEST, MOST_VALUES, Condition, Every, Operator, parse_filter

Row = Mapping[str, Any]

NAMES = ("year", "author", "tags", "draft")
TEXT = st.text("abAB%_\\*?[!ß", max_size=5)
NUMBERS = st.integers(-3, 3) | st.floats(-3, 3).map(lambda value: round(value * 2) / 2) | st.just(2**70)
SCALARS = st.booleans() | NUMBERS | TEXT
VALUES = SCALARS | st.lists(TEXT, max_size=3) | st.lists(NUMBERS, max_size=3)
ROWS = st.lists(st.dictionaries(st.sampled_from(NAMES), VALUES), max_size=8)

OPERANDS: Mapping[str, st.SearchStrategy[Any]] = {
    **dict.fromkeys(("$eq", "$ne"), SCALARS),
    **dict.fromkeys(("$lt", "$lte", "$gt", "$gte"), NUMBERS | TEXT),
    "$between": st.lists(NUMBERS, min_size=2, max_size=2) | st.lists(TEXT, min_size=2, max_size=2),
    **dict.fromkeys(("$in", "$nin"), st.lists(SCALARS, max_size=4)),
    **dict.fromkeys(("$like", "$ilike"), TEXT),
}
OPERATIONS = st.one_of(*(st.tuples(st.just(name), operand) for name, operand in OPERANDS.items()))
FIELD = st.tuples(
    st.sampled_from(NAMES), SCALARS | st.lists(OPERATIONS, min_size=1, max_size=2).map(dict[str, Any])
).map(lambda entry: dict([entry]))
DOCUMENTS = st.recursive(
    FIELD | st.just({}),
    lambda parts: (
        st.tuples(st.sampled_from(("$and", "$or")), st.lists(parts, min_size=1, max_size=3)).map(
            lambda entry: dict([entry])
        )
        | st.tuples(parts, parts).map(lambda two: {**two[0], **two[1]})
    ),
    max_leaves=8,
)


def oracle(document: Mapping[str, Any], row: Row) -> bool:
    """Whether a row meets a filter, as its description says it."""
    for key, value in document.items():
        if key == "$and":
            met = all(oracle(part, row) for part in value)
        elif key == "$or":
            met = any(oracle(part, row) for part in value)
        elif key not in row:
            met = False
        else:
            conditions = value if isinstance(value, dict) else {"$eq": value}
            met = all(meets(row[key], name, operand) for name, operand in conditions.items())
        if not met:
            return False
    return True


def meets(value: Any, name: str, operand: Any) -> bool:
    values = value if isinstance(value, list) else [value]
    if name == "$ne":
        return all(not same(one, operand) for one in values)
    if name == "$nin":
        return all(not any(same(one, other) for other in operand) for one in values)
    return any(one_meets(one, name, operand) for one in values)


def one_meets(one: Any, name: str, operand: Any) -> bool:
    match name:
        case "$eq":
            return same(one, operand)
        case "$in":
            return any(same(one, other) for other in operand)
        case "$between":
            return one_meets(one, "$gte", operand[0]) and one_meets(one, "$lte", operand[1])
        case "$like":
            return isinstance(one, str) and like(one, operand)
        case "$ilike":
            return isinstance(one, str) and like(one.casefold(), operand.casefold())
    if kind(one) != kind(operand) or isinstance(one, bool):
        return False
    return bool({"$lt": one < operand, "$lte": one <= operand, "$gt": one > operand, "$gte": one >= operand}[name])


def like(text: str, pattern: str) -> bool:
    literal = [part.replace("\0", "%") for part in pattern.replace("\\%", "\0").split("%")]
    if len(literal) == 1:
        return literal[0] in text
    return re.fullmatch(".*".join(map(re.escape, literal)), text, re.DOTALL) is not None


def same(one: Any, other: Any) -> bool:
    return kind(one) == kind(other) and bool(one == other)


def kind(value: Any) -> str:
    return "truth" if isinstance(value, bool) else "text" if isinstance(value, str) else "number"


def admitted(document: Mapping[str, Any], rows: Sequence[Row]) -> list[bool]:
    return list(map(as_row_test(parse_filter(document)), rows))


@given(DOCUMENTS, ROWS)
def test_a_filter_admits_what_it_says(document: dict[str, Any], rows: list[Row]) -> None:
    assert admitted(document, rows) == [oracle(document, row) for row in rows]


@given(DOCUMENTS)
def test_a_filter_that_went_through_json_is_the_same(document: dict[str, Any]) -> None:
    assert parse_filter(json.loads(json.dumps(document))) == parse_filter(document)


JSON = st.recursive(
    st.none() | SCALARS | st.just(float("nan")),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*Operator, "$and", "$or", "$not", "year", ""]), inner, max_size=3)
    ),
    max_leaves=10,
)


@given(JSON)
def test_whatever_is_no_filter_is_refused_with_a_fix(document: object) -> None:
    with suppress(FilterError):
        parse_filter(document)
        return
    with pytest.raises(FilterError) as caught:
        parse_filter(document)
    assert caught.value.fix


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ([], r"The filter is \[\], not an object"),
        ({"year": {"$gtt": 1990}}, r"'year' has '\$gtt'.*\n.*Did you mean \$gt"),
        ({"$not": [{}]}, r"'\$not'.*\n.*The operators are \$eq"),
        ({"$gt": 3}, r"'\$gt' where a field's name.*\nPut it below a field"),
        ({"year": {"$or": [1, 2]}}, r"'year' has '\$or' below it"),
        ({"year": {}}, "'year' has no operator"),
        ({"year": {"more": {"$eq": 1}}}, "'year' has 'more' where an operator"),
        ({"year": None}, "'year' is null"),
        ({"year": [1990]}, r"\[1990\].*\nUse \$in"),
        ({"year": float("inf")}, "inf"),
        ({"year": {"$in": 1990}}, "1990, not a list"),
        ({"year": {"$in": [[1]]}}, r"\$in of 'year' is \[1\]"),
        ({"year": {"$between": [1, 2, 3]}}, "has 3 values"),
        ({"year": {"$between": [1, "b"]}}, "bounds 1 and 'b'"),
        ({"year": {"$between": [True, False]}}, "bounds True and False"),
        ({"draft": {"$lt": True}}, "neither before nor after"),
        ({"author": {"$like": 3}}, "3, not a text"),
        ({"$and": {}}, r"\$and has {}"),
        ({"$or": [{"year": 1}, 3]}, r"Part 2 of \$or is 3"),
        ({"": 1}, "field named ''"),
        ({"a\ud800": 1}, "field named"),
        ({"a" * (LONGEST + 1): 1}, "field named"),
        ({3: 1}, "field named 3"),
        ({"author": "a" * (LONGEST + 1)}, "1,001 characters"),
        ({"year": {"$in": list(range(MOST_VALUES + 1))}}, "more than 10,000 values"),
        ({"$and": [{"year": {"$in": list(range(6000))}}] * 2}, "more than 10,000 values"),
    ],
)
def test_an_error_names_what_is_wrong(document: object, said: str) -> None:
    with pytest.raises(FilterError, match=said):
        parse_filter(document)


def test_a_filter_may_be_nested_but_not_without_end() -> None:
    def nested(levels: int) -> dict[str, Any]:
        document: dict[str, Any] = {"year": 1}
        for _ in range(levels - 1):
            document = {"$and": [document, {"draft": False}]}
        return document

    assert isinstance(parse_filter(nested(DEEPEST)), Every)
    for levels in (DEEPEST + 1, 400):
        with pytest.raises(FilterError, match="nested more than 16"):
            parse_filter(nested(levels))


def test_dates_are_compared_as_they_are_stored() -> None:
    rows = [{"day": "1951-03-02"}, {"day": "1951-03-04"}]

    assert admitted({"day": {"$gt": date(1951, 3, 3)}}, rows) == [False, True]


@pytest.mark.parametrize(
    ("pattern", "matching", "other"),
    [
        ("tide", "The tide gauge", "The Tide gauge"),
        ("tide%", "tides and winds", "The tide"),
        ("%tide", "The tide", "The tides"),
        ("t%d%e", "the made one", "tide or"),
        ("100\\%", "at 100% now", "at 1000"),
        ("snake_case", "a snake_case name", "a snakeXcase name"),
        ("%", "", None),
    ],
)
def test_like_finds_text_and_percent_signs_stand_for_any(pattern: str, matching: str, other: object) -> None:
    test = as_test(Condition("author", Operator.LIKE, (pattern,)))

    assert test(matching)
    assert not test(other)  # type: ignore[arg-type]


def test_ilike_is_blind_to_case_in_any_script() -> None:
    rows = [{"author": "STRASSE"}, {"author": "Ægir"}, {"author": "egir"}]

    assert admitted({"author": {"$ilike": "straße"}}, rows) == [True, False, False]
    assert admitted({"author": {"$ilike": "%ÆGIR"}}, rows) == [False, True, False]


def test_a_pattern_made_to_be_slow_is_not() -> None:
    pattern = "%a" * 400 + "%b"

    assert not as_test(Condition("author", Operator.LIKE, (pattern,)))("a" * 20_000)
    # What a naive translation would do takes longer than the age of the universe.
    assert fnmatch.translate("*a*b").count("(?>")
