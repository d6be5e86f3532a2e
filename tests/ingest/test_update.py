"""Ingestion into the real graph: what a run writes, what the next one changes; the way there leaves no mark."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline import HopRank
from pipeline.db.catalogue import get_corpus
from pipeline.errors import CorpusError
from tests.graph_dump import Dump

GraphOf = Callable[[str], Dump]
Write = Callable[[Path, Mapping[str, str]], Path]

NOTES = {
    "people/ada.md": "# Ada Lovelace\n\nAda Lovelace met Charles Babbage in 1833 and knew the [engine](../engine.md).",
    "people/babbage.md": "# Charles Babbage\n\nCharles Babbage designed the Analytical Engine in London.",
    "engine.md": "---\nyear: 1837\n---\n# Analytical Engine\n\nThe Analytical Engine was never built. See [[babbage]].",
    "london.md": "# London\n\nLondon stands on the Thames, and Mary Somerville lived there.",
    "somerville.md": "# Mary Somerville\n\nMary Somerville taught Ada Lovelace and met Charles Babbage.",
    "tides.md": "# Tides\n\nTides on the Thames reach London twice a day.",
    "thames.txt": "The Thames flows through London. Tides come far up the Thames.",
    "turin.md": "# Turin\n\nIn 1840 Charles Babbage spoke in Turin. Luigi Menabrea noted the Analytical Engine.",
    "menabrea.md": "# Luigi Menabrea\n\nLuigi Menabrea of Turin wrote on it; [Ada](people/ada.md) translated that.",
    "blank.jsonl": '{"id": "blank", "title": "Blank", "text": ""}\n',
}


@pytest.fixture
def notes(write: Write, tmp_path: Path) -> Path:
    return write(tmp_path / "notes", NOTES)


@pytest.fixture(scope="module")
def whole(
    hoprank: HopRank, graph_of: GraphOf, shared_corpus_name: str, tmp_path_factory: pytest.TempPathFactory, write: Write
) -> Dump:
    """The graph of all the notes, made by one ingest."""
    return after(hoprank, graph_of, shared_corpus_name, write(tmp_path_factory.mktemp("whole") / "notes", NOTES))


def after(hoprank: HopRank, graph_of: GraphOf, name: str, folder: Path) -> Dump:
    """Ingest a folder and return the graph, with paths as they are below it."""
    hoprank.ingest(folder, corpus=name)
    return below(folder, graph_of(name))


def below(folder: Path, graph: Dump) -> Dump:
    documents = {(key, title, path.removeprefix(str(folder)), *more) for key, title, path, *more in graph["documents"]}
    return {kind: tuples for kind, tuples in {**graph, "documents": documents}.items() if tuples}


def test_one_ingest_writes_exactly_what_is_expected(whole: Dump) -> None:
    ada, babbage, engine = ("people/ada.md", 0), ("people/babbage.md", 0), ("engine.md", 0)

    assert {(key, title) for key, title, *_ in whole["documents"]} == {
        ("people/ada.md", "Ada Lovelace"),
        ("people/babbage.md", "Charles Babbage"),
        ("engine.md", "Analytical Engine"),
        ("london.md", "London"),
        ("somerville.md", "Mary Somerville"),
        ("tides.md", "Tides"),
        ("thames.txt", "thames"),
        ("turin.md", "Turin"),
        ("menabrea.md", "Luigi Menabrea"),
        ("blank", "Blank"),
    }
    assert {chunk[:2] for chunk in whole["chunks"]} == {(key, 0) for key, *_ in whole["documents"] if key != "blank"}
    assert whole["PART_OF"] == {((key, place), key) for key, place, *_ in whole["chunks"]}
    assert whole["LINKS_TO"] == {
        (ada, "engine.md", 1),
        (engine, "people/babbage.md", 1),
        (("menabrea.md", 0), "people/ada.md", 1),
    }
    assert {link[:2] for link in whole["REFERS_TO"] if link[0] in (ada, babbage, engine)} == {
        (ada, "people/babbage.md"),
        (babbage, "engine.md"),
        (babbage, "london.md"),
    }
    assert {(mention[1], mention[2]) for mention in whole["MENTIONS"] if mention[0] == ada} == {
        ("ada lovelace", True),
        ("charles babbage", False),
        ("1833", False),
    }
    assert {"leftovers", "NEXT"}.isdisjoint(whole)


def test_metadata_lines_and_offsets_are_those_of_the_file(whole: Dump) -> None:
    (engine,) = [chunk for chunk in whole["chunks"] if chunk[0] == "engine.md"]
    (document,) = [document for document in whole["documents"] if document[0] == "engine.md"]

    assert (document[2], document[4]) == ("/engine.md", '{"metadata.year": 1837}')
    assert engine[7:9] == (4, 6)


def test_the_chunks_of_a_long_document_are_joined_in_order(
    hoprank: HopRank, corpus_name: str, graph_of: GraphOf, tmp_path: Path, write: Write
) -> None:
    long = "".join(f"# Part {number}\n\n{'A sentence that fills the page. ' * 30}\n\n" for number in range(3))
    graph = after(hoprank, graph_of, corpus_name, write(tmp_path / "long", {"long.md": long, "short.md": "# Short"}))

    places = sorted(chunk[1] for chunk in graph["chunks"] if chunk[0] == "long.md")
    assert len(places) >= 3
    assert graph["NEXT"] == {(("long.md", place), ("long.md", place + 1)) for place in places[:-1]}


def test_the_same_input_again_writes_nothing(hoprank: HopRank, corpus_name: str, notes: Path) -> None:
    hoprank.ingest(notes, corpus=corpus_name)
    written, corpus = hoprank.client.written, get_corpus(hoprank.client, corpus_name)

    summary = hoprank.ingest(notes, corpus=corpus_name)

    assert hoprank.client.written == written
    assert get_corpus(hoprank.client, corpus_name) == corpus
    assert (summary.changed, summary.unchanged, summary.documents, summary.empty) == (0, 10, 10, ("blank",))


def test_the_summary_counts_what_the_graph_has(
    hoprank: HopRank, corpus_name: str, notes: Path, graph_of: GraphOf
) -> None:
    (notes / "picture.png").write_bytes(b"\x89PNG")
    summary = hoprank.ingest(notes, corpus=corpus_name)
    graph, corpus = graph_of(corpus_name), get_corpus(hoprank.client, corpus_name)

    assert (summary.corpus, summary.changed, summary.unchanged) == (corpus_name, 10, 0)
    assert (summary.documents, summary.chunks, summary.entities) == (10, 9, len(graph["entities"]))
    assert (corpus.documents, corpus.chunks, corpus.entities) == (10, 9, len(graph["entities"]))
    assert summary.edges == {kind: len(graph[kind]) for kind in summary.edges}
    assert [Path(skipped.source).name for skipped in summary.skipped] == ["picture.png"]
    assert summary.to_json()["documents"] == 10


@settings(max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sets(st.sampled_from(sorted(NOTES)), min_size=1, max_size=len(NOTES) - 1))
def test_two_steps_give_the_graph_of_one(
    hoprank: HopRank,
    graph_of: GraphOf,
    new_corpus: Callable[[], Any],
    whole: Dump,
    tmp_path: Path,
    write: Write,
    first: set[str],
) -> None:
    folder = tmp_path / "steps"
    shutil.rmtree(folder, ignore_errors=True)
    with new_corpus() as name:
        hoprank.ingest(write(folder, {key: NOTES[key] for key in first}), corpus=name)

        assert after(hoprank, graph_of, name, write(folder, NOTES)) == whole


def test_documents_that_are_not_given_stay(
    hoprank: HopRank, corpus_name: str, notes: Path, graph_of: GraphOf, whole: Dump
) -> None:
    hoprank.ingest(notes, corpus=corpus_name)
    (notes / "london.md").unlink()

    assert after(hoprank, graph_of, corpus_name, notes) == whole


def test_a_removed_document_leaves_no_trace(
    hoprank: HopRank,
    corpus_name: str,
    notes: Path,
    graph_of: GraphOf,
    new_corpus: Callable[[], Any],
) -> None:
    hoprank.ingest(notes, corpus=corpus_name)

    outcome = hoprank.delete(["london.md", "blank"], corpus=corpus_name)

    graph = below(notes, graph_of(corpus_name))
    (notes / "london.md").unlink()
    (notes / "blank.jsonl").unlink()
    with new_corpus() as fresh:
        assert graph == after(hoprank, graph_of, fresh, notes)
    assert (outcome.documents, outcome.chunks) == (8, 8)
    assert outcome.entities == len(graph["entities"])


@pytest.mark.slow
def test_all_documents_may_be_removed_and_come_back(
    hoprank: HopRank, corpus_name: str, notes: Path, graph_of: GraphOf, whole: Dump
) -> None:
    hoprank.ingest(notes, corpus=corpus_name)
    hoprank.delete((key for key, *_ in whole["documents"]), corpus=corpus_name)

    assert {kind for kind, tuples in graph_of(corpus_name).items() if tuples} == {"sizes"}
    assert hoprank.search("Where is Turin?", corpus=corpus_name).items == ()
    assert after(hoprank, graph_of, corpus_name, notes) == whole


def test_a_document_that_is_not_there_can_not_be_removed(hoprank: HopRank, corpus_name: str, notes: Path) -> None:
    hoprank.ingest(notes, corpus=corpus_name)
    written = hoprank.client.written

    with pytest.raises(CorpusError, match=r"'nowhere\.md'") as caught:
        hoprank.delete(["london.md", "nowhere.md"], corpus=corpus_name)

    assert caught.value.fix
    assert hoprank.client.written == written


def test_a_batch_of_empty_texts_is_no_hindrance_to_the_others(
    hoprank: HopRank, corpus_name: str, jsonl: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipeline.ingest.update.changes._BATCH_DOCUMENTS", 1)
    rows = [{"id": "a", "text": ""}, {"id": "b", "text": "Ada Lovelace wrote notes."}, {"id": "c", "text": ""}]

    summary = hoprank.ingest(jsonl(rows), corpus=corpus_name)

    assert (summary.documents, summary.chunks, summary.empty) == (3, 1, ("a", "c"))


def test_a_text_that_is_empty_is_kept_and_found_by_nothing(
    hoprank: HopRank, corpus_name: str, jsonl: Callable[..., Path], graph_of: GraphOf
) -> None:
    summary = hoprank.ingest(jsonl([{"id": "a", "text": ""}, {"id": "b", "text": " \n"}]), corpus=corpus_name)

    assert (summary.documents, summary.chunks, summary.empty) == (2, 0, ("a", "b"))
    assert {key for key, *_ in graph_of(corpus_name)["documents"]} == {"a", "b"}
    for leg in ("hoprank", "vector", "fulltext", "bm25", "hybrid", "hops", "graph"):
        assert hoprank.search("Who?", corpus=corpus_name, leg=leg, explain=True).items == ()
