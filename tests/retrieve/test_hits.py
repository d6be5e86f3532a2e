"""What is read of chunks: all that is asked for in one round trip, and nothing of another corpus or generation."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline import HopRank
from pipeline.graph.client import Client
from pipeline.graph.corpora import get_corpus
from pipeline.retrieve.hits import read_hits


def test_hits_come_by_id_with_text_and_title(hoprank: HopRank, library: str) -> None:
    corpus = get_corpus(hoprank.client, library)
    items = hoprank.search("Who met Ada Lovelace?", corpus=library, leg="vector").items

    hits = read_hits(hoprank.client, corpus, [item.metadata["id"] for item in items], corpus.generation)

    assert {id_: (hit["text"], hit["title"]) for id_, hit in hits.items()} == {
        item.metadata["id"]: (item.content, item.metadata["title"]) for item in items
    }


def test_what_the_generation_lacks_is_left_out(
    hoprank: HopRank, library: str, corpus_name: str, jsonl: Callable[..., Path]
) -> None:
    hoprank.ingest(jsonl([{"id": "one", "text": "Silk is spun at Lyon."}]), corpus=corpus_name)
    corpus, other = (get_corpus(hoprank.client, name) for name in (corpus_name, library))
    found = hoprank.search("silk", corpus=corpus_name, leg="vector").items[0].metadata["id"]

    assert list(read_hits(hoprank.client, corpus, [found, "gone"], corpus.generation)) == [found]
    assert read_hits(hoprank.client, corpus, [found], corpus.generation - 1) == {}
    assert read_hits(hoprank.client, other, [found], other.generation) == {}


def test_nothing_is_asked_of_the_server_for_no_chunks(
    hoprank: HopRank, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = get_corpus(hoprank.client, library)
    asked: list[str] = []
    monkeypatch.setattr(Client, "read", lambda _, name, /, **params: asked.append(f"{name} {params}"))

    assert read_hits(hoprank.client, corpus, [], corpus.generation) == {}
    assert asked == []
