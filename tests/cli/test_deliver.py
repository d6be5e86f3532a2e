"""What a command found: as JSON, as a view, or as a warning that there is nothing."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import pytest
from rich.text import Text

from pipeline.cli.deliver import deliver, deliver_report
from pipeline.json_values import plain


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True)
class Part:
    name: str
    colours: frozenset[Colour]


@dataclass(frozen=True)
class Whole:
    parts: tuple[Part, ...]
    notes: dict[Colour, Part]


class Summary:
    def to_json(self) -> dict[str, Any]:
        return {"part": Part("a", frozenset())}


PART = Part("é\x1b[31m", frozenset({Colour.RED}))


def test_records_are_plain_by_their_fields_and_by_to_json() -> None:
    assert plain(Whole((PART,), {Colour.RED: PART})) == {
        "parts": [{"name": "é\x1b[31m", "colours": ["red"]}],
        "notes": {"red": {"name": "é\x1b[31m", "colours": ["red"]}},
    }
    assert plain([Summary(), None, 1.5]) == [{"part": {"name": "a", "colours": []}}, None, 1.5]


def test_json_is_one_document_without_control_characters(capsys: pytest.CaptureFixture[str]) -> None:
    deliver(PART, True, lambda part: part.name, "Nothing.")

    out, err = capsys.readouterr()
    assert json.loads(out) == {"name": PART.name, "colours": ["red"]}
    assert "\x1b" not in out
    assert "é" in out
    assert not err


def test_another_document_may_stand_for_the_value(capsys: pytest.CaptureFixture[str]) -> None:
    deliver([PART], True, lambda _: "", document={"first": PART})

    assert json.loads(capsys.readouterr().out) == {"first": plain(PART)}


@pytest.mark.parametrize(
    ("shown", "printed"),
    [("[b]a[/b]", "[b]a[/b]\n"), (Text("a"), "a\n"), ([Text("a"), "", Text("b")], "a\n\nb\n")],
    ids=["a text, in which nothing is markup", "a renderable", "several"],
)
def test_people_see_the_view(shown: Any, printed: str, capsys: pytest.CaptureFixture[str]) -> None:
    deliver(PART, False, lambda _: shown, "Nothing.")

    assert capsys.readouterr() == (printed, "")


def test_nothing_is_a_warning_and_an_empty_list_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    deliver([], False, lambda _: "a view", "Nothing.")
    deliver(PART, False, lambda _: "a view", "Nothing either.", is_empty=True)
    deliver([], True, lambda _: "a view", "Nothing.")
    deliver([], False, lambda _: "a view")

    assert capsys.readouterr() == ("[]\na view\n", "hoprank: Nothing.\nhoprank: Nothing either.\n")


def test_a_report_goes_to_a_file_beside_the_view_or_to_stdout(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    deliver_report({"a": 1}, tmp_path / "report.json", lambda: print("view"))
    deliver_report({"a": 1}, Path("-"), lambda: print("view"))

    assert json.loads((tmp_path / "report.json").read_text()) == {"a": 1}
    assert capsys.readouterr().out == 'view\n{\n  "a": 1\n}\n'
