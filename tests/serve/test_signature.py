"""Signatures: schemas of functions, checked arguments, and results as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import pytest
from annotated_types import Le
from pydantic import Field

from pipeline.errors import InputError
from pipeline.retrieve.legs import Leg
from pipeline.retrieve.question import check_question, remarks
from pipeline.serve.signature import Signature, warned


@dataclass(frozen=True)
class Answer:
    number: int
    names: tuple[str, ...] = ()


def answer(
    _server: object,
    title: Annotated[str, Field(description="The title.")],
    top_k: Annotated[int, Field(ge=1, description="How many.")] = 5,
    corpus: str = "default",
) -> Answer:
    return Answer(top_k, (title, corpus))


SIGNATURE = Signature(answer, {"top_k": Le(9), "unknown": Le(1)}, {"corpus": "docs"})


def test_the_schema_has_descriptions_limits_and_defaults() -> None:
    assert SIGNATURE.input_schema == {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "title": {"type": "string", "description": "The title."},
            "top_k": {"type": "integer", "minimum": 1, "maximum": 9, "default": 5, "description": "How many."},
            "corpus": {"type": "string", "default": "docs"},
        },
        "required": ["title"],
    }
    assert SIGNATURE.output_schema["properties"].keys() == {"number", "names"}


def test_a_fixed_argument_is_the_server_s_and_no_client_s() -> None:
    signature = Signature(answer, fixed={"corpus": "docs"})

    assert signature.input_schema["properties"].keys() == {"title", "top_k"}
    assert signature.read({"title": "Log"}) == {"title": "Log", "top_k": 5, "corpus": "docs"}
    with pytest.raises(InputError, match="corpus: Extra inputs"):
        signature.read({"title": "Log", "corpus": "secrets"})


def test_a_schema_is_short_for_the_models_that_read_it() -> None:
    def ask(_: object, leg: Leg = Leg.WHOLE, least: Annotated[float | None, Field(ge=0)] = None) -> Answer:
        return Answer(int(least or 0), (leg,))

    signature = Signature(ask)

    assert signature.input_schema["properties"]["least"] == {"type": "number", "minimum": 0}
    assert signature.input_schema["$defs"] == {"Leg": {"type": "string", "enum": [*Leg]}}
    assert signature.read({"least": None}) == {"leg": Leg.WHOLE, "least": None}


def test_arguments_are_checked_and_results_are_json() -> None:
    read = SIGNATURE.read({"title": "a", "top_k": 9})

    assert read == {"title": "a", "top_k": 9, "corpus": "docs"}
    assert SIGNATURE.dump(answer(None, **read)) == {"number": 9, "names": ["a", "docs"]}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({}, "title: Field required"),
        ({"title": "a", "top_k": 10}, "top_k: Input should be less than or equal to 9"),
        ({"title": "a", "top_k": 0}, "top_k: Input should be greater than or equal to 1"),
        ({"title": "a", "more": 1}, "more: Extra inputs"),
    ],
)
def test_wrong_arguments_are_named(arguments: dict[str, object], says: str) -> None:
    with pytest.raises(InputError, match=says):
        SIGNATURE.read(arguments)


def test_an_answer_says_which_question_was_used_in_part() -> None:
    with remarks() as warnings:
        answer = {"task": check_question("bake bread " * 1_700, "task")[-5:]}

    said = "The task has 18,699 characters; its first 9,998 are read."
    assert warned(answer, warnings) == {"task": "bread", "warnings": [said]}
    assert warned(answer, []) == answer
    assert warned({"warnings": ["Unknown.", said]}, [said, "Folded."]) == {"warnings": ["Unknown.", said, "Folded."]}
