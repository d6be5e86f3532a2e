"""A corpus as a whole: its statistics, another name, another layout, another model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import neo4j
import pytest

from pipeline import HopRank
from pipeline.db.catalogue import SCHEMA_VERSION, find_corpus, get_corpus
from pipeline.db.corpus import open_corpus
from pipeline.db.lease import lease
from pipeline.embedding.embedder import Embedder
from pipeline.errors import Busy, CorpusError, FingerprintError, InputError
from pipeline.flows import maintain
from pipeline.progress import Progress
from tests.graph_dump import Dump

GraphOf = Callable[[str], Dump]
Jsonl = Callable[..., Path]
Cypher = Callable[..., list[neo4j.Record]]

ANIMALS = [
    {"id": "otter", "title": "Otter", "text": "The otter swims in the Severn all day, and eats trout."},
    {"id": "beaver", "title": "Beaver", "text": "The Beaver builds dams on the Severn."},
    {"id": "severn", "title": "Severn", "text": "The Severn rises on Plynlimon in Wales, and Otter swim there."},
]


@pytest.fixture
def animals(hoprank: HopRank, corpus_name: str, jsonl: Jsonl) -> str:
    hoprank.ingest(jsonl(ANIMALS), corpus=corpus_name)
    return corpus_name


@pytest.fixture
def other(new_corpus: Callable[[], Any]) -> Iterator[str]:
    with new_corpus() as other:
        yield other


def test_statistics_name_what_most_chunks_mention(hoprank: HopRank, animals: str) -> None:
    found = maintain.stats(hoprank.client, animals)

    assert found.corpus == get_corpus(hoprank.client, animals)
    assert found.corpus.edges["PART_OF"] == 3
    assert found.top[0] == ("Severn", 3)
    assert (found.writer, found.created_at[:2]) == (None, "20")
    assert found.to_json()["corpus"]["documents"] == 3


@pytest.mark.slow
def test_a_corpus_that_is_renamed_is_what_it_was(hoprank: HopRank, animals: str, other: str, graph_of: GraphOf) -> None:
    before = graph_of(animals)

    maintain.rename(hoprank.client, animals, other)

    assert find_corpus(hoprank.client, animals) is None
    assert graph_of(other) == before
    assert hoprank.search("otter", corpus=other).items


def test_a_name_that_is_taken_or_none_is_refused(hoprank: HopRank, animals: str, other: str, jsonl: Jsonl) -> None:
    hoprank.ingest(jsonl(ANIMALS[:1]), corpus=other)

    with pytest.raises(CorpusError, match="already"):
        maintain.rename(hoprank.client, animals, other)
    with pytest.raises(InputError, match="can't be named"):
        maintain.rename(hoprank.client, animals, " ")
    with lease(open_corpus(hoprank.client, animals)), pytest.raises(Busy):
        maintain.rename(hoprank.client, animals, "free")


@pytest.mark.parametrize("version", [SCHEMA_VERSION - 1, SCHEMA_VERSION + 1])
def test_a_corpus_of_another_layout_is_refused(
    hoprank: HopRank, animals: str, cypher: Cypher, jsonl: Jsonl, tmp_path: Path, version: int
) -> None:
    corpus = get_corpus(hoprank.client, animals)
    cypher("MATCH (c:HopRankCorpus {id: $id}) SET c.schema_version = $version", id=corpus.id, version=version)

    for refused in (
        lambda: hoprank.ingest(jsonl(ANIMALS[:2]), corpus=animals),
        lambda: maintain.export_corpus(hoprank.client, animals, tmp_path / "a.jsonl", progress=Progress()),
        lambda: maintain.relink(
            hoprank.client, hoprank.embedder, hoprank.settings, animals, filterable=["year"], progress=Progress()
        ),
        lambda: maintain.reembed(hoprank.client, hoprank.embedder, hoprank.settings, animals, progress=Progress()),
    ):
        with pytest.raises(FingerprintError, match=f"schema version {version}, not {SCHEMA_VERSION}") as caught:
            refused()
        assert caught.value.fix.startswith("Use the HopRank that made it")


@pytest.mark.slow
def test_another_model_takes_over_when_it_is_whole(
    hoprank: HopRank, animals: str, twin: Embedder, graph_of: GraphOf, cypher: Cypher
) -> None:
    before, old = graph_of(animals), get_corpus(hoprank.client, animals)

    made = maintain.reembed(hoprank.client, twin, hoprank.settings, animals, progress=Progress())

    assert made.fingerprint == twin.fingerprint != old.fingerprint
    assert graph_of(animals) == before
    assert not cypher("MATCH (n) WHERE n.corpus = $id OR n.id = $id RETURN n", id=old.id)
    with pytest.raises(FingerprintError):
        hoprank.retriever(animals)
    assert HopRank(hoprank.client, twin, hoprank.settings).search("otter", corpus=animals).items
    with pytest.raises(CorpusError, match="already"):
        maintain.reembed(hoprank.client, twin, hoprank.settings, animals, progress=Progress())


@pytest.mark.slow
def test_a_takeover_that_fails_leaves_the_old_model_and_is_completed_later(
    hoprank: HopRank, animals: str, twin: Embedder, graph_of: GraphOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, old = graph_of(animals), get_corpus(hoprank.client, animals)

    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("pipeline.transfer.restore.link_similar", fail)
    with pytest.raises(KeyboardInterrupt):
        maintain.reembed(hoprank.client, twin, hoprank.settings, animals, progress=Progress())
    monkeypatch.undo()
    assert get_corpus(hoprank.client, animals) == old
    assert hoprank.search("otter", corpus=animals).items

    maintain.reembed(hoprank.client, twin, hoprank.settings, animals, progress=Progress())

    assert graph_of(animals) == before
