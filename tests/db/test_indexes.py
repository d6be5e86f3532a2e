"""Constraints and indexes on the live server."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

import neo4j
import pytest

from pipeline.db.client import Client
from pipeline.db.filterable import MOST_FIELDS
from pipeline.db.indexes import (
    CONSTRAINTS,
    check_analyzer,
    check_runs,
    drop_indexes,
    ensure_indexes,
    ensure_schema,
    vector_index_name,
)
from pipeline.db.queries import load_queries
from pipeline.db.slots import SLOT_SCHEMA
from pipeline.errors import ConfigurationError, QueryTimeout, ServerUnsupported
from pipeline.knowledge.catalogue import GRAPH_SCHEMA
from pipeline.serve.jobs.store import JOB_SCHEMA

Cypher = Callable[..., list[neo4j.Record]]
Underway = Callable[[str], AbstractContextManager[None]]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What ``ensure_schema`` is asked for."""

    fingerprint: str
    dimension: int = 8

    @property
    def indexes(self) -> list[str]:
        return [vector_index_name(self.fingerprint)]


@pytest.fixture
def wanted(client: Client) -> Iterator[Wanted]:
    wanted = Wanted(f"model-{uuid4().hex[:12]}@1/8")
    yield wanted
    drop_indexes(client, wanted.indexes)


def ensure(client: Client, wanted: Wanted) -> None:
    ensure_schema(client, wanted.fingerprint, wanted.dimension)


def index(cypher: Cypher, name: str) -> dict[str, Any]:
    (row,) = cypher("SHOW INDEXES YIELD * WHERE name = $name RETURN *", name=name)
    return row.data()


def test_all_that_a_corpus_needs_is_made_and_online(client: Client, cypher: Cypher, wanted: Wanted) -> None:
    ensure(client, wanted)

    states = {row["name"]: row["state"] for row in cypher("SHOW INDEXES YIELD name, state")}
    constraints = {f"hoprank_{name.removeprefix('constrain_').removeprefix('index_')}" for name in CONSTRAINTS}
    assert {states[name] for name in (*constraints, *wanted.indexes)} == {"ONLINE"}


def test_the_vector_index_is_exact_and_filters_by_corpus_generation_and_declared_fields(
    client: Client, cypher: Cypher, wanted: Wanted
) -> None:
    ensure(client, wanted)

    found = index(cypher, vector_index_name(wanted.fingerprint))
    config = found["options"]["indexConfig"]
    assert found["type"] == "VECTOR"
    keys = [f"filter_{place}" for place in range(MOST_FIELDS)]
    assert found["properties"] == ["embedding", "corpus", "since", "until", *keys]
    assert config["vector.dimensions"] == 8
    assert config["vector.similarity_function"] == "COSINE"
    assert config["vector.quantization.enabled"] is False


def test_a_second_time_changes_nothing(client: Client, cypher: Cypher, wanted: Wanted) -> None:
    ensure(client, wanted)
    before = [index(cypher, name)["id"] for name in wanted.indexes]

    ensure(client, wanted)

    assert [index(cypher, name)["id"] for name in wanted.indexes] == before


@pytest.mark.slow
def test_many_that_make_them_at_once_make_them_once(client: Client, cypher: Cypher, wanted: Wanted) -> None:
    ready = threading.Barrier(6)

    def make() -> None:
        ready.wait()
        ensure(client, wanted)

    for _ in range(3):
        drop_indexes(client, wanted.indexes)
        with ThreadPoolExecutor(6) as pool:
            for made in [pool.submit(make) for _ in range(6)]:
                made.result()
        assert [index(cypher, name)["state"] for name in wanted.indexes] == ["ONLINE"]


@pytest.mark.slow
def test_one_that_is_still_being_built_is_awaited(client: Client, cypher: Cypher, wanted: Wanted) -> None:
    """As when another process has just made it."""
    label = f"Building_{uuid4().hex[:12]}"
    cypher(f"UNWIND range(1, 100000) AS n CREATE (:{label} {{id: 'word ' + n}})")
    names = {"texts": label, "index": label.lower(), "fields": "id"}
    client.schema("create_texts_index", names, analyzer="english")
    try:
        assert index(cypher, label.lower())["state"] == "POPULATING"

        ensure_indexes(client, {label.lower(): lambda: None})

        assert index(cypher, label.lower())["state"] == "ONLINE"
    finally:
        drop_indexes(client, [label.lower()])
        cypher(f"MATCH (n:{label}) DETACH DELETE n")


def test_an_unknown_analyser_is_refused_with_those_that_there_are(client: Client) -> None:
    with pytest.raises(ConfigurationError, match="'klingon'") as caught:
        check_runs(client, "klingon")
    assert "english" in caught.value.fix
    check_analyzer(client, "english")


def test_a_dimension_that_the_server_can_not_index_is_refused(client: Client, wanted: Wanted) -> None:
    with pytest.raises(ServerUnsupported, match="100000 dimensions"):
        ensure(client, replace(wanted, dimension=100_000))


def test_indexes_that_are_not_there_are_dropped_in_silence(client: Client, cypher: Cypher, wanted: Wanted) -> None:
    ensure(client, wanted)

    drop_indexes(client, [*wanted.indexes, *wanted.indexes])

    assert not cypher("SHOW INDEXES YIELD name WHERE name IN $names RETURN name", names=wanted.indexes)


def test_every_constraint_of_the_file_is_made() -> None:
    schema = {name for name, query in load_queries().items() if query.mode == "schema"}

    assert {*CONSTRAINTS, *GRAPH_SCHEMA, *JOB_SCHEMA, *SLOT_SCHEMA} == {
        name for name in schema if name.startswith(("constrain_", "index_"))
    }


def test_names_made_of_anything_are_identifiers() -> None:
    names = [vector_index_name(text) for text in ("", "a b", "`) DROP", "💥", "x" * 1000)]

    assert len(set(names)) == len(names)
    assert all(name.isascii() and name.replace("_", "").isalnum() for name in names)


def test_a_drop_steps_back_for_a_while_and_then_says_what_it_waits_for(
    client: Client, underway: Underway, wanted: Wanted, cypher: Cypher, monkeypatch: pytest.MonkeyPatch
) -> None:
    ensure(client, wanted)
    (embedding,) = wanted.indexes
    in_use = f"CREATE (:{embedding})"
    monkeypatch.setattr("pipeline.db.indexes._DROP_TIMEOUTS", (0.1, 0.2))

    with underway(in_use), pytest.raises(QueryTimeout, match=r"'drop_index' waited 0\.2 seconds"):
        drop_indexes(client, [embedding])
    assert index(cypher, embedding)

    monkeypatch.setattr("pipeline.db.indexes._DROP_TIMEOUTS", (0.1, 60.0))
    with ThreadPoolExecutor() as pool:
        with underway(in_use):
            dropping = pool.submit(drop_indexes, client, [embedding])
            with pytest.raises(TimeoutError):
                dropping.result(timeout=0.5)
        dropping.result()
    assert not cypher("SHOW INDEXES YIELD name WHERE name = $name", name=embedding)
