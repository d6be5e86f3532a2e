"""The walk by GDS: when ``auto`` takes it, what answers while there is no projection, and where it may end."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import neo4j
import pytest

from pipeline import HopRank
from pipeline.db.catalogue import Corpus, drop_corpus, get_corpus
from pipeline.db.client import Client
from pipeline.db.corpus import CorpusHandle
from pipeline.db.projections import drop_projections
from pipeline.flows.search import Retriever
from pipeline.retrieve.legs import Leg

Jsonl = Callable[..., Path]

QUESTION = "Who taught the woman that met Charles Babbage?"
UNNAMED = "Which instrument writes on paper?"


@pytest.fixture
def corpus(hoprank: HopRank, library: str) -> Iterator[Corpus]:
    """A corpus to read, without a projection before and after."""
    corpus = get_corpus(hoprank.client, library)
    drop_projections(hoprank.client, corpus.id)
    yield corpus
    hoprank.client.finish_background()
    drop_projections(hoprank.client, corpus.id)


def walking(hoprank: HopRank, corpus: Corpus, **walk: Any) -> Retriever:
    changed = hoprank.settings.walk.model_copy(update=walk)
    settings = hoprank.settings.model_copy(update={"walk": changed})
    return Retriever(CorpusHandle(hoprank.client, corpus), hoprank.embedder.embed_query, settings)


def engine(retriever: Retriever, question: str = QUESTION, **search: Any) -> str:
    walked: str = retriever.search(question, **search).metadata["engine"]
    return walked


def projections(client: Client, corpus: Corpus) -> list[str]:
    return [row["name"] for row in client.read("projections") if corpus.id in row["name"]]


def test_auto_takes_gds_up_to_a_number_of_nodes_for_the_walk_alone(hoprank: HopRank, corpus: Corpus) -> None:
    nodes = corpus.chunks + corpus.entities
    small, large = (walking(hoprank, corpus, gds_up_to=most) for most in (nodes, nodes - 1))

    large.prepare()
    assert projections(hoprank.client, corpus) == []
    small.prepare()

    assert [engine(retriever, leg=Leg.GRAPH) for retriever in (small, large)] == ["gds", "local"]
    assert [engine(retriever, leg=Leg.WHOLE) for retriever in (small, large)] == ["local", "local"]


def test_auto_takes_the_local_engine_where_gds_can_not_walk(
    hoprank: HopRank, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    retriever = walking(hoprank, corpus)
    retriever.prepare()

    assert engine(retriever, leg=Leg.GRAPH) == "gds"
    assert engine(retriever, leg=Leg.GRAPH, filters={"document": "somerville"}) == "local"
    monkeypatch.setattr(hoprank.client, "has_gds", False)
    assert engine(retriever, leg=Leg.GRAPH) == "local"


def test_the_whole_takes_gds_if_told_to_and_the_question_has_a_name(hoprank: HopRank, corpus: Corpus) -> None:
    retriever = walking(hoprank, corpus, engine="gds")

    assert [engine(retriever, question) for question in (QUESTION, UNNAMED)] == ["gds", "local"]


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """No corpus is projected before this is set."""
    release = threading.Event()
    reading = Client.read

    def read(client: Client, name: str, /, *args: Any, **params: Any) -> list[neo4j.Record]:
        if name == "project":
            assert release.wait(60)
        return reading(client, name, *args, **params)

    monkeypatch.setattr(Client, "read", read)
    return release


def test_the_local_walk_answers_while_a_projection_is_missing(
    hoprank: HopRank, corpus: Corpus, held: threading.Event
) -> None:
    retriever = walking(hoprank, corpus)
    local = walking(hoprank, corpus, engine="local").search(QUESTION, leg=Leg.GRAPH)

    first, second = retriever.search(QUESTION, leg=Leg.GRAPH), retriever.search(QUESTION, leg=Leg.GRAPH)
    assert projections(hoprank.client, corpus) == []
    held.set()
    hoprank.client.finish_background()

    assert (first, second) == (local, local)
    assert len(projections(hoprank.client, corpus)) == 1
    assert engine(retriever, leg=Leg.GRAPH) == "gds"


def test_a_corpus_that_goes_while_it_is_projected_leaves_nothing(
    hoprank: HopRank, corpus_name: str, jsonl: Jsonl, held: threading.Event
) -> None:
    hoprank.ingest(jsonl([{"id": "a", "title": "Ada", "text": "Ada met Ben."}]), corpus=corpus_name)
    corpus = get_corpus(hoprank.client, corpus_name)
    assert engine(walking(hoprank, corpus), "Who met Ada?", leg=Leg.GRAPH) == "local"

    drop_corpus(hoprank.client, corpus)
    held.set()
    hoprank.client.finish_background()

    assert projections(hoprank.client, corpus) == []


def test_a_generation_that_is_replaced_while_it_is_projected_leaves_nothing(
    hoprank: HopRank, corpus_name: str, jsonl: Jsonl, held: threading.Event
) -> None:
    hoprank.ingest(jsonl([{"id": "a", "title": "Ada", "text": "Ada met Ben."}]), corpus=corpus_name)
    corpus = get_corpus(hoprank.client, corpus_name)
    assert engine(walking(hoprank, corpus), "Who met Ada?", leg=Leg.GRAPH) == "local"

    hoprank.ingest(jsonl([{"id": "b", "title": "Ben", "text": "Ben met Ada."}]), corpus=corpus_name)
    held.set()
    hoprank.client.finish_background()

    assert projections(hoprank.client, corpus) == []


@pytest.mark.slow
@pytest.mark.parametrize("question", [QUESTION, "What did Ada Lovelace write notes on?", "Who wove at Lyon?"])
def test_the_walk_ends_early_without_changing_the_order_of_the_best(
    hoprank: HopRank, corpus: Corpus, question: str
) -> None:
    """The tolerance only cuts what is far from the seeds, where scores are below ten times the tolerance."""
    shipped = walking(hoprank, corpus, engine="gds")
    exact = walking(hoprank, corpus, engine="gds", gds_tolerance=1e-12)

    early, late = shipped.rank(question), exact.rank(question)

    above = [id_ for id_, score in late.walk.scores.items() if score > 10 * hoprank.settings.walk.gds_tolerance]
    assert len(above) >= 2
    assert early.walk.ids[: len(above)] == above
    assert early.ranking.ids[: len(above)] == late.ranking.ids[: len(above)]
    assert early.walk.scores != late.walk.scores
