"""Tools as read from files and folders, and what is left out of malformed ones."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.domains.tools.catalogue import Catalogue, Need, Service
from pipeline.domains.tools.order import read_calls
from pipeline.domains.tools.sources.formats import (
    CORPUS_FILE,
    SERVER_FILE,
    TOOLS_FILE,
    read_corpus,
    read_listing,
    read_server,
)
from pipeline.domains.tools.sources.paths import read
from pipeline.errors import SourceError
from pipeline.files import Limits

QUERY = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
FIND = {"name": "find", "description": "Find a book.", "inputSchema": QUERY}
LEND = {"name": "lend"}

SERVER = """
name: harbour
image: example/harbour
meta:
  category: boats
  tags: [boats, tides, boats]
about:
  title: The harbour
  description: Berths and tides.
"""


def write(path: Path, content: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def lines(*rows: Any) -> str:
    return "".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows)


def ids(catalogue: Catalogue) -> list[str]:
    return [tool.id for tool in catalogue.tools]


def reasons(catalogue: Catalogue, below: Path) -> dict[str, str]:
    return {skipped.source.removeprefix(f"{below}/"): skipped.reason for skipped in catalogue.skipped}


@pytest.mark.parametrize(
    "content",
    [{"tools": [FIND, LEND]}, {"jsonrpc": "2.0", "id": 1, "result": {"tools": [FIND, LEND]}}, [FIND, LEND]],
)
def test_list_of_tools_is_a_service_called_as_the_file(content: object, tmp_path: Path) -> None:
    found = read([write(tmp_path / "library.json", content)])

    assert list(found.services) == [Service("library", "library")]
    first, second = found.tools
    assert (first.id, first.name, first.service) == ("library/find", "find", "library")
    assert (first.description, first.input, first.output) == ("Find a book.", QUERY, None)
    assert (second.id, second.description, second.input, second.faults) == ("library/lend", "", None, ())
    assert not found.skipped


def test_all_fields_of_a_tool(tmp_path: Path) -> None:
    annotations = {"title": "Finder", "readOnlyHint": True, "nested": {"a": 1}}
    item = {**FIND, "title": "Find books", "outputSchema": {"type": "array"}, "annotations": annotations}
    (tool,) = read([write(tmp_path / "library.json", [item])]).tools

    assert (tool.title, tool.output) == ("Find books", {"type": "array"})
    assert tool.annotations == {"title": "Finder", "readOnlyHint": True}
    del item["title"]
    assert read([write(tmp_path / "library.json", [item])]).tools[0].title == "Finder"


def test_service_as_the_server_calls_itself(tmp_path: Path) -> None:
    info = {"serverInfo": {"name": "lib", "title": "Library"}, "instructions": "Ask first.", "tools": [FIND]}

    assert list(read([write(tmp_path / "a.json", info)]).services) == [Service("lib", "Library", "Ask first.")]
    assert ids(read([write(tmp_path / "a.json", {"result": info})])) == ["lib/find"]


def test_service_of_a_file_called_tools_is_called_as_its_folder(tmp_path: Path) -> None:
    assert ids(read([write(tmp_path / "library" / "tools.json", [FIND])])) == ["library/find"]


def test_server_descriptor_with_arguments(tmp_path: Path) -> None:
    arguments = [
        {"name": "berth", "type": "string", "desc": "The berth."},
        {"name": "days", "type": "array", "items": {"type": "string"}, "desc": "", "optional": True},
        {"name": "crew", "type": "integer", "required": False},
    ]
    tools = [{"name": "book", "description": "Book a berth.", "arguments": arguments}, {**LEND, "arguments": []}, FIND]
    write(tmp_path / "quay" / "tools.json", tools)
    write(tmp_path / "quay" / "server.yaml", SERVER)

    found = read([tmp_path / "quay"])

    assert not found.registries
    assert list(found.services) == [Service("harbour", "The harbour", "Berths and tides.", "boats", ("boats", "tides"))]
    assert ids(found) == ["harbour/book", "harbour/lend", "harbour/find"]
    book, lend, find = found.tools
    assert book.input == {
        "type": "object",
        "properties": {
            "berth": {"type": "string", "description": "The berth."},
            "days": {"type": "array", "items": {"type": "string"}},
            "crew": {"type": "integer"},
        },
        "required": ["berth"],
    }
    assert lend.input == {"type": "object", "properties": {}}
    assert find.input == QUERY
    assert read([tmp_path / "quay" / "tools.json"]) == read([tmp_path / "quay" / "server.yaml"]) == found


@pytest.mark.parametrize("given", ["coast", "coast/servers", "."])
def test_folder_of_servers_is_a_registry(given: str, tmp_path: Path) -> None:
    write(tmp_path / "coast" / "servers" / "quay" / "server.yaml", SERVER)
    write(tmp_path / "coast" / "servers" / "pier" / "server.yaml", "name: pier")
    write(tmp_path / "coast" / "servers" / "pier" / "tools.json", [])

    found = read([tmp_path / given])

    assert found.registries == {"coast": "coast"}
    assert [(service.id, service.registry) for service in found.services] == [("pier", "coast"), ("harbour", "coast")]
    assert not found.tools
    assert not found.skipped


def test_server_folder_that_is_a_link_is_of_the_registry_that_it_stands_in(tmp_path: Path) -> None:
    write(tmp_path / "elsewhere" / "quay" / "server.yaml", SERVER)
    (tmp_path / "coast").mkdir()
    (tmp_path / "coast" / "quay").symlink_to(tmp_path / "elsewhere" / "quay")

    assert read([tmp_path / "coast"]).registries == {"coast": "coast"}


def test_registries_of_the_same_name_and_their_services_are_told_apart(tmp_path: Path) -> None:
    for place in "ab":
        write(tmp_path / place / "coast" / "quay" / "server.yaml", SERVER)
        write(tmp_path / place / "coast" / "quay" / "tools.json", [FIND])

    found = read([tmp_path])

    assert found.registries == {"coast": "coast", "coast (2)": "coast"}
    assert [(service.id, service.registry) for service in found.services] == [
        ("harbour", "coast"),
        ("harbour (2)", "coast (2)"),
    ]
    assert [(tool.id, tool.service) for tool in found.tools] == [
        ("harbour/find", "harbour"),
        ("harbour/find (2)", "harbour (2)"),
    ]


def test_service_that_two_files_describe_is_one(tmp_path: Path) -> None:
    write(tmp_path / "harbour.json", [FIND])
    write(tmp_path / "quay" / "server.yaml", SERVER)

    found = read([tmp_path])

    (service,) = found.services
    assert (service.id, service.name, service.category, service.registry) == (
        "harbour",
        "The harbour",
        "boats",
        tmp_path.name,
    )
    assert ids(found) == ["harbour/find"]


def test_corpus(tmp_path: Path) -> None:
    full = {
        "id": "coast/tide",
        "title": "tide",
        "text": "Tell the tide.",
        "server": "coast",
        "server_name": "The coast",
        "server_description": "Tides and ships.",
        "category": "boats",
        "inputSchema": QUERY,
        "outputSchema": {"type": "number"},
        "depends_on": ["place", "clock"],
        "dependencies": [{"name": "place", "parameter_name": "where", "reason": "To know where.", "other": 1}],
    }
    bare = {"title": "clock", "id": "clock"}
    path = write(tmp_path / "shore" / "corpus.jsonl", lines(full, "", bare, {**bare, "server": "coast", "id": "c2"}))

    found = read([path])

    assert list(found.services) == [
        Service("coast", "The coast", "Tides and ships.", "boats"),
        Service("shore", "shore"),
    ]
    tide, clock, other = found.tools
    assert (tide.id, tide.name, tide.service, tide.description) == ("coast/tide", "tide", "coast", "Tell the tide.")
    assert (tide.input, tide.output) == (QUERY, {"type": "number"})
    assert tide.needs == (Need("place", "where", "To know where."), Need("clock"))
    assert (clock.id, clock.service, clock.needs) == ("clock", "shore", ())
    assert (other.id, other.service) == ("c2", "coast")
    assert not found.skipped


def test_folder_is_read_in_order_without_what_is_hidden_or_something_else(tmp_path: Path) -> None:
    write(tmp_path / "b" / "corpus.jsonl", lines({"id": "two", "title": "two"}))
    write(tmp_path / "b" / "queries.jsonl", lines({"id": "q1", "text": "Where?"}))
    write(tmp_path / "c.json", [FIND])
    write(tmp_path / "a" / "tools.json", [LEND])
    write(tmp_path / ".hidden" / "tools.json", [LEND])
    write(tmp_path / "readme.md", "# Tools")

    found = read([tmp_path, tmp_path / "c.json"])

    assert ids(found) == ["a/lend", "two", "c/find"]
    assert not found.skipped
    assert ids(read([tmp_path / "c.json", tmp_path])) == ["c/find", "a/lend", "two"]


def test_tools_of_the_same_name_are_kept_apart(tmp_path: Path) -> None:
    tools = [FIND, FIND, {"name": "find (2)"}, LEND, FIND]
    write(tmp_path / "library.json", tools)
    write(tmp_path / "music.json", [FIND])

    assert ids(read([tmp_path])) == [
        "library/find",
        "library/find (3)",
        "library/find (2)",
        "library/lend",
        "library/find (4)",
        "music/find",
    ]


def test_servers_that_call_themselves_alike_are_told_apart(tmp_path: Path) -> None:
    for place in ("home", "work"):
        write(tmp_path / f"{place}.json", {"serverInfo": {"name": "mail", "title": "Mail"}, "tools": [FIND]})

    found = read([tmp_path])

    assert list(found.services) == [Service("mail", "Mail"), Service("mail (2)", "Mail (2)")]
    assert [(tool.id, tool.service) for tool in found.tools] == [("mail/find", "mail"), ("mail/find (2)", "mail (2)")]
    assert list(read([tmp_path / "work.json"]).services) == [Service("mail", "Mail")]


def test_text_stays_data(tmp_path: Path) -> None:
    text = "Ignore {everything} \x1b[2J and %s $(reboot)\r\n"
    (tool,) = read([write(tmp_path / "a.json", [{"name": "odd", "description": text}])]).tools
    assert tool.description == text

    write(
        tmp_path / "a.json", '[{"name": "odd", "description": "\\ud800 \\u0000", "inputSchema": {"title": "\\udc00"}}]'
    )
    (tool,) = read([tmp_path / "a.json"]).tools
    assert tool.description == "\ufffd \ufffd"
    assert tool.input == {"title": "\ufffd"}

    write(tmp_path / "a.json", '[{"name": "odd", "description": NaN, "inputSchema": {"default": Infinity}}]')
    (tool,) = read([tmp_path / "a.json"]).tools
    assert (tool.description, tool.input) == ("", {"default": None})


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("bad.json", "{", "isn't JSON"),
        ("bad.json", "[" * 100_000, "nested too deeply"),
        ("bad.json", b"\xff\xfe\x00", "UTF-16"),
        ("bad.json", b"[\xe9]", "isn't valid UTF-8"),
        ("bad.json", "", "is empty"),
        ("bad.json", {"scripts": {}}, "holds no list of tools"),
        ("bad.json", {"tools": {"find": {}}}, "holds no list of tools"),
        ("bad.json", "7", "holds no list of tools"),
        ("bad.json", " " * 1001, "is larger than 0.001 MB"),
        ("bad/server.yaml", "name: [", "isn't YAML"),
        ("bad/server.yaml", "- 1", "describes no server"),
        ("bad/server.yaml", "a: &a [1]\nb: *a", "has an alias"),
        ("bad/server.yaml", "a: !!python/object/apply:os.getcwd []", "isn't YAML"),
        ("bad/server.yaml", "a: !!int ''", "isn't YAML"),
        ("bad/server.yaml", "[" * 900, "nested too deeply"),
        ("bad/server.yaml", f"name: {'n' * 600}", "at most 500 characters"),
    ],
)
def test_file_that_can_not_be_read_is_skipped(name: str, content: Any, reason: str, tmp_path: Path) -> None:
    write(tmp_path / "good.json", [LEND])
    write(tmp_path / name, content)

    found = read([tmp_path], Limits(bytes_read=1000 if "MB" in reason else 1_000_000))

    assert ids(found) == ["good/lend"]
    assert list(reasons(found, tmp_path)) == [name]
    assert reason in reasons(found, tmp_path)[name]


def test_descriptor_longer_than_its_limit_is_skipped(tmp_path: Path) -> None:
    write(tmp_path / "good.json", [LEND])
    write(tmp_path / "long" / "server.yaml", f"name: long\nabout: {{description: {'x' * 100_000}}}")

    assert "characters" in reasons(read([tmp_path]), tmp_path)["long/server.yaml"]


def test_of_a_descriptor_and_its_tools_the_readable_one_is_read(tmp_path: Path) -> None:
    write(tmp_path / "quay" / "server.yaml", "name: [")
    write(tmp_path / "quay" / "tools.json", [FIND])
    write(tmp_path / "pier" / "server.yaml", "name: pier")
    write(tmp_path / "pier" / "tools.json", "{")
    write(tmp_path / "mole" / "server.yaml", "name: mole")
    write(tmp_path / "mole" / "tools.json", {"tools": 1})

    found = read([tmp_path])

    assert [service.id for service in found.services] == ["mole", "pier", "quay"]
    assert ids(found) == ["quay/find"]
    assert list(reasons(found, tmp_path)) == ["mole/tools.json", "pier/tools.json", "quay/server.yaml"]


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        ({"description": "Nameless."}, "has no `name`"),
        ({"name": " "}, "has the `name` ' ': it is blank"),
        ({"name": 7}, "has the `name` 7: input should be a valid string"),
        ({"name": "n" * 501}, f"has the `name` '{'n' * 79}: string should have at most 500 characters"),
        ("find", "isn't an object of names and values"),
    ],
)
def test_tool_that_can_not_be_read_is_skipped(item: object, reason: str, tmp_path: Path) -> None:
    found = read([write(tmp_path / "library.json", [LEND, item])])

    assert ids(found) == ["library/lend"]
    assert reasons(found, tmp_path) == {"library.json, tool 2": reason}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "isn't JSON: Expecting property name enclosed in double quotes at column 2"),
        ("[]", "isn't an object of names and values"),
        ({"title": "a"}, "has no `id`"),
        ({"id": "a"}, "has no `title`"),
        (
            {"id": "a", "title": "a", "server": "s" * 501},
            f"has the `server` '{'s' * 79}: string should have at most 500 characters",
        ),
        ({"id": "a", "title": "a", "text": "x" * 2000}, "is longer than 1,000 characters"),
    ],
)
def test_line_that_can_not_be_read_is_skipped(line: object, reason: str, tmp_path: Path) -> None:
    good = [{"id": name, "title": name} for name in ("one", "two")]
    path = write(tmp_path / "all.jsonl", lines(good[0], line, good[1]))

    found = read([path], Limits(bytes_read=1000))

    assert ids(found) == ["one", "two"]
    assert {service.id for service in found.services} == {"all"}
    assert reasons(found, tmp_path) == {"all.jsonl, line 2": reason}


@pytest.mark.parametrize(
    "odd",
    [
        {"depends_on": "one", "dependencies": {"name": "one"}},
        {"depends_on": [1, None, ""], "dependencies": [7, {"name": 7}, {}]},
        {"text": 7, "server": None, "server_name": [], "category": {}, "annotations": [1]},
    ],
)
def test_fields_of_another_type_count_for_nothing(odd: dict[str, Any], tmp_path: Path) -> None:
    bare = {"id": "a", "title": "a"}

    found = read([write(tmp_path / "a.jsonl", lines({**bare, **odd}))])

    assert found == read([write(tmp_path / "a.jsonl", lines(bare))])


def test_nothing_that_can_be_read_is_an_error(tmp_path: Path) -> None:
    bad = write(tmp_path / "bad.json", "{")

    with pytest.raises(SourceError) as caught:
        read([tmp_path])

    assert str(tmp_path) in caught.value.message
    assert f"{bad} isn't JSON" in caught.value.message
    assert caught.value.fix


@pytest.mark.parametrize("given", [[], ["missing"], ["missing.json"], ["note.txt"], ["empty"]])
def test_path_without_tools_is_an_error(given: list[str], tmp_path: Path) -> None:
    write(tmp_path / "note.txt", "Hello")
    (tmp_path / "empty").mkdir()

    with pytest.raises(SourceError) as caught:
        read([tmp_path / name for name in given])

    assert all(name in caught.value.message for name in given or ["No path was given"])
    assert caught.value.fix


KEYS = (
    "tools result serverInfo name title description instructions inputSchema outputSchema annotations arguments desc"
    " type properties required items $ref id text server server_name category depends_on dependencies parameter_name"
    " meta about tags session tool"
).split()
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6)
        | st.dictionaries(st.text(max_size=3), inner, max_size=2)
    ),
    max_leaves=20,
)


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=60) | VALUES.map(lambda value: json.dumps(value).encode()))
def test_any_content_is_read_or_refused_by_one_error(content: bytes, tmp_path: Path) -> None:
    for name in (SERVER_FILE, TOOLS_FILE, CORPUS_FILE):
        (tmp_path / name).write_bytes(content)

    read_server(tmp_path, "", Limits())
    with suppress(SourceError):
        assert all(tool.name and tool.service for tool in read_listing(tmp_path / TOOLS_FILE, Limits()).tools)
    with suppress(SourceError):
        assert all(tool.id and tool.service for tool in read_corpus(tmp_path / CORPUS_FILE, Limits()).tools)
    with suppress(SourceError):
        read_calls(tmp_path / CORPUS_FILE, [], Limits())


def test_pipe_is_not_waited_for(tmp_path: Path) -> None:
    write(tmp_path / "quay" / "server.yaml", SERVER)
    os.mkfifo(tmp_path / "quay" / "tools.json")

    found = read([tmp_path])

    assert [service.id for service in found.services] == ["harbour"]
    assert reasons(found, tmp_path) == {"quay/tools.json": "isn't a regular file"}
