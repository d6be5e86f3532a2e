"""The harness of evaluations: rankings asked, timed and measured; legs of the real graph among them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from pipeline import HopRank
from pipeline.db.catalogue import find_graph, list_corpora
from pipeline.errors import QuerySetError
from pipeline.evaluate.datasets import Dataset, Query
from pipeline.evaluate.harness import Answered, ask, latencies, means, read_judged
from pipeline.flows.evaluate import run_legs, temporary
from pipeline.progress import Progress
from pipeline.retrieve.legs import Leg

LONG = "".join(f"# Part {part}\n\n{'The otter swims in the river all day. ' * 40}\n\n" for part in "ABC")
DOCUMENTS = [
    {"id": "otter", "title": "Otter", "text": LONG},
    {"id": "beaver", "title": "Beaver", "text": "The beaver builds dams."},
    {"id": "blank", "title": "Blank", "text": ""},
]
QUERYSET = Dataset(
    "animals", (Query("q1", "Which animal swims?", {"otter": 1.0}), Query("q2", "dams", {"beaver": 1.0}))
)


class Noting:
    """Notes the stages that it hears of."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, object]] = []

    def begin(self, stage: str, total: int | None) -> None:
        self.heard.append((stage, total))

    def advance(self, stage: str, steps: int) -> None:
        self.heard.append((stage, f"+{steps}"))

    def end(self, stage: str) -> None:
        self.heard.append((stage, "end"))


@pytest.fixture
def corpus(hoprank: HopRank, corpus_name: str, jsonl: Callable[..., Path]) -> str:
    hoprank.ingest(jsonl(DOCUMENTS), corpus=corpus_name)
    return corpus_name


@pytest.mark.slow
def test_each_leg_ranks_documents_by_their_best_chunk(hoprank: HopRank, corpus: str) -> None:
    results = run_legs(hoprank.retriever(corpus), QUERYSET, list(Leg), Progress())

    assert [(result.leg, result.query_id) for result in results] == [(leg, id_) for leg in Leg for id_ in ("q1", "q2")]
    for result in results:
        assert len(set(result.ranking)) == len(result.ranking)
        assert set(result.ranking) <= {"otter", "beaver"}
        assert result.latency_ms is not None
        assert result.latency_ms > 0
    best = {(result.leg, result.query_id): result.ranking[:1] for result in results}
    assert best["vector", "q1"] == best["hoprank", "q1"] == ("otter",)
    assert best["fulltext", "q2"] == ("beaver",)


@pytest.mark.slow
def test_a_query_that_a_leg_has_no_answer_to_has_an_empty_ranking(hoprank: HopRank, corpus: str) -> None:
    queryset = Dataset("words", (Query("q1", "zyzzyva", {"otter": 1.0}),))

    (result,) = run_legs(hoprank.retriever(corpus), queryset, [Leg.FULLTEXT], Progress())

    assert result.ranking == ()


@pytest.mark.slow
def test_progress_is_told_by_leg_and_query(hoprank: HopRank, corpus: str) -> None:
    listener = Noting()

    run_legs(hoprank.retriever(corpus), QUERYSET, [Leg.VECTOR, Leg.BM25], Progress(listener))

    assert listener.heard == [(f"search: {leg}", what) for leg in ("vector", "bm25") for what in (2, "+1", "+1", "end")]


def test_each_ranking_is_asked_each_query_and_once_before_it_is_timed() -> None:
    asked: list[tuple[str, str]] = []

    def rank(name: str, query: str) -> str:
        asked.append((name, query))
        return name + query

    answered = list(ask(["1", "2"], {name: partial(rank, name) for name in "ab"}, Progress()))

    assert [(one.ranking, one.query, one.answer) for one in answered] == [
        (name, query, name + query) for name in "ab" for query in "12"
    ]
    assert asked == [("a", "1"), ("a", "1"), ("a", "2"), ("b", "1"), ("b", "1"), ("b", "2")]


def test_measures_and_latencies_are_averaged_by_ranking() -> None:
    answered = [Answered("a", "q", 1.0, 10.0), Answered("a", "r", 0.0, 20.0), Answered("b", "q", 0.25, 5.0)]

    assert means(answered, lambda query, answer: {"right": answer, "is q": query == "q"}) == {
        "a": {"right": 0.5, "is q": 0.5},
        "b": {"right": 0.25, "is q": 1.0},
    }
    assert latencies(answered) == {"a": {"p50": 15.0, "p95": 19.5}, "b": {"p50": 5.0, "p95": 5.0}}


def test_figures_of_nothing_are_an_error() -> None:
    empty: list[Answered[str, list[str]]] = [Answered("a", "q", [], 1.0), Answered("b", "q", [], 1.0)]

    with pytest.raises(QuerySetError, match="No ranking found anything"):
        means(empty, lambda _, answer: {"found": len(answer)})
    with pytest.raises(QuerySetError, match="No ranking found anything"):
        means([], lambda *_: {})
    with pytest.raises(QuerySetError, match="no question to ask"):
        list(ask([], {"a": str}, Progress()))


def test_a_folder_without_documents_is_refused(tmp_path: Path) -> None:
    (tmp_path / "queries.jsonl").write_text('{"id": "q", "query": "?"}', encoding="utf-8")
    (tmp_path / "qrels.tsv").write_text("query\tdocument\trelevance\nq\ta\t1\n", encoding="utf-8")

    with pytest.raises(QuerySetError, match=r"has no corpus\.jsonl\.\nPut the turns into corpus\.jsonl"):
        read_judged(tmp_path, "turns")


@pytest.mark.slow
@pytest.mark.parametrize("fails", [False, True])
def test_what_an_evaluation_makes_is_dropped(hoprank: HopRank, jsonl: Callable[..., Path], fails: bool) -> None:
    before = {corpus.name for corpus in list_corpora(hoprank.client)}
    path = jsonl(DOCUMENTS)

    with suppress(ZeroDivisionError), temporary(hoprank.client) as name:
        for part in (name, f"{name}/part"):
            hoprank.ingest(path, corpus=part)
        hoprank.graph(f"{name}.merges")
        assert {corpus.name for corpus in list_corpora(hoprank.client)} == before | {name, f"{name}/part"}
        if fails:
            raise ZeroDivisionError

    assert {corpus.name for corpus in list_corpora(hoprank.client)} == before
    assert not find_graph(hoprank.client, f"{name}.merges")


@pytest.mark.slow
def test_what_is_kept_is_not_dropped(hoprank: HopRank, corpus: str) -> None:
    with temporary(hoprank.client, corpus) as name:
        assert name == corpus

    assert corpus in {listed.name for listed in list_corpora(hoprank.client)}


@pytest.mark.slow
def test_a_query_that_is_a_document_ends_no_evaluation(hoprank: HopRank, corpus: str) -> None:
    queryset = Dataset("long", (Query("q1", "otter " * 20_000, {"otter": 1.0}),))

    for dataset in (queryset, queryset.as_read()):
        (result,) = run_legs(hoprank.retriever(corpus), dataset, [Leg.FULLTEXT], Progress())
        assert "otter" in result.ranking
