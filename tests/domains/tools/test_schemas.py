"""Schemas of tools: which are kept as they are, and which can't be used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pipeline.domains.tools.sources.paths import read
from pipeline.domains.tools.sources.schemas import DEEPEST, LARGEST, checked_schema
from tests.domains.tools.test_sources import QUERY, write


def nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(depth - 1):
        schema = {"not": schema}
    return schema


@pytest.mark.parametrize(
    "schema",
    [
        {},
        QUERY,
        nested(DEEPEST),
        {"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}]},
        {"type": ["string", "null"], "default": None, "enum": ["a", None], "maxLength": 3.0},
        {"exclusiveMinimum": True, "minimum": 0},
        {"dependencies": {"a": ["b"], "b": {"required": ["c"]}}},
        {"properties": {"$ref": {"type": "string"}, "type": {"type": "string"}, "required": True}},
        {"$ref": "#/$defs/node", "$defs": {"node": {"properties": {"next": {"$ref": "#/$defs/node"}}}}},
        {"default": {"$ref": "https://example.com/x.json", "type": 7}, "x-own": {"type": 7}},
        {"pattern": "(?<year>\\p{Nd}+)", "format": "my-own"},
    ],
)
def test_schema_that_is_kept_as_it_is(schema: dict[str, Any]) -> None:
    assert checked_schema(schema) == (schema, "")


def test_schemas_that_are_bools() -> None:
    assert checked_schema(True) == ({}, "")
    assert checked_schema(False) == ({"not": {}}, "")
    assert checked_schema(None) == (None, "")


@pytest.mark.parametrize(
    ("schema", "fault"),
    [
        ("object", "is 'object', not an object"),
        ([], "is an empty list, not an object"),
        (7, "is a number, not an object"),
        (nested(DEEPEST + 1), "is nested more than 50 deep"),
        ({"default": [nested(DEEPEST)]}, "is nested more than 50 deep"),
        ({"description": "x" * LARGEST}, "is larger than 200 kB"),
        ({"maximum": float("inf")}, "has a number that JSON can't hold"),
        ({"type": "str"}, "has 'str' in place of a type at /type"),
        ({"type": []}, "has an empty list in place of a type at /type"),
        ({"properties": []}, "has an empty list in place of an object at /properties"),
        ({"properties": {"a": "string"}}, "has 'string' for a schema at /properties/a"),
        ({"properties": {"a": {"required": True}}}, "has true in place of a list of names at /properties/a/required"),
        ({"items": [{}, 7]}, "has a number for a schema at /items/1"),
        ({"anyOf": []}, "has an empty list in place of a list of schemas at /anyOf"),
        ({"anyOf": [{}, {"enum": "a"}]}, "has 'a' in place of a list at /anyOf/1/enum"),
        ({"additionalProperties": {"description": None}}, "has null in place of a text at /additionalProperties/desc"),
        ({"uniqueItems": "yes"}, "has 'yes' in place of true or false at /uniqueItems"),
        ({"minLength": -1}, "has a number in place of a count at /minLength"),
        ({"minimum": "0"}, "has '0' in place of a number at /minimum"),
        ({"$ref": "https://example.com/x.json"}, "refers to another file, 'https://example.com/x.json', at /$ref"),
        ({"not": {"$ref": "other.json#/a"}}, "refers to another file, 'other.json#/a', at /not/$ref"),
        ({"$dynamicRef": "file:///etc/passwd"}, "refers to another file, 'file:///etc/passwd', at /$dynamicRef"),
        ({"$ref": 7}, "has a number in place of a reference at /$ref"),
    ],
)
def test_schema_that_can_not_be_used_is_a_fault(schema: Any, fault: str) -> None:
    found = checked_schema(schema)

    assert found.schema is None
    assert found.fault.startswith(fault)


@pytest.mark.parametrize(
    ("item", "fault"),
    [
        ({"inputSchema": "object"}, "input schema is 'object', not an object"),
        ({"outputSchema": {"type": "str"}}, "output schema has 'str' in place of a type at /type"),
        ({"arguments": {}}, "input schema can't be made: its arguments aren't a list"),
        ({"arguments": [{"name": "a"}, {"type": "string"}]}, "input schema can't be made: argument 2 has no name"),
        (
            {"arguments": [{"name": "a", "type": "str"}]},
            "input schema has 'str' in place of a type at /properties/a/type",
        ),
    ],
)
def test_fault_is_told_and_the_tool_kept(item: dict[str, Any], fault: str, tmp_path: Path) -> None:
    (tool,) = read([write(tmp_path / "library.json", [{"name": "find", **item}])]).tools

    assert tool.faults == (fault,)
    assert (tool.input, tool.output) == (None, None)
