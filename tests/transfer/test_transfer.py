"""Corpora as files: what is exported comes back equal, and other tools read the rest."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import etree
from typer.testing import CliRunner

from pipeline import HopRank
from pipeline.cli.app import app
from pipeline.db.catalogue import SCHEMA_VERSION, find_corpus, get_corpus
from pipeline.errors import CorpusError, InputError, SourceError
from pipeline.flows import maintain
from pipeline.ingest.update.write_session import WriteSession
from pipeline.progress import Progress
from pipeline.settings import Settings
from pipeline.transfer.formats import Format
from pipeline.transfer.portable import exported as parts_of
from tests.graph_dump import Dump

GraphOf = Callable[[str], Dump]
NewCorpus = Callable[[], Any]

LONG = "".join(f"# Part {part}\n\n{'They wrote of London and of Ada Lovelace. ' * 60}\n\n" for part in "AB")
NOTES = {
    "ada.md": "---\nyear: 1815\ntags: [x, y]\n---\n# Ada Lovelace\n\nAda Lovelace met [Charles](babbage.md) in Turin.",
    "babbage.md": "# Charles Babbage\n\nCharles Babbage met Ada Lovelace in Turin \N{BELL}\ufffe.",
    "long.md": LONG,
    "empty.jsonl": '{"id": "nothing", "text": ""}\n',
    "log.jsonl": '{"id": "log", "chunks": [{"text": "Slack water.", "page": 7, "metadata": {"by": ["Ada"]}},'
    ' {"text": "Ebb."}]}\n',
}


@pytest.fixture(scope="module")
def name(hoprank: HopRank, shared_corpus_name: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("notes")
    for file, text in NOTES.items():
        (folder / file).write_text(text, encoding="utf-8")
    hoprank.ingest(folder, corpus=shared_corpus_name)
    return shared_corpus_name


@pytest.fixture
def other(new_corpus: NewCorpus) -> Iterator[str]:
    with new_corpus() as other:
        yield other


@pytest.fixture(scope="module")
def whole(hoprank: HopRank, name: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """The lines of an export of the corpus ``name``."""
    return tuple(exported(hoprank, name, tmp_path_factory.mktemp("whole") / "corpus.jsonl").read_text().splitlines())


def exported(hoprank: HopRank, name: str, path: Path, *, embeddings: bool = True) -> Path:
    maintain.export_corpus(hoprank.client, name, path, embeddings=embeddings, progress=Progress())
    return path


def imported(hoprank: HopRank, path: Path, name: str | None) -> None:
    maintain.import_corpus(hoprank.client, hoprank.embedder, path, name, progress=Progress())


@pytest.mark.slow
@pytest.mark.parametrize(("file", "embeddings"), [("a.jsonl", True), ("a.jsonl", False), ("a", True), ("a", False)])
def test_what_was_exported_comes_back_equal(
    hoprank: HopRank, name: str, other: str, tmp_path: Path, graph_of: GraphOf, file: str, embeddings: bool
) -> None:
    path = exported(hoprank, name, tmp_path / file, embeddings=embeddings)

    imported(hoprank, path, other)

    assert graph_of(other) == graph_of(name)
    chunks = [part.value for part in parts_of(path) if part.kind == "chunk"]
    assert {"embedding" in chunk for chunk in chunks} == {embeddings}
    assert list(parts_of(path)) == list(parts_of(exported(hoprank, name, tmp_path / "b.jsonl", embeddings=embeddings)))
    question = "Whom did Ada Lovelace meet in Turin?"
    here, there = (hoprank.search(question, corpus=one).items for one in (name, other))
    # Some of the long document's chunks rank alike, and ties go by id.
    assert {item.content for item in here} == {item.content for item in there}


def test_an_export_after_a_run_that_died_is_that_of_before(
    hoprank: HopRank, other: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    hoprank.add([{"id": "a", "text": "Ada Lovelace met Charles Babbage."}], corpus=other)
    before = exported(hoprank, other, tmp_path / "before.jsonl").read_text()
    with monkeypatch.context() as patched:
        patched.setattr(WriteSession, "publish", die)
        with pytest.raises(KeyboardInterrupt):
            hoprank.add([{"id": "b", "text": "Grace Hopper met Konrad Zuse."}], corpus=other)

    assert exported(hoprank, other, tmp_path / "after.jsonl").read_text() == before


@pytest.mark.parametrize(
    "form",
    [Format.JSONL, *(pytest.param(form, marks=pytest.mark.slow) for form in (Format.GRAPHML, Format.PARQUET))],
)
def test_corpora_of_different_histories_are_exported_byte_for_byte(
    hoprank: HopRank, new_corpus: NewCorpus, tmp_path: Path, form: Format
) -> None:
    texts = {file: text for file, text in NOTES.items() if file.endswith(".md")} | {
        "turin.md": "# Turin\n\nSee [Ada](ada.md), [Charles](babbage.md) and Ada Lovelace in London.\n"
    }
    passing = {"zuse.md": "# Konrad Zuse\n\nKonrad Zuse met Grace Hopper in Hünfeld, says Grace Hopper.\n"}

    def write(folder: Path, files: Mapping[str, str]) -> Path:
        folder.mkdir(exist_ok=True)
        for old in folder.iterdir():
            old.unlink()
        for file, text in files.items():
            (folder / file).write_text(text, encoding="utf-8")
        return folder

    with new_corpus() as one, new_corpus() as two:
        hoprank.sync(write(tmp_path / "notes", texts), corpus=one)
        changed = {file: text.replace("Ada Lovelace", "Mary Somerville") for file, text in texts.items()}
        for files in (dict(reversed(texts.items())), {**changed, **passing}, passing, {**passing, **texts}, texts):
            hoprank.sync(write(tmp_path / "notes", files), corpus=two)
        written = []
        for name in (one, two):
            path = tmp_path / f"{name}.{form}"
            maintain.export_corpus(hoprank.client, name, path, form, progress=Progress())
            parts = sorted(path.iterdir()) if path.is_dir() else [path]
            # This table names the corpus, and Snappy writes the part of a name that it met before as a reference.
            read = [
                repr(pq.read_table(file).to_pylist()).encode() if file.name == "corpus.parquet" else file.read_bytes()
                for file in parts
            ]
            written.append([data.replace(name.encode(), b"NAME") for data in read])

    assert written[0] == written[1]


@pytest.mark.slow
def test_an_imported_corpus_is_synced_as_any_other(
    hoprank: HopRank, name: str, other: str, tmp_path: Path, graph_of: GraphOf, new_corpus: NewCorpus
) -> None:
    imported(hoprank, exported(hoprank, name, tmp_path / "corpus.jsonl"), other)
    folder = tmp_path / "notes"
    folder.mkdir()
    for file, text in {**NOTES, "ada.md": "# Ada Lovelace\n\nShe met nobody."}.items():
        (folder / file).write_text(text, encoding="utf-8")

    summary = hoprank.sync(folder, corpus=other)

    assert (summary.plan.changed, summary.plan.unchanged) == (("ada.md",), 4)
    with new_corpus() as fresh:
        hoprank.ingest(folder, corpus=fresh)
        assert graph_of(other) == graph_of(fresh)


@pytest.mark.parametrize("version", [SCHEMA_VERSION - 1, SCHEMA_VERSION + 1])
def test_an_export_of_another_layout_is_refused(
    hoprank: HopRank, whole: tuple[str, ...], other: str, tmp_path: Path, version: int
) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text("\n".join([whole[0].replace(f'"schema": {SCHEMA_VERSION}', f'"schema": {version}'), *whole[1:]]))

    with pytest.raises(CorpusError, match=f"schema version {version}, not {SCHEMA_VERSION}"):
        imported(hoprank, path, other)

    assert find_corpus(hoprank.client, other) is None


def test_a_name_that_is_taken_is_refused(hoprank: HopRank, name: str, tmp_path: Path, graph_of: GraphOf) -> None:
    path, before = exported(hoprank, name, tmp_path / "corpus.jsonl"), graph_of(name)

    with pytest.raises(CorpusError, match="already") as caught:
        imported(hoprank, path, None)

    assert "--as" in caught.value.fix
    assert graph_of(name) == before


def changed(
    kind: str, values: Mapping[str, Any], where: Mapping[str, Any] = MappingProxyType({})
) -> Callable[[list[str]], list[str]]:
    """Change the first line of a kind that has these values."""

    def spoil(lines: list[str]) -> list[str]:
        objects = (json.loads(line).get(kind) for line in lines)
        at = next(at for at, value in enumerate(objects) if value and where.items() <= value.items())
        value = json.loads(lines[at])[kind]
        return [*lines[:at], json.dumps({kind: {**value, **values}}), *lines[at + 1 :]]

    return spoil


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda lines: lines[:3], "ends early, after line 3"),
        (lambda lines: [*lines, *lines], "begins another corpus"),
        (lambda lines: [*lines[:4], "no json"], "line 5 isn't JSON: Expecting value at column 1"),
        (lambda lines: [*lines[:4], '{"chunk": {"text": "x"}}'], "line 5 has no `document`"),
        (
            changed("edge", {"kind": "REMEMBERS"}),
            "has the `kind` 'REMEMBERS': 'REMEMBERS' is not a valid EdgeKind",
        ),
        (changed("edge", {"source": ["nowhere.md", 0]}), "names the chunk .'nowhere.md', 0., which the export lacks"),
        (changed("edge", {"target": "nobody"}, {"kind": "MENTIONS"}), "leads to 'nobody', which the export lacks"),
        (changed("edge", {"target": "ada.md"}, {"kind": "NEXT"}), "names the chunk 'ada.md', which the export lacks"),
        (changed("chunk", {"document": "nowhere.md"}), "of the document 'nowhere.md', which the export lacks"),
        (changed("chunk", {"embedding": [1.0]}), "has a vector of 1 numbers and length 1"),
        (changed("chunk", {"embedding": [1.0] * 384}), "has a vector of 384 numbers and length 19.6"),
        (changed("chunk", {"embedding": [float("nan")] * 384}), "holds NaN, which is no finite number"),
        (changed("chunk", {"text": "\ud800"}), "holds half a surrogate pair in `chunk.text`"),
        (changed("chunk", {"ordinal": 2**70}), "has the `ordinal` 1180591620717411303424: "),
        (changed("chunk", {"until": 5}), "has `until`, which is unknown"),
        (changed("document", {"since": 5}), "has `since`, which is unknown"),
        (changed("document", {"metadata.deep": {"a": 1}}), "more than metadata"),
        (changed("chunk", {"metadata.page": [1, "a"]}), "more than metadata"),
        (changed("counts", {"counts": {"a": 3}}), "has the `counts.a` 3: "),
        (changed("corpus", {"analyzer": "x' OR 1"}), "has the `analyzer` "),
        (changed("corpus", {"dimension": 0}), "has the `dimension` 0: "),
        (lambda lines: lines[1:], "doesn't begin with a corpus"),
        (lambda lines: [lines[0].replace('"schema": ', '"schema": 9'), *lines[1:]], "schema version 9"),
        (lambda _: [], "doesn't begin with a corpus"),
    ],
)
def test_what_is_no_export_is_refused_and_leaves_no_corpus(
    hoprank: HopRank,
    whole: tuple[str, ...],
    other: str,
    tmp_path: Path,
    spoil: Callable[[list[str]], list[str]],
    said: str,
) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text("\n".join(spoil([*whole])))

    with pytest.raises(InputError, match=said) as caught:
        imported(hoprank, path, other)

    assert str(path) in str(caught.value)
    assert find_corpus(hoprank.client, other) is None


def test_a_document_whose_chunks_are_apart_is_refused(
    hoprank: HopRank, whole: tuple[str, ...], other: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipeline.transfer.restore._BATCH", 1)
    path, lines = tmp_path / "corpus.jsonl", [*whole]
    places = [at for at, line in enumerate(lines) if "chunk" in json.loads(line)]
    long = [at for at in places if json.loads(lines[at])["chunk"]["document"] == "long.md"]
    assert len(long) > 1
    # Another document's chunk between the first and the second of the long one.
    moved = lines.pop(next(at for at in places if at not in long))
    lines.insert(lines.index(lines[long[1] - 1]), moved)
    path.write_text("\n".join(lines))

    with pytest.raises(CorpusError, match=r"chunks of the document 'long.md' aren't together"):
        imported(hoprank, path, other)

    assert find_corpus(hoprank.client, other) is None


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)


@pytest.mark.slow
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), value=ANYTHING)
def test_any_value_of_any_field_is_taken_or_refused_by_name(
    hoprank: HopRank, whole: tuple[str, ...], other: str, tmp_path: Path, data: st.DataObject, value: object
) -> None:
    path, lines = tmp_path / "corpus.jsonl", [*whole]
    at = data.draw(st.integers(0, len(lines) - 1))
    ((kind, fields),) = json.loads(lines[at]).items()
    field = data.draw(st.sampled_from([*fields, "new"]))
    lines[at] = json.dumps({kind: {**fields, field: value}})
    path.write_text("\n".join(lines))

    try:
        imported(hoprank, path, other)
    except InputError:
        assert find_corpus(hoprank.client, other) is None
    else:
        maintain.drop(hoprank.client, other)


@pytest.mark.slow
def test_a_file_plants_no_vectors_that_other_corpora_reuse(
    hoprank: HopRank, other: str, new_corpus: NewCorpus, tmp_path: Path, cypher: Callable[..., Any]
) -> None:
    folder, path = tmp_path / "folder", tmp_path / "corpus.jsonl"
    folder.mkdir()
    (folder / "plain.md").write_text("A text that no other test embeds: the zebra finch sings.")
    with new_corpus() as first:
        hoprank.ingest(folder, corpus=first)
        exported(hoprank, first, path)
    planted = [1.0] + [0.0] * 383
    path.write_text("\n".join(changed("chunk", {"embedding": planted})(path.read_text().splitlines())))
    imported(hoprank, path, other)

    def vector(corpus: str) -> list[float]:
        label = get_corpus(hoprank.client, corpus).label
        (row,) = cypher(f"MATCH (c:{label}) RETURN c.embedding AS vector")
        return list(row["vector"])

    assert vector(other) == planted
    with new_corpus() as later:
        hoprank.ingest(folder, corpus=later)
        assert vector(later) != planted
        maintain.relink(hoprank.client, hoprank.embedder, loose(hoprank.settings), other, progress=Progress())
        assert vector(other) == planted
    with new_corpus() as last:
        hoprank.ingest(folder, corpus=last)
        assert vector(last) != planted, "nor after the imported corpus was rebuilt"


def loose(settings: Settings) -> Settings:
    return settings.model_copy(update={"link": settings.link.model_copy(update={"similar_threshold": 0.1})})


def test_graphml_holds_every_node_and_edge(hoprank: HopRank, name: str, tmp_path: Path, graph_of: GraphOf) -> None:
    path = exported(hoprank, name, tmp_path / "corpus.graphml")

    root = etree.parse(str(path)).getroot()
    space = "{http://graphml.graphdrawing.org/xmlns}"
    nodes = {node.get("id") for node in root.iter(f"{space}node")}
    edges = list(root.iter(f"{space}edge"))
    corpus = get_corpus(hoprank.client, name)
    assert len(nodes) == corpus.documents + corpus.chunks + corpus.entities
    metadata = [data.text for data in root.iter(f"{space}data") if data.get("key") == "node_metadata"]
    assert [json.loads(text) for text in metadata] == [{"tags": ["x", "y"], "year": 1815}, {"by": ["Ada"], "page": 7}]
    assert len(edges) == sum(corpus.edges.values())
    assert {edge.get(end) for edge in edges for end in ("source", "target")} <= nodes


def test_parquet_holds_every_row_and_is_replaced_as_a_whole(hoprank: HopRank, name: str, tmp_path: Path) -> None:
    corpus = get_corpus(hoprank.client, name)
    for _ in range(2):
        folder = exported(hoprank, name, tmp_path / "tables")

    counts = {path.stem: pq.read_table(path).num_rows for path in folder.iterdir()}
    assert counts == {
        "documents": corpus.documents,
        "chunks": corpus.chunks,
        "entities": corpus.entities,
        "edges": sum(corpus.edges.values()),
        "corpus": 1,
        "counts": counts["counts"],
    }
    chunk = pq.read_table(folder / "chunks.parquet").to_pylist()[0]
    assert (chunk["document"], len(chunk["embedding"])) == ("ada.md", 384)
    document = pq.read_table(folder / "documents.parquet").to_pylist()[0]
    assert json.loads(document["metadata"]) == {"tags": ["x", "y"], "year": 1815}
    given = [json.loads(row["metadata"]) for row in pq.read_table(folder / "chunks.parquet").to_pylist()]
    assert [metadata for metadata in given if metadata] == [{"by": ["Ada"], "page": 7}]
    assert [path.name for path in tmp_path.iterdir()] == ["tables"]


def test_a_place_that_can_not_be_written_to_is_named(hoprank: HopRank, name: str, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="nowhere"):
        exported(hoprank, name, tmp_path / "nowhere" / "corpus.jsonl")


def test_the_format_is_told_by_the_suffix() -> None:
    assert [Format.of(Path(name)) for name in ("a.jsonl", "a.GraphML", "a")] == [
        Format.JSONL,
        Format.GRAPHML,
        Format.PARQUET,
    ]


def test_a_format_that_there_is_not_is_refused_with_those_that_there_are(tmp_path: Path) -> None:
    arguments = ["corpus", "export", "any", str(tmp_path / "folder"), "--format", "neo4j-admin"]

    refused = CliRunner().invoke(app, arguments, env={"COLUMNS": "200"})

    assert refused.exit_code == 2
    assert "neo4j-admin" in refused.output
    assert all(form in refused.output for form in Format)


def test_a_format_that_there_is_not_is_refused_by_its_suffix() -> None:
    with pytest.raises(SourceError, match=r"as \.csv: a\.csv") as caught:
        Format.of(Path("a.csv"))

    assert ".jsonl or .graphml, or a folder" in caught.value.fix
