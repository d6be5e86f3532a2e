"""What is read of chunks: all in one round trip, nothing of another corpus or generation, and nothing twice."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline import HopRank
from pipeline.db.client import Client
from pipeline.db.corpus import CorpusHandle, open_corpus
from pipeline.errors import Superseded
from pipeline.retrieve.hits import HitReader, read_hits


def test_hits_come_by_id_with_text_and_title(hoprank: HopRank, library: str) -> None:
    corpus = open_corpus(hoprank.client, library)
    items = hoprank.search("Who met Ada Lovelace?", corpus=library, leg="vector").items

    hits = read_hits(corpus, [item.metadata["id"] for item in items])

    assert list(hits) == [item.metadata["id"] for item in items]
    for item in items:
        hit = hits[item.metadata["id"]].hit
        assert hit.text == item.content
        for name in ("document", "title", "heading", "path", "ordinal", "start", "end", "line_start", "line_end"):
            assert getattr(hit, name) == item.metadata[name], name
        assert (hit.rank, hit.legs, hit.evidence, hit.features) == (0, {}, None, None)


def test_what_the_generation_lacks_is_left_out(
    hoprank: HopRank, library: str, corpus_name: str, jsonl: Callable[..., Path]
) -> None:
    hoprank.ingest(jsonl([{"id": "one", "text": "Silk is spun at Lyon."}]), corpus=corpus_name)
    corpus, other = (open_corpus(hoprank.client, name) for name in (corpus_name, library))
    found = hoprank.search("silk", corpus=corpus_name, leg="vector").items[0].metadata["id"]

    assert list(read_hits(corpus, [found, "gone"])) == [found]
    assert read_hits(other, [found]) == {}
    with pytest.raises(Superseded, match="replaced while it was read"):
        read_hits(corpus.at(corpus.generation - 1), [found])


@pytest.fixture
def ids_read(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The ids that the server is asked for, a list for each round trip."""
    asked: list[list[str]] = []
    read = Client.read

    def noting(client: Client, name: str, names: Mapping[str, str], /, **params: Any) -> Any:
        asked.append(params["ids"])
        return read(client, name, names, **params)

    monkeypatch.setattr(Client, "read", noting)
    return asked


@pytest.fixture
def found(hoprank: HopRank, library: str) -> tuple[CorpusHandle, list[str]]:
    """A corpus, and the ids of some of its chunks."""
    items = hoprank.search("Who met Ada Lovelace?", corpus=library, leg="vector").items
    return open_corpus(hoprank.client, library), [item.metadata["id"] for item in items]


def test_what_was_read_is_not_asked_for_again(
    hoprank: HopRank, found: tuple[CorpusHandle, list[str]], ids_read: list[list[str]]
) -> None:
    corpus, ids = found
    reader = HitReader(corpus)

    first = reader.read(ids[:3], corpus.generation)
    more = reader.read([*ids[1:4], "gone"], corpus.generation)
    again = reader.read(ids[3::-1], corpus.generation)

    assert ids_read == [ids[:3], [ids[3], "gone"]]
    assert (list(first), list(more), list(again)) == (ids[:3], ids[1:4], ids[3::-1])
    assert {id_: stored.hit for id_, stored in again.items()} == {
        id_: stored.hit for id_, stored in read_hits(corpus, ids[:4]).items()
    }


def test_what_is_read_ahead_is_not_asked_for_again_and_its_faults_wait(
    hoprank: HopRank, found: tuple[CorpusHandle, list[str]], ids_read: list[list[str]]
) -> None:
    corpus, ids = found
    reader = HitReader(corpus)

    with reader.reading(ids[:2], corpus.generation):
        pass
    assert list(reader.read(ids[:3], corpus.generation)) == ids[:3]
    with reader.reading(ids[:1], corpus.generation - 1):
        pass
    with pytest.raises(Superseded):
        reader.read(ids[:1], corpus.generation - 1)

    assert ids_read == [ids[:2], ids[2:3], ids[:1], ids[:1]]


@pytest.mark.slow
def test_a_hit_comes_with_the_centroid_of_its_document(
    hoprank: HopRank, corpus_name: str, jsonl: Callable[..., Path]
) -> None:
    long = "Silk is spun at Lyon. " * 200
    hoprank.ingest(jsonl([{"id": "long", "text": long}, {"id": "short", "text": "Wool."}]), corpus=corpus_name)
    corpus = open_corpus(hoprank.client, corpus_name)
    ids = [item.metadata["id"] for item in hoprank.search("silk", corpus=corpus_name, leg="vector").items]

    stored = read_hits(corpus, ids).values()

    of_long = [one.passage.centroid for one in stored if one.hit.document == "long"]
    assert len(of_long) > 1
    for centroid in of_long:
        assert centroid is not None
        assert float(np.linalg.norm(centroid)) == pytest.approx(1, abs=1e-5)
    assert [one.passage.centroid for one in stored if one.hit.document == "short"] == [None]
    assert all("centroid" not in one.hit.document_metadata for one in stored)
