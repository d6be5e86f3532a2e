"""Titles, keys, corpora and metadata named like code: stored and found as they are written, and never run."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import neo4j
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline import HopRank
from pipeline.db.catalogue import get_corpus, list_corpora
from pipeline.flows.maintain import rename

HOSTILE = (
    "Robert'); MATCH (n) DETACH DELETE n; //",
    "`backticks` and ``more``",
    "{braces: $param} <label> <index>",
    "quotes \"double\" and 'single'",
    "MATCH",
    "n.corpus = null",
    "line\nbreak\tand tab",
    "back\\slash \\u0027 \\",
    "emoji 💥 and ZWJ 👩‍🚀",
    "right\u202eto left",
    "   spaces   ",
    "metadata.since",
    "hoprank-*",
    "%s %d ${HOME} $(id)",
)


@pytest.fixture(scope="module")
def corpus(hoprank: HopRank, new_corpus: Callable[[], Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A corpus with a document for each hostile name, used wherever a name can stand."""
    path: Path = tmp_path_factory.mktemp("hostile") / "hostile.jsonl"
    rows = [
        {"id": name, "title": name, "text": f"Passage {number} tells of {name} at length.", "metadata": {name: name}}
        for number, name in enumerate(HOSTILE)
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    with new_corpus() as name:
        hoprank.ingest(path, corpus=name)
        yield name


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_it_is_found_as_it_is_written(hoprank: HopRank, corpus: str, name: str) -> None:
    found = hoprank.search(f"What is told of {name}?", corpus=corpus, top_k=20, explain=True)

    hits = {item.metadata["document"]: item for item in found.items}
    assert name in hits
    assert name in hits[name].content
    assert hits[name].metadata["title"] == name.strip()
    assert hits[name].metadata["document_metadata"] == {name: name}


def test_nothing_of_it_was_run(
    hoprank: HopRank, corpus: str, cypher: Callable[..., list[neo4j.Record]], graph_of: Callable[[str], Any]
) -> None:
    graph = graph_of(corpus)

    assert {key for key, *_ in graph["documents"]} == set(HOSTILE)
    assert get_corpus(hoprank.client, corpus).documents == len(HOSTILE)
    labels = {row["label"] for row in cypher("CALL db.labels() YIELD label RETURN label")}
    assert all(label.replace("_", "").isalnum() for label in labels)


def test_metadata_can_not_take_the_place_of_what_the_graph_needs(
    hoprank: HopRank, corpus_name: str, jsonl: Callable[..., Path]
) -> None:
    metadata = {"since": 99, "until": 0, "corpus": "other", "key": "k", "id": "i", "hash": "h", "metadata.id": "m"}
    hoprank.ingest(jsonl([{"id": "a", "text": "An otter swims.", "metadata": metadata}]), corpus=corpus_name)

    (item,) = hoprank.search("otter", corpus=corpus_name).items
    assert item.metadata["document_metadata"] == metadata
    assert (item.metadata["document"], item.metadata["id"] != "i") == ("a", True)


@pytest.fixture(scope="module")
def otter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("otter") / "otter.jsonl"
    path.write_text(json.dumps({"id": "a", "text": "An otter swims."}), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def renamed(hoprank: HopRank, shared_corpus_name: str, otter: Path) -> str:
    """A corpus to be given other names, which a test takes back."""
    hoprank.ingest(otter, corpus=shared_corpus_name)
    return shared_corpus_name


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_a_corpus_may_be_named_so(hoprank: HopRank, renamed: str, otter: Path, name: str) -> None:
    others = {corpus.name for corpus in list_corpora(hoprank.client)} - {renamed}
    rename(hoprank.client, renamed, name)
    try:
        assert hoprank.search("otter", corpus=name).items[0].metadata["document"] == "a"
        assert hoprank.search("otter", corpus=name).metadata["corpus"] == name
        assert hoprank.ingest(otter, corpus=name).unchanged == 1
        assert {corpus.name for corpus in list_corpora(hoprank.client)} == others | {name}
    finally:
        rename(hoprank.client, name, renamed)
    assert {corpus.name for corpus in list_corpora(hoprank.client)} == others | {renamed}


ANYTHING = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=20)


@pytest.mark.slow
@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(ANYTHING.filter(lambda key: bool(key.strip())), st.tuples(ANYTHING, ANYTHING), max_size=5))
def test_any_text_is_kept_as_it_is(
    hoprank: HopRank,
    new_corpus: Callable[[], Any],
    jsonl: Callable[..., Path],
    graph_of: Callable[[str], Any],
    documents: dict[str, tuple[str, str]],
) -> None:
    rows = [{"id": key, "text": text, "metadata": {name: 1}} for key, (text, name) in documents.items()]
    with new_corpus() as corpus:
        if not rows:
            return
        hoprank.ingest(jsonl(rows), corpus=corpus)
        graph = graph_of(corpus)

    assert {key for key, *_ in graph["documents"]} == documents.keys()
    assert {chunk[0]: chunk[2] for chunk in graph["chunks"]} == {
        key: text.strip() for key, (text, _) in documents.items() if text.strip()
    }
