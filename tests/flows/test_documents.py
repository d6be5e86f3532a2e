"""Documents as a corpus holds them: listed by pages, read whole, added from memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from pipeline import HopRank
from pipeline.errors import InputError, SourceError, UnknownCorpus, UnknownDocument
from tests.conftest import LIBRARY
from tests.graph_dump import Dump


def test_documents_are_listed_by_pages(hoprank: HopRank, library: str) -> None:
    first = hoprank.documents(library, limit=5)
    rest = hoprank.documents(library, after=first[-1].key)

    assert [entry.key for entry in (*first, *rest)] == sorted(LIBRARY)
    assert [entry.title for entry in hoprank.documents(library, prefix="ly")] == ["Lyon"]


def test_a_document_is_read_whole_with_its_overlaps_once(hoprank: HopRank, library: str) -> None:
    stored = hoprank.document("long", library)

    assert len(stored.chunks) > 1
    assert stored.text.split() == LIBRARY["long"][1].split()
    assert stored.entry.title == "Long walk"


def test_a_misspelt_key_is_answered_with_the_nearest(hoprank: HopRank, library: str) -> None:
    with pytest.raises(UnknownDocument, match="Did you mean 'babbage'"):
        hoprank.document("babage", library)
    with pytest.raises(UnknownCorpus):
        hoprank.document("ada", f"{library} no")
    with pytest.raises(InputError, match="limit is 0"):
        hoprank.documents(library, limit=0)


@pytest.mark.slow
def test_documents_of_memory_make_the_graph_of_a_file(
    hoprank: HopRank,
    new_corpus: Callable[[], Any],
    jsonl: Callable[[Iterable[Mapping[str, Any]]], Path],
    graph_of: Callable[[str], Dump],
) -> None:
    objects: list[dict[str, Any]] = [
        {"id": key, "title": title, "text": text, "metadata": {"of": "library"}}
        for key, (title, text) in LIBRARY.items()
    ]
    with new_corpus() as given, new_corpus() as read:
        summary = hoprank.add(objects, given)
        hoprank.ingest(jsonl(objects), corpus=read)

        assert summary.changed == len(LIBRARY)
        assert hoprank.add(objects, given).changed == 0
        assert without_paths(graph_of(given)) == without_paths(graph_of(read))
        assert {entry.path for entry in hoprank.documents(given)} == {""}
        assert hoprank.document("ada", given).entry.metadata == {"of": "library"}


def without_paths(dump: Dump) -> Dump:
    """A dump without the paths of documents."""
    paths = {"", *(value for rows in dump.values() for row in rows for value in row if str(value).endswith(".jsonl"))}
    return {kind: {tuple(value for value in row if value not in paths) for row in rows} for kind, rows in dump.items()}


@pytest.mark.parametrize(
    ("objects", "problem"),
    [
        ([{"id": "a", "text": "x"}, {"text": "y"}], "documents, line 2 has no id"),
        ([{"id": "a", "text": "x"}, {"id": "a", "text": "y"}], "gives the id 'a' on line 1 and again on line 2"),
        ([{"id": "a", "text": 7}], "has a text that isn't a string"),
    ],
)
def test_a_malformed_document_is_named_and_nothing_is_written(
    hoprank: HopRank, corpus_name: str, objects: list[dict[str, Any]], problem: str
) -> None:
    with pytest.raises(SourceError, match=problem):
        hoprank.add(objects, corpus_name)

    with pytest.raises(UnknownCorpus):
        hoprank.documents(corpus_name)


@pytest.mark.slow
def test_the_bytes_of_a_file_become_a_document(hoprank: HopRank, corpus_name: str) -> None:
    hoprank.add_file("notes/tides.md", b"# Tides\n\nThe moon raises the tides.\n", corpus_name)
    hoprank.add_file("notes/page.html", b"<title>Bread</title><p>Bread is baked from flour.</p>", corpus_name)

    assert [(entry.key, entry.title) for entry in hoprank.documents(corpus_name)] == [
        ("notes/page.html", "Bread"),
        ("notes/tides.md", "Tides"),
    ]
    assert "raises the tides" in hoprank.document("notes/tides.md", corpus_name).text


@pytest.mark.parametrize(
    ("key", "content", "problem"),
    [
        ("a.xyz", b"x", r"a\.xyz has the suffix \.xyz, which isn't read"),
        ("a.md", b"", r"a\.md is empty"),
        ("a.jsonl", b"{}", r"a\.jsonl holds many documents"),
        ("a.pdf", b"no pdf", r"a\.pdf isn't well-formed PDF"),
    ],
)
def test_bytes_that_are_no_document_are_refused_by_name(
    hoprank: HopRank, corpus_name: str, key: str, content: bytes, problem: str
) -> None:
    with pytest.raises(SourceError, match=problem):
        hoprank.add_file(key, content, corpus_name)
