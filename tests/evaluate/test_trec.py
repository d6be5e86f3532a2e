"""TREC runs and judgements: what is written is read back, and measured as ir_measures does."""

from __future__ import annotations

import json
from pathlib import Path

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from pipeline.cli.app import app
from pipeline.errors import ConfigurationError, QuerySetError
from pipeline.evaluate.compare import compare, read_evaluated
from pipeline.evaluate.datasets import Dataset, Query
from pipeline.evaluate.measures import MEASURES, QueryResult, measure_query
from pipeline.evaluate.report import Run, build_report, write_document
from pipeline.evaluate.trec import check_runs_folder, read_judgements, read_runs, trec_id, write_runs

RUN = Run(corpus="songs", documents=3, ingest_seconds=1.0, version="0.1.0")
IDS = st.text(st.sampled_from("ab %20\t\u00a0é"), min_size=1, max_size=6)
OTHERS = ("AP", "P@5", "R@100", "Judged@10", "nDCG")


@given(st.lists(IDS, unique=True))
def test_ids_have_no_blanks_and_no_two_are_alike(ids: list[str]) -> None:
    written = [trec_id(id_) for id_ in ids]

    assert all(len(id_.split()) == 1 for id_ in written)
    assert len({*written}) == len(ids)
    assert trec_id("50%off/a-b.md#3") == "50%off/a-b.md#3"


@given(
    st.dictionaries(
        IDS, st.tuples(st.dictionaries(IDS, st.sampled_from([0.0, 0.5, 1.0, 3.0]), max_size=5), st.lists(IDS))
    )
)
def test_what_is_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, cases: dict[str, tuple[dict[str, float], list[str]]]
) -> None:
    queries = [
        Query(id_, "?", relevant, irrelevant=frozenset(judged.keys() - relevant.keys()))
        for id_, (judged, _) in cases.items()
        if (relevant := {key: grade for key, grade in judged.items() if grade})
    ]
    if not queries:
        return
    results = [
        QueryResult(query.id, leg, tuple(cases[query.id][1]), 1.0) for query in queries for leg in ("one", "two")
    ]
    report = build_report(Dataset("songs", tuple(queries)), results, RUN)
    folder = tmp_path_factory.mktemp("runs")

    write_runs(report, folder)

    judged = {query.id: query for query in read_judgements(folder)}
    assert judged.keys() == {trec_id(query.id) for query in queries}
    if not any(result.ranking for result in results):
        return
    runs = read_runs(folder / "two.trec")["two"]
    for row in report.legs[1].detail:
        id_ = trec_id(row.result.query_id)
        again = measure_query(judged[id_], runs.get(id_, ()))
        assert again == pytest.approx(row.measures)
        assert len(judged[id_].irrelevant) == len(
            queries[[q.id for q in queries].index(row.result.query_id)].irrelevant
        )


SCORES = st.sampled_from([1.0, 1.0 + 1e-9, 0.5, -3.0, 1e30, 0.1, 0.1 + 1e-7])
FOUND = st.dictionaries(st.integers(0, 30).map(str), SCORES, min_size=1, max_size=30)
GRADES = st.dictionaries(st.integers(0, 30).map(str), st.integers(0, 3), min_size=1, max_size=20)
"""None below 0, for which ir_measures' trec_eval may never end."""


@given(st.lists(st.tuples(FOUND, GRADES), min_size=1, max_size=5))
def test_runs_of_others_are_measured_as_ir_measures_does(
    tmp_path_factory: pytest.TempPathFactory, cases: list[tuple[dict[str, float], dict[str, int]]]
) -> None:
    """Also where scores tie, which trec_eval breaks by the ids, and compares in single precision."""
    folder = tmp_path_factory.mktemp("runs")
    run, qrels = folder / "other.run", folder / "qrels.trec"
    run.write_text("".join(f"{q} Q0 {d} 0 {s!r} other\n" for q, (of, _) in enumerate(cases) for d, s in of.items()))
    qrels.write_text("".join(f"{q} 0 {d} {grade}\n" for q, (_, of) in enumerate(cases) for d, grade in of.items()))
    if not any(grade > 0 for _, of in cases for grade in of.values()):
        with pytest.raises(QuerySetError, match="no relevant document"):
            read_evaluated(run)
        return
    names = ("AP", "P@5", "R@5", "R@100", "RR", "nDCG@10", "nDCG", "Rprec", "Success@3")

    ours = read_evaluated(run, measures=names).legs["other"]

    theirs = ir_measures.iter_calc(
        map(ir_measures.parse_measure, names),
        ir_measures.read_trec_qrels(str(qrels)),  # type: ignore[no-untyped-call]
        ir_measures.read_trec_run(str(run)),  # type: ignore[no-untyped-call]
    )
    compared = 0
    for metric in theirs:
        if metric.query_id in ours:  # ir_measures has 0 for a query without a relevant document
            assert ours[metric.query_id][str(metric.measure)] == pytest.approx(metric.value, abs=1e-9)
            compared += 1
    assert compared == len(ours) * len(names)


def run_of(path: Path, ranks: dict[str, str], name: str = "bm25") -> Path:
    path.write_text(
        "".join(f"{q} Q0 {d} {n} {-n} {name}\n" for q, ds in ranks.items() for n, d in enumerate(ds.split()))
    )
    return path


@pytest.fixture
def queryset(tmp_path: Path) -> Path:
    folder = tmp_path / "songs"
    folder.mkdir()
    names = [f"q {number}" for number in range(1, 9)]
    (folder / "queries.jsonl").write_text("".join(json.dumps({"id": id_, "query": "who?"}) + "\n" for id_ in names))
    (folder / "qrels.tsv").write_text("q\td\tr\n" + "".join(f"{id_}\tgood one\t1\n{id_}\tbad\t0\n" for id_ in names))
    return folder


def test_runs_are_compared_with_each_other_and_with_a_report(tmp_path: Path, queryset: Path) -> None:
    ids = [f"q%20{number}" for number in range(1, 9)]
    worse = run_of(tmp_path / "worse.run", dict.fromkeys(ids, "x bad y good%20one"))
    better = run_of(tmp_path / "better.run", dict.fromkeys(ids[:7], "good%20one bad"), "mine")
    dataset = Dataset("songs", tuple(Query(f"q {number}", "who?", {"good one": 1.0}) for number in range(1, 9)))
    results = [QueryResult(query.id, "hoprank", ("good one",), 1.0) for query in dataset.queries]
    report = tmp_path / "report.json"
    write_document(build_report(dataset, results, RUN, (*MEASURES, "AP")).to_json(per_query=True), report)
    a, b, c = (read_evaluated(path, queryset, ["Judged@2"]) for path in (worse, better, report))

    both = compare(a, b, "hoprank", measures=["Judged@2"])
    mixed = compare(a, c, "hoprank")

    rows = {row.measure: row for row in both.rows}
    assert (both.before, both.after) == (f"{worse} bm25", f"{better} mine")
    assert both.queries == 8, "a query that a run lacks counts as 0"
    assert (rows["mrr"].before, rows["mrr"].after) == pytest.approx((0.25, 7 / 8))
    assert (rows["Judged@2"].before, rows["Judged@2"].after) == pytest.approx((0.5, 7 / 8))
    assert rows["recall@5"].losses == 1
    assert (mixed.queries, mixed.queryset) == (8, "songs")
    assert next(row for row in mixed.rows if row.measure == "mrr").p == pytest.approx(2 / 2**8)
    with pytest.raises(QuerySetError, match=r"worse.run wasn't measured by AP|wasn't measured by AP"):
        compare(a, c, "hoprank", measures=["AP"])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        ("q Q0 d 1 0.5", "line 1 hasn't 6 columns"),
        ("q Q0 d 1 high run", "line 1 has the score 'high'"),
        ("q Q0 d 1 nan run", "line 1 has the score 'nan'"),
        ("q Q0 d 1 2 run\nq Q0 d 2 1 run", "line 2 has document 'd' for query 'q' again"),
        ("other Q0 d 1 2 run", "judges no query of the run 'run'"),
    ],
)
def test_what_is_no_run_is_refused_by_file_and_line(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "a.run").write_text(text)
    (tmp_path / "qrels.trec").write_text("q 0 d 1\n")

    with pytest.raises(QuerySetError, match=r"a\.run") as caught:
        read_evaluated(tmp_path / "a.run")

    assert says in str(caught.value).replace(", line", " line").replace("a.run line", "line")


def test_a_run_needs_judgements(tmp_path: Path) -> None:
    run = run_of(tmp_path / "a.run", {"q": "d"})

    with pytest.raises(QuerySetError, match="--qrels"):
        read_evaluated(run)


def test_a_folder_that_can_not_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    for folder in (tmp_path / "file", tmp_path / "no" / "folder"):
        with pytest.raises(ConfigurationError, match=str(folder)):
            check_runs_folder(folder)


def test_compare_fails_if_a_measure_is_worse_by_more_than_a_bound(tmp_path: Path, queryset: Path) -> None:
    ids = [f"q%20{number}" for number in range(1, 9)]
    good = run_of(tmp_path / "good.run", dict.fromkeys(ids, "good%20one"))
    bad = run_of(tmp_path / "bad.run", {id_: "good%20one" if id_ != ids[0] else "x" for id_ in ids})

    def called(before: Path, after: Path, *bounds: str) -> tuple[int, str]:
        options = [part for bound in bounds for part in ("--fail-if-worse", bound)]
        done = CliRunner().invoke(app, ["compare", str(before), str(after), "--qrels", str(queryset), *options])
        return done.exit_code, done.stdout + done.stderr

    assert called(good, bad)[0] == 0
    assert called(bad, good, "recall@5:0")[0] == 0
    assert called(good, bad, "recall@5:12.5", "MAP:13")[0] == 0
    code, says = called(good, bad, "recall@5:20", "MAP:12")
    assert code == 1
    assert "MAP fell by 12.50 points, more than 12: from 100.00 to 87.50." in says
    for wrong in ("recall@5", "recall@5:x", "recall@5:-1", ":1", "hits:1", "recall@5:nan"):
        assert called(good, bad, wrong)[0] == 2
