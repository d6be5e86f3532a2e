"""Evaluations on the real graph: what they say, what they refuse, and that they leave nothing behind."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pipeline import HopRank
from pipeline.cli.views.evaluation import report_table
from pipeline.db.catalogue import get_corpus
from pipeline.errors import CorpusError, QuerySetError
from pipeline.evaluate.datasets import Dataset, Query, read_dataset
from pipeline.evaluate.measures import MEASURES
from pipeline.examples import example_corpus, example_queryset
from pipeline.flows.evaluate import measure
from pipeline.progress import Progress
from pipeline.retrieve.legs import Leg

Jsonl = Callable[..., Path]

ANIMALS = [
    {"id": "otter", "title": "Otter", "text": "The otter swims in the Severn all day, and eats trout."},
    {"id": "beaver", "title": "Beaver", "text": "The beaver builds dams on the Severn."},
    {"id": "severn", "title": "Severn", "text": "The Severn rises on Plynlimon in Wales."},
    {"id": "blank", "title": "Blank", "text": ""},
]
QUERIES = [
    {"id": "q1", "query": "Where does the river of the otter rise?"},
    {"id": "q2", "query": "Who builds dams?"},
    {"id": "q3", "query": "Who has no answer?"},
]
QRELS = "query-id\tcorpus-id\tscore\nq1\totter\t1\nq1\tsevern\t1\nq2\tbeaver\t1\nq3\totter\t0\n"


@pytest.fixture
def queryset(tmp_path: Path) -> Path:
    folder = tmp_path / "animals"
    folder.mkdir()
    write_queryset(folder, ANIMALS)
    return folder


def write_queryset(folder: Path, documents: Sequence[Mapping[str, str]]) -> None:
    for name, rows in (("corpus", documents), ("queries", QUERIES)):
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (folder / "qrels.tsv").write_text(QRELS)


class Interrupting:
    """Presses Ctrl-C when a stage has gone a step."""

    def __init__(self, stage: str) -> None:
        self._stage = stage

    def begin(self, stage: str, total: int | None) -> None:
        pass

    def advance(self, stage: str, steps: int) -> None:
        if stage == self._stage and steps:
            raise KeyboardInterrupt

    def end(self, stage: str) -> None:
        pass


@pytest.mark.slow
def test_an_evaluation_says_what_it_promises(hoprank: HopRank, queryset: Path, left_as_it_was: None) -> None:
    report = hoprank.evaluate(queryset)
    found = json.loads(json.dumps(report.to_json(per_query=True)))

    legs = {"vector", "fulltext", "bm25", "hybrid", "hops", "graph", "scorer", "hoprank"}
    assert found["metrics"].keys() == found["latency_ms"].keys() == legs
    assert list(found["metrics"])[-1] == "hoprank"
    for measures in found["metrics"].values():
        assert measures.keys() == set(MEASURES)
        assert all(0 <= value <= 1 for value in measures.values())
    assert all(0 < latency["p50"] <= latency["p95"] for latency in found["latency_ms"].values())
    assert (found["queries"], found["queries_left_out"], found["documents"]) == (2, 1, 4)
    assert found["ingest_seconds"] > 0
    assert found["metrics"]["hoprank"]["recall@5"] == 1
    assert len(found["per_query"]) == 2 * len(legs)
    assert found["settings"]["model"] == hoprank.embedder.fingerprint


@pytest.mark.slow
def test_a_query_that_is_a_document_isnt_its_own_answer_and_missing_documents_are_said(
    hoprank: HopRank, queryset: Path, left_as_it_was: None
) -> None:
    queries = [{"id": one["id"], "text": one["text"]} for one in ANIMALS[:2]] + [{"id": "severn", "text": "dams"}]
    (queryset / "queries.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in queries))
    (queryset / "qrels.tsv").write_text("otter 0 severn 1\nbeaver 0 otter 1\nbeaver 0 gone 1\nsevern 0 beaver 1\n")

    report: Any = hoprank.evaluate(queryset, legs=[Leg.VECTOR]).to_json(per_query=True)

    rankings = {row["query"]: row["ranking"] for row in report["per_query"]}
    assert [id_ in ranking for id_, ranking in rankings.items()] == [False, False, True]
    assert report["metrics"]["vector"]["recall@20"] == pytest.approx((1 + 0.5 + 1) / 3)
    assert report["remarks"] == (
        "Not in the corpus, so that they count as not found: 1 of 4 relevant documents ('gone').",
        "2 queries are documents of the corpus, each of which is left out of its own query's ranking.",
    )


@pytest.mark.slow
def test_an_evaluation_says_which_engine_walked_and_what_its_figures_depend_on(
    hoprank: HopRank, queryset: Path, left_as_it_was: None
) -> None:
    report = hoprank.evaluate(queryset, legs=[Leg.VECTOR, Leg.GRAPH, Leg.WHOLE])
    found = json.loads(json.dumps(report.to_json()))

    assert found["engines"] == {"graph": {"gds": 2}, "hoprank": {"local": 2}}
    assert "graph by gds, hoprank by local" in str(report_table(report).caption)
    settings = hoprank.settings
    used = {**dict.fromkeys(("retrieve", "walk"), settings), **dict.fromkeys(("names", "scorer"), settings.weights)}
    for section, holder in used.items():
        assert found["settings"][section] == getattr(holder, section).model_dump()
    assert found["settings"]["link"] == {**settings.link.of_edges, "similar_threshold": 0.6}
    assert found["settings"]["extractor"] == "builtin"
    assert (found["settings"]["neo4j"][:2], found["settings"]["gds"]) == ("20", True)


@pytest.mark.slow
def test_two_evaluations_of_one_folder_are_equal(hoprank: HopRank, tmp_path: Path, left_as_it_was: None) -> None:
    # Twins tie in every leg; their ids hold the id of a corpus, which is another each time.
    twins = [
        {"id": f"twin-{number}", "title": "Otter", "text": "The otter swims in the Severn."} for number in range(9)
    ]
    write_queryset(tmp_path, [*ANIMALS, *twins])

    reports = [hoprank.evaluate(tmp_path).to_json(per_query=True) for _ in range(2)]
    first, second = map(json.loads, map(json.dumps, reports))

    assert [first["metrics"], first["queries"]] == [second["metrics"], second["queries"]]
    assert [row["ranking"] for row in first["per_query"]] == [row["ranking"] for row in second["per_query"]]


def test_a_named_corpus_is_kept_and_used_again(hoprank: HopRank, queryset: Path, corpus_name: str) -> None:
    first = hoprank.evaluate(queryset, corpus=corpus_name, legs=[Leg.FULLTEXT]).to_json()
    corpus, written = get_corpus(hoprank.client, corpus_name), hoprank.client.written

    second = hoprank.evaluate(queryset, corpus=corpus_name, legs=[Leg.FULLTEXT]).to_json()

    assert get_corpus(hoprank.client, corpus_name) == corpus
    assert hoprank.client.written == written
    assert second["metrics"] == first["metrics"]


def test_a_queryset_that_names_unstored_documents_alone_is_refused_before_anything_is_made(
    hoprank: HopRank, queryset: Path, left_as_it_was: None
) -> None:
    (queryset / "qrels.tsv").write_text(f"{QRELS.splitlines()[0]}\nq2\tgriffin\t1\n")
    written = hoprank.client.written

    with pytest.raises(QuerySetError, match="'griffin'"):
        hoprank.evaluate(queryset)

    assert hoprank.client.written == written


def test_questions_alone_are_asked_of_a_corpus_that_is_there(
    hoprank: HopRank, queryset: Path, corpus_name: str, jsonl: Jsonl
) -> None:
    (queryset / "corpus.jsonl").unlink()
    with pytest.raises(CorpusError, match=corpus_name):
        hoprank.evaluate(queryset, corpus=corpus_name)
    hoprank.ingest(jsonl(ANIMALS), corpus=corpus_name)
    before = get_corpus(hoprank.client, corpus_name)

    report = hoprank.evaluate(queryset, corpus=corpus_name, legs=[Leg.FULLTEXT])

    assert report.legs[0].measures["recall@2"] > 0
    assert report.run.documents == len(ANIMALS)
    assert get_corpus(hoprank.client, corpus_name) == before


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["embed", "link", "search: vector", "search: hoprank"])
def test_an_interrupted_evaluation_drops_its_corpus(
    hoprank: HopRank, queryset: Path, left_as_it_was: None, stage: str
) -> None:
    with pytest.raises(KeyboardInterrupt):
        hoprank.evaluate(queryset, progress=Progress(Interrupting(stage)))


def test_measuring_names_missing_documents_and_refuses_a_corpus_without_any(
    hoprank: HopRank, queryset: Path, corpus_name: str, jsonl: Jsonl
) -> None:
    hoprank.ingest(jsonl(ANIMALS[1:]), corpus=corpus_name)
    dataset = read_dataset(queryset)

    report = measure(hoprank, dataset, corpus_name, 3, 0.0, legs=[Leg.FULLTEXT])
    assert "1 of 3 relevant documents ('otter')" in report.remarks[-1]
    assert report.legs[0].measures["recall@20"] < 1

    others = replace(dataset, queries=tuple(replace(one, relevant={"griffin": 1.0}) for one in dataset.queries))
    with pytest.raises(QuerySetError, match="'griffin'"):
        measure(hoprank, others, corpus_name, 3, 0.0)


@pytest.mark.slow
def test_the_figures_of_the_examples_are_as_they_were(hoprank: HopRank, corpus_name: str) -> None:
    hoprank.ingest(example_corpus(), corpus=corpus_name)

    report = hoprank.evaluate(example_queryset(), corpus=corpus_name, legs=[Leg.VECTOR, Leg.FULLTEXT, Leg.WHOLE])

    metrics: Any = report.to_json()["metrics"]
    assert {leg: [of["recall@5"], of["mrr"]] for leg, of in metrics.items()} == {
        "vector": pytest.approx([0.736, 0.909], abs=0.02),
        "fulltext": pytest.approx([0.76, 0.984], abs=0.02),
        "hoprank": pytest.approx([0.857, 0.977], abs=0.02),
    }


def test_an_evaluation_that_finds_nothing_at_all_is_an_error(hoprank: HopRank, corpus_name: str) -> None:
    hoprank.add([{"id": "otter", "text": "The otter swims."}], corpus_name)
    dataset = Dataset("words", (Query("q1", "zyzzyva", {"otter": 1.0}),))

    with pytest.raises(QuerySetError, match="No ranking found anything"):
        measure(hoprank, dataset, corpus_name, 1, 0.0, legs=[Leg.FULLTEXT])
