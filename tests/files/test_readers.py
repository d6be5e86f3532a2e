"""The readers of foreign files: what they return, and that whatever is wrong is one error that names file and place."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from pipeline.errors import HopRankError, QuerySetError, SourceError
from pipeline.files import DEFAULT_LIMITS, GUARD, Guard, Unreadable, lines, parse_json, read_json, read_text
from pipeline.files.guard import MEND
from pipeline.files.validated import validated
from pipeline.files.yaml import parse_yaml, read_yaml

MENDING = Guard(mend=True)
EXAMPLES = 300


def refusal(read: Callable[[], object], error: type[HopRankError] = SourceError) -> str:
    with pytest.raises(error) as caught:
        read()
    assert caught.value.fix
    return caught.value.message


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_every_reader_takes_the_same_encodings(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "file"
    path.write_bytes('{"a": "ä\u2028"}\r\n\r\n{"a": 1}'.encode(encoding))

    assert [(line.number, line.object()) for line in lines(path)] == [(1, {"a": "ä\u2028"}), (3, {"a": 1})]
    path.write_bytes('{"a": "ä"}\r\n'.encode(encoding))
    assert read_json(path) == read_yaml(path) == {"a": "ä"}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "isn't JSON: Expecting property name enclosed in double quotes at column 2"),
        ('{\n"a": x}', "isn't JSON: Expecting value at line 2, column 6"),
        ("", "isn't JSON: Expecting value at column 1"),
        ("[" * 100_000, "is nested too deeply"),
        ("[" * 102 + "]" * 102, "is nested too deeply"),
        ("1" * 5_000, "isn't JSON that can be read: it holds a number of thousands of digits"),
        ('{"a": {"b": [0, "\\ud83d"]}}', "holds half a surrogate pair in `a.b.1`"),
        ('["\ud83d"]', "holds half a surrogate pair in `0`"),
        ('{"\\ud83d": 1}', "holds half a surrogate pair"),
        ("[NaN]", "holds NaN, which is no finite number"),
        ("[-Infinity]", "holds -Infinity, which is no finite number"),
        ("[1e999]", "holds 1e999, which is no finite number"),
    ],
)
def test_json_that_cannot_be_read_or_stored_is_refused(text: str, problem: str) -> None:
    assert refusal(lambda: parse_json(text), Unreadable) == problem


def test_json_at_the_limits_is_read() -> None:
    deep = "[" * 101 + "]" * 101

    assert json.dumps(parse_json(deep)) == deep
    assert parse_json('{"a": 1, "a": "\\ud83d\\ude00\\u0000"}') == {"a": "😀\x00"}


def test_mending_replaces_what_cannot_be_stored() -> None:
    assert parse_json('{"\\ud83d": ["a\\u0000", NaN, 1e999]}', MENDING) == {"\ufffd": ["a\ufffd", None, None]}
    assert parse_yaml('a: ["\\ud83d", .inf, !!set {"\\0"}]', MENDING) == {"a": ["\ufffd", None, {"\ufffd"}]}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: [", "isn't YAML: expected the node content, but found '<stream end>' at line 1, column 5"),
        ("a: 1\nb: 2024-13-45", "isn't YAML: month must be in 1..12 at line 2, column 4"),
        ("a: 1\nb:\n  c: 1\n  c: 2", "isn't YAML: 'c' is there twice at line 4, column 3"),
        ("a: &x [1]\nb: *x", "isn't YAML: it has an alias (*name) at line 2, column 4"),
        ("a: !!python/object/apply:os.getcwd []", "isn't YAML: could not determine a constructor"),
        ("\x00", "isn't YAML: unacceptable character"),
        ('a: "\\UFFFFFFFF"', "isn't YAML: "),
        ("[" * 200, "is nested too deeply"),
        ("a: " + "1" * 5_000, "isn't YAML: "),
        ('a: ["\\ud800"]', "holds half a surrogate pair in `a.0`"),
        ("a: .nan", "holds nan, which is no number, in `a`"),
        ("a: " + "x" * 100_000, "has 100,003 characters"),
    ],
)
def test_yaml_that_cannot_be_read_or_stored_is_refused(text: str, problem: str) -> None:
    assert refusal(lambda: parse_yaml(text), Unreadable).startswith(problem)


def test_yaml_without_types_holds_texts_only() -> None:
    assert parse_yaml("{a: 2024-13-45, b: !reset null}", typed=False) == {"a": "2024-13-45", "b": "null"}


def test_a_repeated_key_of_yaml_is_permitted_on_request() -> None:
    assert parse_yaml("a: 1\na: 2", unique=False) == {"a": 2}


def test_aliases_are_permitted_on_request_but_expand_to_little() -> None:
    steps = "\n".join(f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]" for before, name in pairwise("abcdefg"))

    assert parse_yaml("a: &x [1]\nb: *x", aliases=True) == {"a": [1], "b": [1]}
    assert "aliases make more than" in refusal(lambda: parse_yaml(f"a: &a [x]\n{steps}", aliases=True), Unreadable)
    assert "alias of what it is in" in refusal(lambda: parse_yaml("a: &a [*a]", aliases=True), Unreadable)


def test_a_line_that_cannot_be_read_is_named_when_it_is_used(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"a": 1}\n\xff\n[\n\x00\n' + b"x" * 99 + b"\n[1]\n")

    first, *bad, last = lines(path, Guard(limits=replace(DEFAULT_LIMITS, bytes_read=50)))

    assert first.object() == {"a": 1}
    assert [refusal(line.json).removeprefix(f"{path}, ") for line in bad] == [
        "line 2 isn't valid UTF-8.",
        "line 3 isn't JSON: Expecting value at column 2.",
        "line 4 is binary.",
        "line 5 is longer than 50 characters.",
    ]
    assert refusal(last.object) == f"{path}, line 6 isn't a JSON object."


def test_columns_are_separated_by_tabs_alone(tmp_path: Path) -> None:
    path = tmp_path / "x.tsv"
    path.write_text('a "b\tc\u2028d\t1\r\n\n \na b 1\n', newline="")

    good, bad = lines(path)

    assert good.columns(3) == ['a "b', "c\u2028d", "1"]
    assert refusal(lambda: bad.columns(3)).startswith(f"{path}, line 4 hasn't 3 columns separated by tabs")


@pytest.mark.parametrize("name", ["", "none", "a\x00b", "x" * 300])
@pytest.mark.parametrize("read", [lambda path: list(lines(path)), read_json, read_yaml, read_text])
def test_a_file_that_cannot_be_opened_is_named(tmp_path: Path, name: str, read: Callable[[Path], object]) -> None:
    assert refusal(lambda: read(tmp_path / name)).startswith(f"{tmp_path / name} can't be read: ")


def test_the_guard_chooses_the_class_of_the_error_and_its_advice(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("{")
    guard = Guard(QuerySetError, "Write one.")

    with pytest.raises(QuerySetError, match=r"x\.json isn't JSON") as caught:
        read_json(tmp_path / "x.json", guard)
    assert caught.value.fix == "Write one."
    assert refusal(lambda: read_json(tmp_path / "x.json", Guard(Unreadable)), Unreadable).startswith("isn't JSON")


class Inner(BaseModel, extra="forbid", strict=True):
    """A record in a record."""

    count: int = Field(ge=0)


class Outer(BaseModel, extra="forbid", strict=True):
    """A record with fields of its own."""

    name: str
    inner: list[Inner] = []


@pytest.mark.parametrize(
    ("value", "problem", "fix"),
    [
        ({}, "has no `name`", MEND),
        ({"name": 3}, "has the `name` 3: input should be a valid string", MEND),
        ({"name": "x", "nam": 1}, "has `nam`, which is unknown", "Did you mean 'name'?"),
        ({"name": "x", "inner": [{"count": -1}]}, "has the `inner.0.count` -1: input should be greater", MEND),
        ([], "isn't an object of names and values", MEND),
    ],
)
def test_a_value_that_fits_no_record_is_refused_by_field(value: object, problem: str, fix: str) -> None:
    with pytest.raises(SourceError) as caught:
        validated(Outer, value, "a.jsonl, line 7")
    assert caught.value.message.startswith(f"a.jsonl, line 7 {problem}")
    assert caught.value.fix == fix


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters()), inner),
)
FRAGMENTS = st.sampled_from(
    [
        *"{}[],:\"'\\-?|>&*#~%= ab\0\ufeff\ud800\u2028\t\n\r",
        *"\\u \\ud800 \\x \\U *a &a !! !!int !!float !!timestamp !!bool !!binary !!set !!omap !!pairs <<".split(),
        *"%YAML --- ... null NaN Infinity 1e999 .inf .nan 0x 0b 1:2 2024-01-01 2024-99-99T99:99:99 true yes".split(),
    ]
)
TEXTS = st.lists(FRAGMENTS, max_size=20).map("".join) | st.text(st.characters()) | VALUES.map(json.dumps)


def harmless(value: Any) -> None:
    """Fail if a value holds what can't be stored."""
    json.dumps(value, allow_nan=False, ensure_ascii=False, default=str).encode()


@settings(max_examples=EXAMPLES)
@given(TEXTS)
@example("[1" + "0" * 400 + ".0]")
def test_any_text_is_json_or_refused(text: str) -> None:
    for guard in (GUARD, MENDING):
        try:
            value = parse_json(text, guard)
        except Unreadable:
            continue
        harmless(value)


@settings(max_examples=EXAMPLES)
@given(TEXTS)
def test_any_text_is_yaml_or_refused(text: str) -> None:
    for guard, plain in ((GUARD, True), (MENDING, False)):
        try:
            parse_yaml(text, guard, typed=plain, unique=plain, aliases=not plain)
        except Unreadable:
            continue


def encoded(encoding: str) -> st.SearchStrategy[bytes]:
    return TEXTS.map(lambda text: text.encode(encoding, "surrogatepass"))


@settings(max_examples=EXAMPLES)
@given(content=encoded("utf-8") | encoded("utf-16") | st.binary())
def test_any_file_is_lines_or_refused(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any"
    path.write_bytes(content)
    with suppress(SourceError):
        for line in lines(path, replace(GUARD, limits=replace(DEFAULT_LIMITS, bytes_read=20))):
            for use in (line.json, line.object, partial(line.columns, 3)):
                with suppress(SourceError):
                    use()


@given(st.floats(), st.sampled_from(["{}", "[{}, 1]", '{{"a": {}}}', '"{}"']), st.integers(-400, 400))
def test_a_number_that_is_not_finite_is_refused_however_it_is_spelled(number: float, frame: str, power: int) -> None:
    for spelled in (json.dumps(number), f"1.5e{power}", f"2E+{abs(power)}", f"{'9' * abs(power)}0.5"):
        text = frame.format(spelled)
        if frame == '"{}"' or math.isfinite(float(spelled)):
            assert parse_json(text) == json.loads(text)
        else:
            with pytest.raises(Unreadable, match="no finite number"):
                parse_json(text)
