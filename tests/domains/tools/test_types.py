from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.domains.tools.settings import Conversion
from pipeline.domains.tools.types.datatypes import (
    ANY,
    INTEGER,
    MAX_NAME,
    NUMBER,
    STRING,
    DataType,
    Kind,
    list_of,
    read_type,
    union_of,
)
from pipeline.domains.tools.types.system import INHERITANCE, UNKNOWN, TypeSystem

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=20,
)
KEYWORDS = "type properties items required enum const anyOf oneOf allOf $ref $defs title format additionalProperties"
VALUES = st.sampled_from(["string", "object", "array", "null", "#", "#/$defs/Node", "date", "Node", "integer"])
SCHEMAS = st.recursive(
    VALUES | st.none() | st.booleans(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYWORDS.split()) | VALUES, inner, max_size=5)
    ),
    max_leaves=30,
)
SIMPLE = st.recursive(
    st.sampled_from(["string", "integer", "number", "boolean"]).map(lambda kind: {"type": kind}),
    lambda inner: (
        inner.map(lambda items: {"type": "array", "items": items})
        | st.lists(inner, min_size=1, max_size=3).map(lambda members: {"anyOf": members})
        | st.dictionaries(st.sampled_from("abcd"), inner, min_size=1, max_size=3).map(
            lambda fields: {"type": "object", "properties": fields, "required": sorted(fields)}
        )
    ),
    max_leaves=6,
)


def obj(required: str = "", **fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": required.split()}


TEXT, WHOLE = {"type": "string"}, {"type": "integer"}


@pytest.mark.parametrize(
    ("schema", "name"),
    [
        ({"type": "string"}, "string"),
        ({"type": "integer", "format": "int32"}, "integer"),
        ({}, "any"),
        (True, "any"),
        ({"type": "nonsense"}, "any"),
        ({"type": "null"}, "null"),
        ({"type": "string", "format": "date"}, "string:date"),
        ({"enum": ["open", "closed", None]}, "enum:closed|open"),
        ({"const": 3}, "enum:3"),
        ({"enum": [True, False]}, "boolean"),
        ({"type": "array", "items": {"type": "array", "items": TEXT}}, "list<list<string>>"),
        ({"type": "array"}, "list<any>"),
        ({"items": TEXT}, "list<string>"),
        ({"type": "object"}, "object"),
        ({"type": "object", "additionalProperties": True}, "object"),
        ({"type": "object", "additionalProperties": WHOLE}, "map<integer>"),
        (obj("b", b=WHOLE, a=TEXT), "{a?: string, b: integer}"),
        ({**obj("a", a=TEXT), "title": "Invoice"}, "Invoice"),
        ({**obj("a", a=TEXT), "title": "pay_invoiceArguments"}, "{a: string}"),
        ({**obj("a", a=TEXT), "title": "pay_invoiceOutput"}, "{a: string}"),
        ({**obj("a", a=TEXT), "title": "string"}, "{a: string}"),
        ({**obj("a", a=TEXT), "title": "list<string>"}, "{a: string}"),
        ({"type": ["string", "null"]}, "string"),
        ({"type": ["string", "integer"]}, "integer | string"),
        ({"anyOf": [TEXT, {"type": "null"}]}, "string"),
        ({"oneOf": [WHOLE, {"anyOf": [TEXT, WHOLE]}]}, "integer | string"),
        ({"anyOf": [TEXT, {}]}, "any"),
        ({"allOf": [{"type": "string", "format": "uri"}]}, "string:uri"),
    ],
)
def test_a_schema_is_read_as_a_type_with_a_readable_name(schema: object, name: str) -> None:
    assert read_type(schema).name == name


def test_a_definition_names_its_type() -> None:
    root = {"$defs": {"Guest": obj("email", email=TEXT)}, "type": "array", "items": {"$ref": "#/$defs/Guest"}}

    assert read_type(root).name == "list<Guest>"
    assert read_type(root["items"], root).fields == {"email": STRING}
    assert read_type(root["items"], root).named


def test_a_schema_that_contains_itself_ends_in_its_name() -> None:
    root = {
        "$defs": {"Node": obj("label", label=TEXT, children={"type": "array", "items": {"$ref": "#/$defs/Node"}})},
        "$ref": "#/$defs/Node",
    }

    read = read_type(root)

    assert (read.name, read.fields["children"].name) == ("Node", "list<Node>")


@pytest.mark.parametrize(
    "reference", ["#", "#/$defs/object", "#/$defs/gone", "https://example.com/x.json", "#/allOf/9"]
)
def test_a_reference_that_leads_nowhere_is_any(reference: str) -> None:
    assert read_type({"$defs": {"object": {"$ref": "#/$defs/object"}}, "$ref": reference}) == ANY


def test_an_object_inherits_from_the_parts_of_all_of() -> None:
    root = {
        "$defs": {
            "Person": obj("name", name=TEXT),
            "Employee": {"allOf": [{"$ref": "#/$defs/Person"}, obj("badge", badge=WHOLE)]},
        },
        "$ref": "#/$defs/Employee",
    }
    employee = read_type(root)

    assert (employee.name, employee.required) == ("Employee", frozenset({"name", "badge"}))
    assert "Person" in [part.name for part in TypeSystem(types=[employee]).parents(employee)]


def test_what_is_too_deep_or_too_large_is_any() -> None:
    deep: dict[str, Any] = TEXT
    for _ in range(500):
        deep = {"type": "array", "items": deep}
    wide = obj("", **{f"field_{number}": {"type": "array", "items": TEXT} for number in range(3000)})

    assert "any" in read_type(deep).name
    assert read_type(wide).fields["field_399"] == ANY
    assert len(read_type(wide).name) <= MAX_NAME


def test_long_names_end_in_a_digest_that_tells_them_apart() -> None:
    first = read_type({"enum": [f"choice_{number}" for number in range(100)]})
    second = read_type({"enum": [f"choice_{number}" for number in range(101)]})

    assert first != second
    assert first == read_type({"enum": [f"choice_{number}" for number in reversed(range(100))]})
    assert len(first.name) <= MAX_NAME


def test_enums_whose_values_hold_a_bar_are_told_apart() -> None:
    assert read_type({"enum": ["a|b"]}) != read_type({"enum": ["a", "b"]})


@given(JSON | SCHEMAS, JSON | SCHEMAS)
def test_reading_never_fails_and_names_are_bounded(schema: object, root: object) -> None:
    for read in (read_type(schema), read_type(schema, root)):
        assert 0 < len(read.name) <= MAX_NAME
        system = TypeSystem(types=[read])
        assert system.compatibility(read, read) is not None
        [system.parents(known) for known in system.types.values()]


@given(SIMPLE)
def test_a_type_depends_on_the_schema_alone(schema: dict[str, Any]) -> None:
    assert read_type(schema) == read_type(json.loads(json.dumps(schema, sort_keys=True)))


@given(SIMPLE)
def test_a_type_fits_itself_fully(schema: dict[str, Any]) -> None:
    read = read_type(schema)
    found = TypeSystem().compatibility(read, read)

    assert found is not None
    assert (found.confidence, found.how, found.chain) == (1.0, "direct", (read.name,))


@given(st.lists(SIMPLE, min_size=2, max_size=6))
def test_confidence_falls_with_the_length_of_the_chain(schemas: list[dict[str, Any]]) -> None:
    types = [read_type(schema) for schema in schemas]
    system = TypeSystem(types=types)
    for source in types:
        for target in types:
            found = system.compatibility(source, target)
            if found and found.how == "inheritance":
                assert found.confidence == pytest.approx(INHERITANCE ** (len(found.chain) - 1))
                assert (found.chain[0], found.chain[-1]) == (source.name, target.name)


@given(st.integers(1, 5))
def test_a_chain_of_inheritance_is_multiplied(length: int) -> None:
    chain = [DataType("T0", Kind.OBJECT)]
    for number in range(1, length + 1):
        chain.append(DataType(f"T{number}", Kind.OBJECT, (chain[-1],)))
    found = TypeSystem(types=chain).compatibility(chain[-1], chain[0])

    assert found is not None
    assert found.confidence == pytest.approx(0.8**length)
    assert found.chain == tuple(each.name for each in reversed(chain))


@pytest.mark.parametrize("names", ["ABC", "ZBC", "AYZ"])
def test_of_two_chains_the_shorter_counts(names: str) -> None:
    top = DataType("Top", Kind.OBJECT)
    short = DataType(names[0], Kind.OBJECT, (top,))
    long = DataType(names[1], Kind.OBJECT, (DataType(names[2], Kind.OBJECT, (top,)),))
    low = DataType("Low", Kind.OBJECT, (short, long))
    found = TypeSystem(types=[low]).compatibility(low, top)

    assert found is not None
    assert found.chain == ("Low", names[0], "Top")


def test_types_that_are_each_others_parents_end() -> None:
    one, other = read_type(obj("a", a=TEXT, b=WHOLE)), read_type(obj("a", a=TEXT, c=WHOLE))
    system = TypeSystem(types=[one, other])

    assert other in system.parents(one)
    assert one in system.parents(other)
    assert system.compatibility(one, STRING) is None


@pytest.mark.parametrize(
    ("source", "target", "steps"),
    [
        (WHOLE, {"type": "number"}, 1),
        ({"type": "number"}, WHOLE, None),
        ({"type": "string", "format": "uri"}, TEXT, 1),
        (TEXT, {"type": "string", "format": "uri"}, None),
        ({"enum": ["a", "b"]}, TEXT, 1),
        ({"enum": [1, 2]}, {"type": "number"}, 2),
        ({"type": "array", "items": WHOLE}, {"type": "array", "items": {"type": "number"}}, 1),
        ({"type": "array", "items": TEXT}, TEXT, None),
        (TEXT, {"type": ["string", "integer"]}, 1),
        (WHOLE, {"type": ["string", "number"]}, 2),
        ({"type": ["string", "integer"]}, TEXT, None),
        ({"type": ["number", "integer"]}, {"type": "number"}, 0),
        ({"type": ["string", "integer"]}, {"type": ["string", "integer", "boolean"]}, 1),
        (obj("a b", a=TEXT, b=WHOLE), obj("a", a=TEXT), 1),
        (obj("a", a=TEXT), obj("a b", a=TEXT, b=WHOLE), None),
        (obj("a", a=TEXT, b=WHOLE), obj("a b", a=TEXT, b=WHOLE), None),
        (obj("a b", a=WHOLE, b=WHOLE), obj("a", a=TEXT), None),
        (obj("a", a={"type": "string", "format": "date"}), obj("a", a=TEXT), 1),
        (obj("a", a=TEXT), {"type": "object"}, 1),
        ({"type": "object"}, obj("a", a=TEXT), None),
    ],
)
def test_what_a_type_inherits_from(source: object, target: object, steps: int | None) -> None:
    found = TypeSystem().compatibility(read_type(source), read_type(target))

    if steps is None:
        assert found is None
    else:
        assert found is not None
        assert found.confidence == pytest.approx(0.8**steps) or (steps == 0 and found.confidence == 0.8)


def test_any_fits_everything_a_little() -> None:
    system = TypeSystem()
    for source, target in ((ANY, STRING), (STRING, ANY), (ANY, ANY)):
        found = system.compatibility(source, target)
        assert found is not None
        assert (found.confidence, found.how) == (UNKNOWN, "any")


def test_a_rule_converts_between_types() -> None:
    system = TypeSystem([Conversion(source="number", target="string", confidence=0.6, converter="str")])
    exact, inherited = system.compatibility(NUMBER, STRING), system.compatibility(INTEGER, STRING)

    assert exact is not None
    assert inherited is not None
    assert (exact.confidence, exact.how, exact.converter) == (0.6, "rule", "str")
    assert inherited.confidence == pytest.approx(0.48)
    assert inherited.chain == ("integer", "number", "string")
    assert system.compatibility(list_of(NUMBER), list_of(STRING)) is not None
    assert system.compatibility(STRING, NUMBER) is None


def test_a_rule_for_two_types_counts_more_than_inheritance() -> None:
    rules = [
        Conversion(source="integer", target="number", confidence=0.95, converter="float"),
        Conversion(source="string:date", target="string", confidence=0),
    ]
    system = TypeSystem(rules)
    found = system.compatibility(INTEGER, NUMBER)

    assert found is not None
    assert (found.confidence, found.converter) == (0.95, "float")
    assert system.compatibility(read_type({"type": "string", "format": "date"}), STRING) is None


@pytest.mark.parametrize("confidence", [-0.1, 1.1])
def test_the_confidence_of_a_rule_is_a_share(confidence: float) -> None:
    with pytest.raises(ValueError, match="than or equal to"):
        Conversion(source="a", target="b", confidence=confidence)


def test_of_two_objects_of_a_name_that_with_fields_is_kept() -> None:
    full = read_type({**obj("a", a=TEXT), "title": "Account"})
    system = TypeSystem(types=[DataType("Account", Kind.OBJECT), full])

    assert system.types["Account"].fields == {"a": STRING}


def test_relations_are_those_of_all_types_met() -> None:
    system = TypeSystem(types=[read_type({"type": "array", "items": WHOLE}), union_of([STRING, NUMBER])])

    named = {(child.name, parent.name) for child in system.types.values() for parent in system.parents(child)}

    assert named == {
        ("integer", "number"),
        ("list<integer>", "list<number>"),
        ("number", "number | string"),
        ("string", "number | string"),
    }
