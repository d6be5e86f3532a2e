"""Mentions of known entities in texts: word boundaries, letter case, common words, code, and shared names."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.domains.memory.extract.gazetteer import Gazetteer
from pipeline.domains.memory.records import Entity

KNOWN = Gazetteer(
    [
        Entity("hooks/", "module"),
        Entity("src/db.ts", "file"),
        Entity("src/db.ts:reconnect", "function"),
        Entity("Makefile", "file"),
        Entity("pipeline/db/client.py", "file"),
        Entity("web/client.py", "file"),
        Entity("cli.py:run", "function"),
        Entity("web/app.py:run", "function"),
        Entity("get", "function", metadata={"file": "pipeline/http.py"}),
        Entity("initSchema", "function"),
        Entity("Client", "class"),
        Entity("SURREAL_MODE", "config"),
        Entity("surrealdb", "library", aliases=("surrealdb npm package",)),
        Entity("express", "library"),
        Entity("Caroline", "person", aliases=("Caro",)),
        Entity("Will", "person"),
        Entity("Ana Silva", "person", aliases=("Ana",)),
        Entity("Ana Costa", "person", aliases=("Ana",)),
        Entity("memory consolidation", "concept"),
        Entity("café", "concept"),
        Entity("Jordan", "person"),
        Entity("jordan", "concept"),
    ]
)


def named(text: str) -> list[str]:
    return [mention.entity.name for mention in KNOWN.mentions(text)]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        # prose: letter case aside, whole words
        ("caroline's idea, said CARO", ["Caroline", "Caroline"]),
        ("Carolinean Carolines", []),
        ("the SurrealDB client", ["surrealdb"]),
        ("the surrealdb npm package.", ["surrealdb"]),
        ("foo-surrealdb, surrealdb-x, surrealdb.js, @surrealdb", []),
        ("Memory\nConsolidation", ["memory consolidation"]),
        ("the cafe\u0301 and the CAFÉ", ["café", "café"]),
        ("İstanbul and surrealdb", ["surrealdb"]),
        # identifiers and files: as written
        ("call initSchema() not initschema()", ["initSchema"]),
        ("SURREAL_MODE=1, surreal_mode=1", ["SURREAL_MODE"]),
        ("Makefile, makefile", ["Makefile"]),
        ("see src/db.ts.", ["src/db.ts"]),
        ("see db.ts, not mydb.ts or db.tsx", ["src/db.ts"]),
        ("in hooks/ and hooks", ["hooks/"]),
        # a plain word needs to be written as code
        ("get the thing and run", []),
        ("`get` it", ["get"]),
        ("```\nget\n```\nget, and a ` get", ["get"]),
        ("get() is slow, get(x) too", ["get", "get"]),
        ("get in http.py", ["get"]),
        ("the Client said", []),
        ("the `Client` said", ["Client"]),
        ("reconnect to it", []),
        ("reconnect()", ["src/db.ts:reconnect"]),
        ("src/db.ts:reconnect", ["src/db.ts:reconnect"]),
        # several entities share a name
        ("run() is slow", []),
        ("`run` in cli.py", ["cli.py:run"]),
        ("run in web/app.py", ["web/app.py:run"]),
        ("cli.py:run", ["cli.py:run"]),
        ("see client.py", []),
        ("see db/client.py", ["pipeline/db/client.py"]),
        ("Ana came", []),
        ("Ana Silva came", ["Ana Silva"]),
        ("Jordan went to jordan", ["Jordan", "jordan"]),
        # common words as names
        ("I will go, and Will went", ["Will"]),
        ("Will it rain? Will we go?", []),
        ("They express joy with Express", ["express"]),
        ("npm i `express`, the express library", ["express", "express"]),
        ("", []),
    ],
)
def test_a_text_mentions_entities(text: str, names: list[str]) -> None:
    assert named(text) == names


@pytest.mark.parametrize(
    ("name", "types", "expected"),
    [
        ("`reconnect()`", (), "src/db.ts:reconnect"),
        ("reconnect", ("function",), "src/db.ts:reconnect"),
        ("reconnect", ("file",), None),
        ("SURREALDB", ("library",), "surrealdb"),
        ("initschema", (), None),
        ("run", (), None),
        ("Ana", (), None),
        ("nothing", (), None),
        ("", (), None),
    ],
)
def test_a_name_resolves_to_the_only_entity_that_has_it(
    name: str, types: tuple[str, ...], expected: str | None
) -> None:
    entity = KNOWN.resolve(name, types)

    assert (entity and entity.name) == expected


def test_a_long_line_takes_time_in_proportion_to_its_length() -> None:
    mentions = KNOWN.mentions("`get` " * 20_000)

    assert len(mentions) == 20_000


@pytest.mark.parametrize(
    ("name", "text", "written"),
    [
        ("Kupferhafen", "a Kup\u00adfer\u00adhafen, built", "Kup\u00adfer\u00adhafen"),
        ("Kup\u00adferhafen", "a kupferhafen.", "kupferhafen"),
        ("fishery", "the \ufb01shery's boats", "\ufb01shery"),
        ("Hop Rank", "\uff28\uff4f\uff50 \uff32\uff41\uff4e\uff4b runs", "\uff28\uff4f\uff50 \uff32\uff41\uff4e\uff4b"),
        ("ガイド", "観光 ｶﾞｲﾄﾞが", "ｶﾞｲﾄﾞ"),
        ("등대", "오래된 등대는", "등대"),
        ("ประภาคาร", "มีประภาคารเก่า", "ประภาคาร"),
    ],
)
def test_a_name_is_found_in_another_form_where_it_is_written(name: str, text: str, written: str) -> None:
    known = Gazetteer([Entity(name, "concept")])

    (found,) = known.mentions(text)

    assert text[found.start : found.end] == written
    assert known.resolve(text[found.start : found.end]) == known.resolve(name) == Entity(name, "concept")


def test_no_entities_mention_nothing() -> None:
    assert Gazetteer([]).mentions("surrealdb") == ()
    assert Gazetteer([]).resolve("surrealdb") is None


@given(
    st.text(alphabet=st.sampled_from("ab İé`().:/_- \nE"), max_size=40),
    st.lists(st.sampled_from(["ab", "a b", "ab.b", "é", "a_b", "ab/"]), unique=True),
)
def test_mentions_are_in_order_and_spell_their_entities(text: str, names: list[str]) -> None:
    known = Gazetteer(Entity(name, kind) for name in names for kind in ("concept", "file"))

    mentions = known.mentions(text)

    assert all(first.end <= second.start for first, second in pairwise(mentions))
    for entity, start, end in mentions:
        written = text[start:end].replace("\n", " ").lower()
        assert known[entity]
        assert written in (entity.name, entity.name.rstrip("/"))
