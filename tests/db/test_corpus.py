"""The handle of a corpus: what it fills in, and what it leaves to the caller."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from pipeline import HopRank
from pipeline.db.catalogue import Corpus
from pipeline.db.client import Client
from pipeline.db.corpus import CorpusHandle, open_corpus
from pipeline.db.queries import load_queries
from pipeline.db.slots import TextSlot
from pipeline.errors import CorpusError, Superseded
from pipeline.flows.maintain import drop

FILLED_IN = {"corpus", "label", "texts", "generation"}


@pytest.fixture
def made(client: Client, create: Callable[..., Corpus], corpus_name: str) -> CorpusHandle:
    """The handle of an empty corpus."""
    return CorpusHandle(client, create(corpus_name))


@pytest.fixture(scope="module")
def grown(hoprank: HopRank, shared_corpus_name: str, tmp_path_factory: pytest.TempPathFactory) -> CorpusHandle:
    """The handle of a corpus in its second generation, whose first had one document fewer."""
    folder = tmp_path_factory.mktemp("grown")
    (folder / "ada.md").write_text("Ada met Ben.")
    hoprank.ingest(folder, corpus=shared_corpus_name)
    (folder / "ben.md").write_text("Ben met Cleo.")
    hoprank.ingest(folder, corpus=shared_corpus_name)
    return open_corpus(hoprank.client, shared_corpus_name)


def keys(corpus: CorpusHandle) -> set[str]:
    return {row["key"] for row in corpus.stream("stored_documents")}


def test_it_fills_in_what_a_query_declares_of_the_corpus_and_nothing_else(made: CorpusHandle) -> None:
    own = {"corpus": made.id, "label": made.label, "texts": None, "generation": 0}

    filled = {name: made.params(name, {}) for name in load_queries()}

    assert {query.name: query.params & FILLED_IN for query in load_queries().values()} == {
        name: params.keys() for name, params in filled.items()
    }
    assert all(params.items() <= own.items() for params in filled.values())


def test_words_are_asked_of_its_slot(made: CorpusHandle) -> None:
    handle = replace(made, record=replace(made.record, slot=TextSlot("HopRankTexts_1", 7)))

    params = handle.params("filter_facts", {"text": "text:(a)", "terms": ["filterable:709"], "limit": 1})

    assert (params["texts"], params["text"]) == ("HopRankTexts_1", "hoprank_7_text:(a)")
    assert params["terms"] == ["hoprank_7_filterable:709"]


def test_what_is_given_takes_precedence(made: CorpusHandle) -> None:
    given = {"generation": 7, "ids": ["a"]}

    assert made.params("hydrate", given) == {"corpus": made.id, "generation": 7, "ids": ["a"]}
    assert given == {"generation": 7, "ids": ["a"]}


def test_it_carries_what_names_the_corpus(made: CorpusHandle) -> None:
    record = made.record

    assert (made.id, made.name, made.generation) == (record.id, record.name, record.generation)
    assert (made.label, made.vector_index) == (record.label, record.vector_index)


@pytest.mark.slow
def test_it_is_opened_at_the_visible_generation(grown: CorpusHandle) -> None:
    assert grown.generation == 2
    assert keys(grown) == {"ada.md", "ben.md"}


def test_a_corpus_that_there_isnt_can_not_be_opened(client: Client, corpus_name: str) -> None:
    with pytest.raises(CorpusError, match=corpus_name):
        open_corpus(client, corpus_name)


def test_a_stream_of_a_superseded_generation_is_an_error_after_its_last_row(grown: CorpusHandle) -> None:
    first = grown.at(1)
    rows = first.stream("stored_documents")

    assert next(rows)["key"] == "ada.md"
    with pytest.raises(Superseded, match="was replaced while it was read"):
        list(rows)
    with pytest.raises(Superseded):
        keys(grown.at(0))
    assert (first.generation, grown.generation) == (1, 2)
    assert first.at(2) == grown


def test_a_stream_of_a_later_generation_is_whole(grown: CorpusHandle) -> None:
    assert keys(grown.at(3)) == {"ada.md", "ben.md"}


def test_what_is_read_of_a_superseded_generation_is_an_error(grown: CorpusHandle) -> None:
    given = {"prefix": "", "after": "", "limit": 9}

    assert len(grown.read("documents_after", **given)) == 2
    with pytest.raises(Superseded, match="'documents_after' reads was replaced or dropped"):
        grown.at(1).read("documents_after", **given)


def test_what_is_read_of_a_dropped_corpus_is_an_error(hoprank: HopRank, corpus_name: str) -> None:
    hoprank.add([{"id": "a", "text": "Ada met Ben."}, {"id": "b", "text": "Ben met Cleo."}], corpus_name)
    corpus = open_corpus(hoprank.client, corpus_name)
    graph = hoprank.open_graph(corpus_name)
    begun = corpus.stream("stored_documents")
    next(begun)
    drop(hoprank.client, corpus_name)
    reads: list[Callable[[], object]] = [
        lambda: list(begun),
        lambda: keys(corpus),
        lambda: list(corpus.stream("visible_vectors")),
        lambda: corpus.read("documents_after", prefix="", after="", limit=9),
        lambda: corpus.read("top_entities", limit=9),
        lambda: corpus.read("vault_passages", keys=["a"]),
        corpus.newest,
        graph.size,
        lambda: graph.get_node("a"),
        lambda: list(graph.nodes()),
        lambda: list(graph.edges()),
        lambda: graph.importance(3),
        graph.communities,
        lambda: graph.search("Who met Ben?"),
    ]

    for read in reads:
        with pytest.raises(Superseded):
            read()


def test_it_reads_with_the_names_of_its_indexes(grown: CorpusHandle) -> None:
    (row,) = grown.read("vector_candidates", vector=[1.0] * grown.record.dimension, limit=5)
    (words,) = grown.read("fulltext_candidates", text="cleo", limit=5)

    assert (row["generation"], len(row["near"])) == (2, 2)
    assert len(words["matching"]) == 1


@pytest.mark.slow
def test_it_writes(made: CorpusHandle) -> None:
    made.write("take_lease", writer="me", since="2026-01-01", stale=[])
    made.write("begin_staging", writer="me")

    assert open_corpus(made.client, made.name).record.staging == 1
    made.write("end_staging", writer="me")
    made.write("release_lease", writer="me")
    assert open_corpus(made.client, made.name) == made
