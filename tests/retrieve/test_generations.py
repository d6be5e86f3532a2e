"""A retriever reads the generation that its first query finds, not the one that it was made for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from pipeline import HopRank
from pipeline.db.catalogue import get_corpus
from pipeline.db.client import Client
from pipeline.errors import UnknownCorpus
from pipeline.flows.maintain import drop, rename
from pipeline.flows.search import Retriever
from pipeline.ingest.update.write_session import WriteSession
from pipeline.retrieve.filters import matches
from pipeline.retrieve.filters.matches import Matches
from pipeline.retrieve.legs import Leg
from pipeline.retrieve.passage_relations import read_relations
from pipeline.retrieve.question import check_question

QUESTION = "Who met Cleo?"


@pytest.fixture(scope="module")
def earlier(hoprank: HopRank, shared_corpus_name: str, tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    """A retriever whose corpus has been updated since: of its six documents, the texts of two were replaced."""
    folder = tmp_path_factory.mktemp("generations")
    for number in range(4):
        (folder / f"bread-{number}.md").write_text("Bread is baked in a hot oven.\n" * (number + 1))
    for name, text in {"a": "Ada met Ben.", "b": "Ben met Ada."}.items():
        (folder / f"{name}.md").write_text(f"---\nyear: 1833\n---\n# {name}\n\n{text}\n")
    hoprank.ingest(folder, corpus=shared_corpus_name)
    retriever = hoprank.retriever(shared_corpus_name)
    for name, text in {"a": "Ada Lovelace met Cleo.", "b": "Cleo met Ada Lovelace."}.items():
        (folder / f"{name}.md").write_text(f"---\nyear: 1901\n---\n# {name}\n\n{text}\n")
    hoprank.ingest(folder, corpus=shared_corpus_name)
    return retriever


@pytest.mark.parametrize("filters", [None, {"year": 1901}, {"ordinal": 0}], ids=["all", "document's", "chunk's"])
@pytest.mark.parametrize("leg", list(Leg))
def test_each_leg_finds_what_was_written_since(earlier: Retriever, leg: Leg, filters: dict[str, object] | None) -> None:
    found = earlier.search(QUESTION, leg=leg, filters=filters)

    texts = {item.metadata["document"]: item.content for item in found.items}
    assert texts.keys() >= {"a.md", "b.md"}
    assert all("Cleo" in texts[document] for document in ("a.md", "b.md"))


def test_filters_match_the_values_that_were_written_since(earlier: Retriever) -> None:
    assert earlier.match({"year": 1901}).count() == 2
    assert not earlier.match({"year": 1833}).count()


@pytest.mark.parametrize("leg", [Leg.VECTOR, Leg.FULLTEXT])
def test_an_index_is_compared_with_matches_written_since(
    earlier: Retriever, leg: Leg, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipeline.retrieve.filters.search.FETCHED_AT_MOST", 0)

    assert len(earlier.search(QUESTION, leg=leg, filters={"year": 1901}).items) == 2
    assert matches.EXACT_UNDER > 2


@pytest.mark.parametrize("filters", [None, {"year": 1901}], ids=["all", "filtered"])
def test_hits_are_explained_by_relations_written_since(earlier: Retriever, filters: dict[str, object] | None) -> None:
    found = earlier.search("Who is Ada Lovelace?", leg=Leg.GRAPH, filters=filters, explain=True)

    paths = {item.metadata["document"]: item.metadata["evidence"] for item in found.items}
    assert paths.keys() >= {"a.md", "b.md"}
    assert any(len(path) > 1 for path in paths.values())


def test_passages_are_put_in_order_by_relations_written_since(earlier: Retriever) -> None:
    context = earlier.context("Who is Ada Lovelace?", len, tokens=1000, filters={"year": 1901})

    assert len(context.passages) == 2
    assert context.passages[1].tie


@pytest.mark.slow
def test_scores_are_those_of_the_old_state_until_the_new_one_is_whole(
    hoprank: HopRank, new_corpus: Callable[[], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(numbers: Iterable[int]) -> None:
        for number in numbers:
            links = "See [a](a.md)." if number % 2 else ""
            (tmp_path / f"{number}.md").write_text(
                f"# Part {number}\n\nAda Lovelace met Cleo Number{number}. {links}\n"
            )

    def scores(corpus: str) -> list[Any]:
        retriever = hoprank.retriever(corpus)
        trace = retriever.rank(check_question("Who met Ada Lovelace?"), Leg.WHOLE)
        walk = trace.walk.scores
        return [walk, read_relations(retriever.corpus.at(trace.generation), list(walk)).names]

    def die(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    (tmp_path / "a.md").write_text("# Ada\n\nAda Lovelace wrote notes.\n" + "A long text on the sea.\n" * 200)
    write(range(4))
    with new_corpus() as name:
        hoprank.ingest(tmp_path, corpus=name)
        before = scores(name)
        write(range(4, 9))
        (tmp_path / "a.md").write_text("# Ada\n\nAda Lovelace wrote notes.\n" + "A long text on the sea.\n" * 400)
        monkeypatch.setattr(WriteSession, "publish", die)
        with pytest.raises(KeyboardInterrupt):
            hoprank.ingest(tmp_path, corpus=name)
        monkeypatch.undo()
        assert get_corpus(hoprank.client, name).staging is not None

        assert scores(name) == before
        hoprank.ingest(tmp_path, corpus=name)
        assert scores(name) != before


@pytest.mark.slow
@pytest.mark.parametrize("leg", [Leg.VECTOR, Leg.FULLTEXT, Leg.HYBRID])
def test_staged_texts_that_match_better_take_no_places(
    hoprank: HopRank, corpus_name: str, leg: Leg, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    vector = hoprank.embedder.embed_query(QUESTION)
    others = [{"text": QUESTION, "embedding": list(vector)} for _ in range(4)]
    known = [{"id": "known", "text": "On Monday Cleo was met by somebody whom nobody knew. " * 3}]
    hoprank.add(known, corpus_name)
    monkeypatch.setattr(WriteSession, "publish", die)
    with pytest.raises(KeyboardInterrupt):
        hoprank.add([{"id": f"staged-{at}", "chunks": others} for at in range(300)], corpus_name)

    assert [item.metadata["document"] for item in hoprank.search(QUESTION, corpus=corpus_name, leg=leg).items] == [
        "known"
    ]


class Replaced:
    """Replaces the texts of a corpus, and collects the old ones, when a query of a name is about to be asked."""

    def __init__(self, hoprank: HopRank, corpus: str, query: str) -> None:
        self._asking = Client.read
        self._hoprank, self._corpus, self._query = hoprank, corpus, query
        self.texts = 0

    def read(self, client: Client, name: str, /, *args: Any, **params: Any) -> list[Any]:
        if name == self._query and self._query:
            self._query = ""
            self.replace()
        return self._asking(client, name, *args, **params)

    def replace(self) -> None:
        self.texts += 1
        text = f"Ada Number{self.texts} met Ben and Cleo."
        documents = [{"id": str(number), "text": text, "metadata": {"year": 1833}} for number in range(3)]
        # BM25 gives no weight to words of most documents.
        others = [{"id": f"bread-{number}", "text": "Bread is baked."} for number in range(4)]
        self._hoprank.replace([*documents, *others], self._corpus)


@pytest.fixture
def replaced(hoprank: HopRank, corpus_name: str, query: str, monkeypatch: pytest.MonkeyPatch) -> Replaced:
    """A corpus whose texts are replaced when the query that the test names is about to be asked."""
    made = Replaced(hoprank, corpus_name, query)
    made.replace()
    monkeypatch.setattr(Client, "read", lambda *args, **params: made.read(*args, **params))
    return made


@pytest.mark.parametrize(
    ("leg", "query", "filters"),
    [
        (Leg.WHOLE, "hydrate", None),
        (Leg.WHOLE, "explore", {"year": 1833}),
        *(
            pytest.param(leg, query, filters, marks=pytest.mark.slow)
            for leg, query, filters in [
                (Leg.WHOLE, "explore", None),
                (Leg.WHOLE, "hydrate", {"year": 1833}),
                (Leg.BM25, "corpus_size", None),
                *((leg, "hydrate", None) for leg in (Leg.VECTOR, Leg.FULLTEXT, Leg.BM25, Leg.HOPS, Leg.GRAPH)),
            ]
        ),
    ],
)
def test_a_question_whose_corpus_is_replaced_meanwhile_is_answered_from_the_new_one(
    hoprank: HopRank, corpus_name: str, leg: Leg, replaced: Replaced, filters: dict[str, object] | None
) -> None:
    found = hoprank.search(QUESTION, corpus=corpus_name, leg=leg, filters=filters, top_k=3).items

    assert replaced.texts == 2
    assert len(found) == 3 or (found and leg is not Leg.WHOLE)
    assert all("Number2" in item.content for item in found)


@pytest.mark.slow
@pytest.mark.parametrize("query", [""], ids=["no query"])
@pytest.mark.parametrize("leg", [Leg.BM25, Leg.VECTOR, Leg.WHOLE])
def test_a_filter_and_a_ranking_are_of_one_generation(
    hoprank: HopRank, corpus_name: str, leg: Leg, replaced: Replaced, monkeypatch: pytest.MonkeyPatch
) -> None:
    matching = Retriever.match

    def match(self: Retriever, filters: Mapping[str, Any]) -> Matches:
        found = matching(self, filters)
        if replaced.texts == 1:
            replaced.replace()
        return found

    monkeypatch.setattr(Retriever, "match", match)
    found = hoprank.search(QUESTION, corpus=corpus_name, leg=leg, filters={"year": 1833}, top_k=3).items

    assert replaced.texts == 2
    assert len(found) == 3
    assert all("Number2" in item.content for item in found)


@pytest.mark.parametrize("query", [pytest.param("hydrate", marks=pytest.mark.slow), "shared_names"])
def test_a_context_is_of_one_generation(hoprank: HopRank, corpus_name: str, replaced: Replaced) -> None:
    context = hoprank.context(QUESTION, corpus=corpus_name)

    assert replaced.texts == 2
    assert not any("Number1" in passage.text for passage in context.passages)
    assert any(passage.tie for passage in context.passages)


@pytest.mark.slow
@pytest.mark.parametrize("drops", [False, True])
def test_searches_beside_writers_get_whole_generations(hoprank: HopRank, corpus_name: str, *, drops: bool) -> None:
    name, aside = corpus_name, f"{corpus_name}-aside"
    replaced = Replaced(hoprank, name, "")
    replaced.replace()
    over = threading.Event()
    answers: list[list[str]] = []

    def write() -> None:
        for turn in count():
            if turn >= 3 and (len(answers) > 20 or any(one.done() for one in asked)):
                return
            replaced.replace()
            if drops and turn % 3 == 1:
                drop(hoprank.client, name)
            elif turn % 3 == 2:
                rename(hoprank.client, name, aside)
                rename(hoprank.client, aside, name)

    def ask(thread: int) -> None:
        while not over.is_set():
            # Between the renames, and between a drop and the next state, there is no corpus of the name.
            with suppress(UnknownCorpus):
                filters = {"year": 1833} if thread % 2 else None
                found = hoprank.search(QUESTION, top_k=3, corpus=name, filters=filters).items
                answers.append([item.content for item in found])

    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(ask, thread) for thread in range(4)]
        try:
            write()
        finally:
            over.set()
        for each in asked:
            each.result()

    assert len(answers) > 20
    # A corpus that is made anew is empty until its first generation is published.
    assert {len(texts) for texts in answers} - ({0} if drops else set()) == {3}
    assert all(len(set(texts)) <= 1 for texts in answers)
