"""The report: its JSON, its percentiles, its table and how it is written."""

from __future__ import annotations

import dataclasses
import io
import json
import resource
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from pipeline.cli.views.evaluation import report_table
from pipeline.errors import ConfigurationError, QuerySetError
from pipeline.evaluate.datasets import Dataset, Query
from pipeline.evaluate.measures import MEASURES, QueryResult
from pipeline.evaluate.report import Report, Run, build_report, check_json_path, write_document

QUERIES = tuple(Query(f"q{number}", "who?", {f"d{number}": 1.0}) for number in range(1, 5))
QUERYSET = Dataset("songs", QUERIES, unjudged=("q5", "q6"))
RUN = Run(corpus="evaluate-songs", documents=5183, ingest_seconds=41.25, version="0.1.0", settings={"rrf_k": 60})
LEGS = ("hoprank", "reranked", "graph", "hops", "hybrid", "bm25", "fulltext", "vector")
IN_ORDER = ["vector", "fulltext", "bm25", "hybrid", "hops", "graph", "reranked", "hoprank"]


def result(query_id: str, leg: str = "vector", latency_ms: float | None = 10.0, *ranking: str) -> QueryResult:
    return QueryResult(query_id, leg, ranking or ("d1", "d2"), latency_ms)


def report(run: Run = RUN) -> Report:
    return build_report(QUERYSET, [result(query.id, leg) for query in QUERIES for leg in LEGS], run)


def latency_report(latencies: list[float | None]) -> Report:
    queries = tuple(Query(f"q{number}", "who?", {"d1": 1.0}) for number in range(len(latencies)))
    results = [result(query.id, "vector", latency) for query, latency in zip(queries, latencies, strict=True)]
    return build_report(Dataset("timed", queries), results, RUN)


def printed(shown: Report, width: int | None = None, encoding: str = "utf-8") -> str:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding=encoding)
    Console(file=file, width=width).print(report_table(shown))
    file.flush()
    return raw.getvalue().decode(encoding)


def test_json_holds_the_contract() -> None:
    report_json = report().to_json()

    assert list(json.loads(json.dumps(report_json))["metrics"]) == [leg.leg for leg in report().legs] == IN_ORDER
    assert report_json["queries"] == 4
    assert report_json["queries_left_out"] == 2
    assert report_json["queryset"] == "songs"
    assert report_json["corpus"] == "evaluate-songs"
    assert report_json["hoprank_version"] == "0.1.0"
    assert report_json["settings"] == {"rrf_k": 60}
    assert "per_query" not in report_json
    assert report_json["documents"] == 5183
    assert report_json["ingest_seconds"] == 41.25
    # Of four queries, d1 at rank 1 answers the first and d2 at rank 2 the second.
    expected = dict.fromkeys(MEASURES, 0.5) | {"mrr": 0.375, "ndcg@10": pytest.approx((1 + 0.63093) / 4, abs=1e-5)}
    assert report_json["metrics"] == dict.fromkeys(IN_ORDER, expected)
    assert report_json["latency_ms"] == {leg: {"p50": 10.0, "p95": 10.0} for leg in IN_ORDER}


def test_a_query_without_an_answer_counts_as_zero_but_has_no_latency() -> None:
    built = build_report(QUERYSET, [result("q1", "vector", 8.0, "d1"), result("q2", "vector", 4.0, "d2")], RUN)

    assert built.legs[0].measures == dict.fromkeys(MEASURES, 0.5)
    assert built.legs[0].p50_ms == 6.0


def test_detail_on_request_has_every_leg_and_query() -> None:
    results = [QueryResult("q1", "vector", ("d9", "d9", *(f"d{n}" for n in range(30))), 8.0)]
    built = build_report(QUERYSET, results, RUN)

    detail = json.loads(json.dumps(built.to_json(per_query=True)))["per_query"]

    assert [(row["query"], row["leg"]) for row in detail] == [(query.id, "vector") for query in QUERIES]
    assert detail[0]["ranking"] == ["d9", *(f"d{n}" for n in range(20) if n != 9)]
    assert detail[0]["measures"] == dict(built.legs[0].detail[0].measures)
    assert detail[0]["latency_ms"] == 8.0
    assert detail[1]["ranking"] == []
    assert detail[1]["latency_ms"] is None


def test_detail_and_aggregate_agree() -> None:
    built = report().to_json(per_query=True)
    loaded = json.loads(json.dumps(built))

    for leg, means in loaded["metrics"].items():
        rows = [row["measures"] for row in loaded["per_query"] if row["leg"] == leg]
        assert means == pytest.approx({name: sum(row[name] for row in rows) / len(rows) for name in MEASURES})


def test_nothing_to_report_on_is_refused() -> None:
    with pytest.raises(QuerySetError, match="'songs': there is no result to report on"):
        build_report(QUERYSET, [], RUN)


def test_without_latencies_there_are_no_percentiles() -> None:
    built = latency_report([None])

    assert (built.legs[0].p50_ms, built.legs[0].p95_ms) == (None, None)
    assert built.to_json()["latency_ms"] == {"vector": {"p50": None, "p95": None}}
    assert printed(built).splitlines()[4].split()[-2:] == ["-", "-"]


def interpolated(values: list[float], percent: float) -> float:
    ordered = sorted(values)
    position = (len(ordered) - 1) * percent / 100
    below = int(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (position - below) * (ordered[above] - ordered[below])


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=40))
def test_percentiles_agree_with_a_plain_reference(latencies: list[float]) -> None:
    leg = latency_report(list(latencies)).legs[0]

    assert leg.p50_ms == pytest.approx(interpolated(latencies, 50))
    assert leg.p95_ms == pytest.approx(interpolated(latencies, 95))


def test_the_table_has_a_row_a_leg_in_percent_with_the_whole_below_a_rule() -> None:
    lines = printed(report()).splitlines()

    rows = [line.split() for line in lines if line.split()[:1] and line.split()[0] in IN_ORDER]
    assert [row[0] for row in rows] == IN_ORDER
    assert rows[0][1:] == ["50.0"] * 4 + ["37.5", "40.8"] + ["50.0"] * 3 + ["10.0", "10.0"]
    whole = next(number for number, line in enumerate(lines) if line.startswith("hoprank "))
    assert set(lines[whole - 1].strip()) == {"─"}


def test_the_caption_counts_what_was_measured() -> None:
    text = " ".join(printed(report()).split())
    there_already = " ".join(printed(report(dataclasses.replace(RUN, ingest_seconds=0.0))).split())

    assert "5,183 documents in corpus evaluate-songs." in there_already
    assert "4 queries (2 more have no relevant document)" in text
    assert "5,183 documents in corpus evaluate-songs, ingested in 41.2 s" in text
    assert "songs" in text


@pytest.mark.parametrize("width", [80, 100, 200])
def test_the_table_fits_with_every_figure_whole(width: int) -> None:
    slow = [result(query.id, leg, 12345.678) for query in QUERIES for leg in IN_ORDER]
    perfect = tuple(Query(query.id, query.text, {"d1": 1.0}) for query in QUERIES)
    shown = printed(build_report(Dataset("songs", perfect), slow, RUN), width)

    assert max(map(len, shown.splitlines())) <= width
    assert shown.count("100.0") == 9 * len(IN_ORDER)
    assert shown.count("12346") == 2 * len(IN_ORDER)
    assert "…" not in shown


def test_the_table_survives_a_pipe_that_takes_ascii_only() -> None:
    assert printed(report(), encoding="ascii").isascii()


def test_names_are_not_taken_for_markup() -> None:
    shown = printed(report(dataclasses.replace(RUN, corpus="[red]notes[/]")))

    assert "[red]notes[/]" in shown


@pytest.mark.parametrize(("latency", "shown"), [(0.04, "0.0"), (99.94, "99.9"), (99.96, "100"), (1234.5, "1234")])
def test_latencies_lose_the_decimal_that_does_not_matter(latency: float, shown: str) -> None:
    assert printed(latency_report([latency])).splitlines()[4].split()[-2:] == [shown, shown]


def test_the_file_is_the_json_and_replaces_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text("old")

    write_document(report().to_json(per_query=True), path)

    assert json.loads(path.read_text(encoding="utf-8")) == json.loads(json.dumps(report().to_json(per_query=True)))
    assert list(tmp_path.iterdir()) == [path]


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text("old")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)

    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        with pytest.raises(ConfigurationError, match="can't be written: File too large"):
            write_document(report().to_json(), path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("missing/report.json", "there is no folder"),
        ("", "it is a folder"),
        ("circle", "can't be written"),
        ("x" * 300, "can't be written"),
    ],
)
def test_a_path_that_can_not_be_written_to_is_refused_before_and_at_writing(
    tmp_path: Path, name: str, says: str
) -> None:
    (tmp_path / "circle").symlink_to(tmp_path / "circle")

    for write in (check_json_path, partial(write_document, report().to_json())):
        with pytest.raises(ConfigurationError, match=says):
            write(tmp_path / name)
