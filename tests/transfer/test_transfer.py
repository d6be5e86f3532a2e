"""Corpora as files: what is exported comes back equal, and other tools read the rest."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from lxml import etree

from pipeline import HopRank
from pipeline.db.catalogue import find_corpus, get_corpus
from pipeline.errors import CorpusError, InputError, SourceError
from pipeline.flows import maintain
from pipeline.progress import Progress
from pipeline.transfer.formats import Format

Dump = dict[str, set[tuple[Any, ...]]]
GraphOf = Callable[[str], Dump]
NewCorpus = Callable[[], Any]

LONG = "".join(f"# Part {part}\n\n{'They wrote of London and of Ada Lovelace. ' * 60}\n\n" for part in "AB")
NOTES = {
    "ada.md": "---\nyear: 1815\ntags: [x, y]\n---\n# Ada Lovelace\n\nAda Lovelace met [Charles](babbage.md) in Turin.",
    "babbage.md": "# Charles Babbage\n\nCharles Babbage met Ada Lovelace in Turin \N{BELL}\ufffe.",
    "long.md": LONG,
    "empty.jsonl": '{"id": "nothing", "text": ""}\n',
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


def exported(hoprank: HopRank, name: str, path: Path, *, embeddings: bool = True) -> Path:
    maintain.export_corpus(hoprank.client, name, path, embeddings=embeddings, progress=Progress())
    return path


def imported(hoprank: HopRank, path: Path, name: str | None) -> None:
    maintain.import_corpus(hoprank.client, hoprank.embedder, path, name, progress=Progress())


@pytest.mark.parametrize("embeddings", [True, False])
def test_what_was_exported_comes_back_equal(
    hoprank: HopRank, name: str, other: str, tmp_path: Path, graph_of: GraphOf, embeddings: bool
) -> None:
    path = exported(hoprank, name, tmp_path / "corpus.jsonl", embeddings=embeddings)

    imported(hoprank, path, other)

    assert graph_of(other) == graph_of(name)
    chunks = [row["chunk"] for row in map(json.loads, path.read_text().splitlines()) if "chunk" in row]
    assert {"embedding" in chunk for chunk in chunks} == {embeddings}
    question = "Whom did Ada Lovelace meet in Turin?"
    here, there = (hoprank.search(question, corpus=one).items for one in (name, other))
    # Some of the long document's chunks rank alike, and ties go by id.
    assert {item.content for item in here} == {item.content for item in there}


def test_two_exports_of_equal_corpora_are_equal(hoprank: HopRank, name: str, other: str, tmp_path: Path) -> None:
    first = exported(hoprank, name, tmp_path / "first.jsonl")
    imported(hoprank, first, other)
    second = exported(hoprank, other, tmp_path / "second.jsonl")

    lines = [set(path.read_text().replace(other, name).splitlines()) for path in (first, second)]
    assert lines[0] == lines[1]


def test_an_imported_corpus_is_synced_as_any_other(
    hoprank: HopRank, name: str, other: str, tmp_path: Path, graph_of: GraphOf, new_corpus: NewCorpus
) -> None:
    imported(hoprank, exported(hoprank, name, tmp_path / "corpus.jsonl"), other)
    folder = tmp_path / "notes"
    folder.mkdir()
    for file, text in {**NOTES, "ada.md": "# Ada Lovelace\n\nShe met nobody."}.items():
        (folder / file).write_text(text, encoding="utf-8")

    summary = hoprank.sync(folder, corpus=other)

    assert (summary.plan.changed, summary.plan.unchanged) == (("ada.md",), 3)
    with new_corpus() as fresh:
        hoprank.ingest(folder, corpus=fresh)
        assert graph_of(other) == graph_of(fresh)


def test_a_name_that_is_taken_is_refused(hoprank: HopRank, name: str, tmp_path: Path, graph_of: GraphOf) -> None:
    path, before = exported(hoprank, name, tmp_path / "corpus.jsonl"), graph_of(name)

    with pytest.raises(CorpusError, match="already") as caught:
        imported(hoprank, path, None)

    assert "--as" in caught.value.fix
    assert graph_of(name) == before


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda lines: lines[:3], "ends early, after line 3"),
        (lambda lines: [*lines[:4], "no json"], "line 5 isn't a line of an export"),
        (lambda lines: [*lines[:4], '{"chunk": {"text": "x"}}'], "line 5 isn't a line of an export: it lacks document"),
        (lambda lines: lines[1:], "doesn't begin with a corpus"),
        (lambda lines: [lines[0].replace('"schema": ', '"schema": 9'), *lines[1:]], "schema version 9"),
        (lambda _: [], "doesn't begin with a corpus"),
    ],
)
def test_what_is_no_export_is_refused_and_leaves_no_corpus(
    hoprank: HopRank, name: str, other: str, tmp_path: Path, spoil: Callable[[list[str]], list[str]], said: str
) -> None:
    path = exported(hoprank, name, tmp_path / "corpus.jsonl")
    path.write_text("\n".join(spoil(path.read_text().splitlines())))

    with pytest.raises(InputError, match=said):
        imported(hoprank, path, other)

    assert find_corpus(hoprank.client, other) is None


def test_graphml_holds_every_node_and_edge(hoprank: HopRank, name: str, tmp_path: Path, graph_of: GraphOf) -> None:
    path = exported(hoprank, name, tmp_path / "corpus.graphml")

    root = etree.parse(str(path)).getroot()
    space = "{http://graphml.graphdrawing.org/xmlns}"
    nodes = {node.get("id") for node in root.iter(f"{space}node")}
    edges = list(root.iter(f"{space}edge"))
    corpus = get_corpus(hoprank.client, name)
    assert len(nodes) == corpus.documents + corpus.chunks + corpus.entities
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
    }
    chunk = pq.read_table(folder / "chunks.parquet").to_pylist()[0]
    assert (chunk["document"], len(chunk["embedding"])) == ("ada.md", 384)
    document = pq.read_table(folder / "documents.parquet").to_pylist()[0]
    assert json.loads(document["metadata"]) == {"tags": ["x", "y"], "year": 1815}
    assert [path.name for path in tmp_path.iterdir()] == ["tables"]


def test_a_place_that_can_not_be_written_to_is_named(hoprank: HopRank, name: str, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="nowhere"):
        exported(hoprank, name, tmp_path / "nowhere" / "corpus.jsonl")


def test_the_format_is_told_by_the_suffix() -> None:
    assert [Format.of(Path(name)) for name in ("a.jsonl", "a.graphml", "a", "a.txt")] == [
        Format.JSONL,
        Format.GRAPHML,
        Format.PARQUET,
        Format.JSONL,
    ]
