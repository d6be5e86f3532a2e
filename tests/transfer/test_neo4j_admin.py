"""An export for neo4j-admin: CSV holds what the graph does, and Neo4j's own import makes the same graph of it."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, cast

import neo4j
import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from neo4j.time import DateTime
from neo4j.vector import Vector

from pipeline import HopRank
from pipeline.db.catalogue import get_corpus
from pipeline.db.client import Client
from pipeline.db.corpus import open_corpus
from pipeline.db.embedded import Address
from pipeline.db.embedded.jars import is_gds, pinned_jars
from pipeline.db.embedded.java import find_java
from pipeline.errors import CorpusError, InputError, SourceError, Superseded
from pipeline.flows import maintain
from pipeline.flows.ingest import ingest_documents
from pipeline.ingest.sources.metadata import flat
from pipeline.ingest.update.write_session import WriteSession
from pipeline.progress import Progress
from pipeline.records import Document, Link
from pipeline.retrieve.legs import Leg
from pipeline.transfer import neo4j_admin
from pipeline.transfer.formats import SCRIPT, Format, Part
from pipeline.transfer.neo4j_admin import stored, write_neo4j_admin
from pipeline.transfer.portable import export, exported
from tests.graph_dump import Dump

SEPARATOR = "\x1f"
TEXTS = st.text(st.characters(codec="utf-8") | st.sampled_from('\x1f\x1e",\n\r;\\:{}()'), max_size=6)
NAMES = TEXTS.map("metadata.".__add__)
INTEGERS = st.integers(-(2**63), 2**63 - 1)
NUMBERS = st.floats(allow_nan=False)
ITEMS = TEXTS, INTEGERS, NUMBERS, st.booleans()
VALUES = st.one_of(*ITEMS, *(st.lists(items, max_size=3) for items in ITEMS))
ROWS = st.lists(st.dictionaries(NAMES, VALUES, max_size=4), max_size=8)


def node(number: int, properties: dict[str, Any]) -> Part:
    return Part("document", {"fixed": (f"d{number}", "Document"), "properties": properties})


def tables(folder: Path) -> Iterator[tuple[str, list[str], list[list[str | None]]]]:
    """The header and the rows of each table that the command names; what isn't quoted and empty is None."""
    script = (folder / SCRIPT).read_text()
    for kind, header, rows in re.findall(r"--(nodes|relationships)=\./([\w.-]+),\./([\w.-]+)", script):
        ((*names,),) = read(folder / header)
        assert "".join(names).isprintable(), "the import refuses them"
        assert not set("{}()") & {*"".join(names)}, "the import reads them otherwise"
        yield kind, names, read(folder / rows)


def read(path: Path) -> list[list[Any]]:
    """The rows of a file, as RFC 4180 has it and Python's csv reads it, but that tells no empty text from nothing."""
    text = path.read_bytes().decode()
    found: list[list[str | None]] = [[]]
    for quoted, bare, end in re.findall(r'(?:("(?:[^"]|"")*")|([^",\n]*))(,|\n)', text):
        found[-1].append(quoted[1:-1].replace('""', '"') if quoted else bare or None)
        if end == "\n":
            found.append([])
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    assert rows == [[cell or "" for cell in row] for row in found[:-1]]
    return found[:-1]


READ: dict[str, Callable[[str], Any]] = {
    "string": str,
    "long": int,
    "double": float,
    "boolean": {"true": True, "false": False}.__getitem__,
    "byte": lambda text: int(text) & 255,
    "float": float,
    "datetime": DateTime.from_iso_format,
}


def value_of(text: str, type_: str) -> Any:
    """What the import makes of a cell: a list of none, or of one empty text, is nothing for it."""
    one = READ[type_.removesuffix("[]")]
    if not type_.endswith("[]"):
        return one(text)
    assert text, "the import makes nothing of an empty list"
    items = [one(item) for item in text.split(SEPARATOR)]
    return bytes(items) if type_ == "byte[]" else items


def properties_of(folder: Path) -> dict[str, dict[str, Any]]:
    """The properties of each node as `hoprank migrate` leaves them, by its id; an edge's by its ends."""
    found: dict[str, dict[str, Any]] = {}
    for kind, header, rows in tables(folder):
        fixed = 2 if kind == "nodes" else 3
        assert len({name.rpartition(":")[0] for name in header[fixed:]}) == len(header) - fixed, "a name given twice"
        for row in rows:
            assert len(row) <= len(header)
            assert row[-1] is not None, "the import loses its place"
            named = zip(header[fixed:], row[fixed:], strict=False)
            values = {
                name.rpartition(":")[0]: value_of(text, name.rpartition(":")[2])
                for name, text in named
                if text is not None
            }
            kept = json.loads(values.pop("as_json", "{}"))
            assert not kept.keys() & values.keys()
            found[" ".join(map(str, row[:fixed]))] = values | kept
    return found


def written(folder: Path, parts: list[Part]) -> Path:
    write_neo4j_admin(parts, folder)
    return folder


def alike(value: Any) -> Any:
    """With its type: 1, 1.0 and True are equal to Python."""
    return [alike(item) for item in value] if isinstance(value, list) else (type(value), repr(value))


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=ROWS)
@example(rows=[{"metadata.a": [SEPARATOR], "metadata.b": ["a", f"b{SEPARATOR}c"], "metadata.{}": 1, "metadata.\n": 1}])
def test_any_properties_are_read_back(tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]]) -> None:
    folder = tmp_path_factory.mktemp("any") / "neo4j"

    read_back = properties_of(written(folder, [node(number, row) for number, row in enumerate(rows)]))

    assert {name: {k: alike(v) for k, v in values.items()} for name, values in read_back.items()} == {
        f"d{number} Document": {name: alike(value) for name, value in row.items()} for number, row in enumerate(rows)
    }


def test_values_of_other_types_go_into_other_tables_and_only_what_none_can_hold_becomes_json(tmp_path: Path) -> None:
    values: list[Any] = ["a", 1, 1.5, True, ["a"], [1], ["b", ""], 2, []]

    folder = written(tmp_path / "neo4j", [node(number, {"metadata.x": value}) for number, value in enumerate(values)])

    found = [(header[2:], [row[0] for row in rows]) for _, header, rows in tables(folder)]
    assert found == [
        (["metadata.x:string", "as_json:string"], ["d0", "d8"]),
        (["metadata.x:long"], ["d1", "d7"]),
        (["metadata.x:double"], ["d2"]),
        (["metadata.x:boolean"], ["d3"]),
        (["metadata.x:string[]"], ["d4", "d6"]),
        (["metadata.x:long[]"], ["d5"]),
    ]


def test_tables_and_columns_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neo4j_admin, "MOST_TABLES", 2)
    monkeypatch.setattr(neo4j_admin, "MOST_COLUMNS", 3)
    rows: list[dict[str, Any]] = [{"a": 1}, {"a": "x"}, {"a": 1.5, "b": 1}, {"b": "y", "c": 1, "d": 2, "e": 3}]
    rows = [{f"metadata.{name}": value for name, value in row.items()} for row in rows]
    rows[3]["centroid"] = b"\1"  # is no metadata, and has room

    folder = written(tmp_path / "neo4j", [node(number, row) for number, row in enumerate(rows)])

    assert [len(header) for _, header, _ in tables(folder)] == [3, 6]
    assert properties_of(folder) == {f"d{number} Document": row for number, row in enumerate(rows)}


def test_vectors_dates_bytes_and_edges_have_types_of_their_own(tmp_path: Path) -> None:
    numbers = np.array([0.1, -1e-40, 3.4e38], dtype=np.float32)
    made = DateTime(2026, 11, 26, 18, 0, 0, 123456789)
    properties = {"embedding": Vector.from_native(numbers.tolist(), "f32"), "made": made, "c": b"\0\xff\x7f"}
    edge = Part("edge", {"fixed": ("d0", "d1", "SIMILAR"), "properties": {"score": 5e-324, "since": 1}})

    folder = written(tmp_path / "neo4j", [node(0, properties), node(1, {}), edge])

    found = properties_of(folder)
    assert np.array_equal(np.array(found["d0 Document"].pop("embedding"), dtype=np.float32), numbers)
    assert found == {
        "d0 Document": {"made": made, "c": b"\0\xff\x7f"},
        "d1 Document": {},
        "d0 d1 SIMILAR": {"score": 5e-324, "since": 1},
    }


def test_a_text_longer_than_the_buffer_of_the_import_has_a_longer_one(tmp_path: Path) -> None:
    folder = written(tmp_path / "neo4j", [node(0, {"original": "x" * 5_000_000})])

    (size,) = re.findall(r"--read-buffer-size=(\d+)", (folder / SCRIPT).read_text())
    assert int(size) >= 10_000_000


def test_a_folder_that_there_is_is_refused_and_so_is_its_import(tmp_path: Path) -> None:
    folder = tmp_path / "neo4j"
    export([node(0, {})], folder, Format.NEO4J_ADMIN, lambda _: None)

    with pytest.raises(SourceError, match="exists already"):
        export([node(0, {})], folder, Format.NEO4J_ADMIN, lambda _: None)
    with pytest.raises(SourceError, match="is an export for neo4j-admin") as caught:
        next(exported(folder))
    assert f"sh {folder / SCRIPT}" in caught.value.fix
    assert [path.name for path in tmp_path.iterdir()] == ["neo4j"]


def test_an_export_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def parts() -> Iterator[Part]:
        yield node(0, {})
        raise Superseded("Another generation.", "Ask again.")

    with pytest.raises(Superseded):
        export(parts(), tmp_path / "neo4j", Format.NEO4J_ADMIN, lambda _: None)

    assert not list(tmp_path.iterdir())


HOSTILE = [
    {"year": 1815, "tags": ["x", "y"], "x": "text", "deep": {"a:b": 'c"`'}, "blank": ["", ""]},
    {"year": "1815", "tags": [], "x": 5, "only": [""], "many": [1.5, -0.0], "flag": True},
    {
        "year": 1e-320,
        "tags": [f"a{SEPARATOR}b", 'q"', "\\"],
        "x": [1, 2],
        "{braces}": "in",
        "a\nb": f"l\r\n\0{SEPARATOR}",
    },
    {"year": False, "tags": ["x"], "x": -(2**63), "\N{SNOWMAN}": "\u2028\ufffe ", "none": [True], "spaces": "  "},
]
QUESTION = "Whom did Ada Lovelace meet in Turin?"
TEXT = "Ada Lovelace met Charles Babbage in Turin. They wrote of engines, says Ada Lovelace. "


def documents() -> Iterator[Document]:
    for number, metadata in enumerate(HOSTILE):
        text = f"{TEXT * (20 if number == 1 else 1)}\n\nSee note {number + 1}."
        link = Link(f"n{(number + 1) % 4}.md", 0, 12, "", f"up{SEPARATOR}" if number else "up", f"Says {TEXT}")
        yield Document(
            f"n{number}.md", f"Note {number}", text, links=(link,) if number != 2 else (), metadata=flat(metadata)
        )


@pytest.fixture(scope="module")
def name(hoprank: HopRank, shared_corpus_name: str) -> str:
    parts = hoprank.client, hoprank.embedder, hoprank.settings
    ingest_documents(*parts, documents(), shared_corpus_name, filterable=("year", "tags"))
    # What a later generation retires isn't exported.
    changed = [Document("passing", "Passing", "Grace Hopper met Konrad Zuse.")]
    ingest_documents(*parts, changed, shared_corpus_name)
    hoprank.delete(["passing"], shared_corpus_name)
    return shared_corpus_name


def test_an_export_without_vectors_is_refused_before_the_server_is_asked(tmp_path: Path) -> None:
    folder, nobody = tmp_path / "neo4j", cast("Client", None)

    with pytest.raises(InputError, match="without vectors") as caught:
        maintain.export_corpus(nobody, "any", folder, Format.NEO4J_ADMIN, embeddings=False, progress=Progress())

    assert "--no-embeddings" in caught.value.fix
    assert not folder.exists()


@pytest.mark.slow
def test_an_export_beside_a_run_that_died_is_that_of_before(
    hoprank: HopRank, corpus_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    def parts() -> list[str]:
        return sorted(map(repr, stored(open_corpus(hoprank.client, corpus_name))))

    ingest_documents(hoprank.client, hoprank.embedder, hoprank.settings, documents(), corpus_name)
    before = parts()
    with monkeypatch.context() as patched:
        patched.setattr(WriteSession, "publish", die)
        with pytest.raises(KeyboardInterrupt):
            hoprank.add([{"id": "n3.md", "text": "Ada Lovelace met nobody."}], corpus=corpus_name)

    assert parts() == before


def run_import(folder: Path, jars: Path, neo4j_home: Path) -> None:
    """Run the command of the export by Neo4j's own tool, from the jars of the embedded server."""
    tool = folder.parent / "neo4j-admin"
    places = os.pathsep.join(str(jars / jar.path) for jar in pinned_jars() if not is_gds(jar))
    flags = "--add-opens=java.base/java.nio=ALL-UNNAMED --add-opens=java.base/java.lang=ALL-UNNAMED -Xmx256m"
    java = f"{find_java(None).home}/bin/java -XX:TieredStopAtLevel=1 {flags}"
    tool.write_text(f'#!/bin/sh\nexec {java} -cp "{places}" org.neo4j.cli.AdminTool "$@"\n')
    tool.chmod(0o755)
    (neo4j_home / "conf").mkdir(parents=True)
    home = {"NEO4J_HOME": str(neo4j_home), "NEO4J_CONF": str(neo4j_home / "conf"), "NEO4J_ADMIN": str(tool)}
    done = subprocess.run(["sh", folder / SCRIPT], env=os.environ | home, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


def everything(records: Callable[..., Any], label: str, id_: str) -> tuple[dict[str, Any], list[Any]]:
    """Nodes by id and edges as they are stored; only missing links and empty ones are one."""
    nodes = records(
        "MATCH (n) WHERE $label IN labels(n) OR n.corpus = $id OR (n:HopRankCorpus AND n.id = $id)"
        " RETURN labels(n) AS labels, properties(n) AS p",
        label=label,
        id=id_,
    )
    edges = records(
        "MATCH (a)-[r]->(b) WHERE $label IN labels(a) RETURN a.id AS a, type(r) AS t, b.id AS b, properties(r) AS p",
        label=label,
    )
    return (
        {row["p"]["id"]: (sorted(row["labels"]), {"links": [], **row["p"]}) for row in nodes},
        sorted(([row["a"], row["t"], row["b"], row["p"]] for row in edges), key=repr),
    )


def hits(hoprank: HopRank, name: str, leg: Leg, filters: dict[str, Any] | None) -> list[Any]:
    found = hoprank.search(QUESTION, filters=filters, corpus=name, leg=leg).items
    # Without scores: the original's full-text index still counts what was deleted.
    return [(item.content, item.metadata["document_metadata"]) for item in found]


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="import.sh is for the shell")
def test_the_import_tool_of_neo4j_makes_the_same_corpus(
    hoprank: HopRank,
    name: str,
    tmp_path: Path,
    jars: Path,
    own_server: Callable[..., AbstractContextManager[Address]],
    cypher: Callable[..., list[neo4j.Record]],
    graph_by: Callable[[Client, str], Dump],
) -> None:
    folder = tmp_path / "a (strange) folder's"
    maintain.export_corpus(hoprank.client, name, folder, Format.NEO4J_ADMIN, progress=Progress())
    corpus = get_corpus(hoprank.client, name)

    with (
        own_server(gds=False, fill=lambda home: run_import(folder, jars, home)) as address,
        Client(address, retry_time=5.0) as client,
        neo4j.GraphDatabase.driver(address.uri, auth=(address.username, address.password)) as driver,
    ):
        there = HopRank(client, hoprank.embedder, hoprank.settings)
        for leg in (Leg.VECTOR, Leg.FULLTEXT, Leg.WHOLE):
            with pytest.raises(CorpusError, match="lacks its indexes") as caught:
                there.search(QUESTION, corpus=name, leg=leg)
            assert f"hoprank migrate {name}" in caught.value.fix
        for _ in range(2):
            maintain.migrate(client, hoprank.settings, name, progress=Progress())

        def records(text: str, **params: Any) -> Any:
            return driver.execute_query(text, params).records

        assert everything(records, corpus.label, corpus.id) == everything(cypher, corpus.label, corpus.id)
        assert graph_by(client, name) == graph_by(hoprank.client, name)
        filtered: list[tuple[Leg, Any]] = [(Leg.WHOLE, {"year": 1815}), (Leg.FULLTEXT, {"tags": "x"})]
        for leg, filters in [*filtered, *((leg, None) for leg in Leg)]:
            here, found = (hits(one, name, leg, filters) for one in (hoprank, there))
            assert here or leg is Leg.BM25, "whose words are in every text"
            assert found == here, leg
        # The chunks without links are read, too.
        changed = Document("n3.md", "Note 3", "Ada Lovelace met nobody.")
        summary = ingest_documents(client, there.embedder, there.settings, [*list(documents())[:3], changed], name)
        assert (summary.changed, summary.unchanged) == (1, 3)
