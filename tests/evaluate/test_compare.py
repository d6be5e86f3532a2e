"""Comparing evaluations: differences, intervals, wins and losses, and reports that can't be compared."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from pipeline.cli.app import app
from pipeline.errors import QuerySetError
from pipeline.evaluate.compare import compare, read_evaluated
from pipeline.evaluate.datasets import Dataset, Query
from pipeline.evaluate.measures import MEASURES, QueryResult
from pipeline.evaluate.report import Run, build_report, write_document
from pipeline.evaluate.significance import Interval, pooled_interval
from pipeline.json_values import plain

QUERIES = tuple(Query(f"q{number}", "who?", {"good": 1.0}) for number in range(40))
RUN = Run(corpus="songs", documents=3, ingest_seconds=1.0, version="0.1.0")
FRACTIONS = st.lists(st.floats(-1, 1), min_size=1, max_size=60)


def written(
    path: Path, found: int, *, queries: int = 40, name: str = "songs", legs: tuple[str, ...] = ("hoprank",)
) -> Path:
    """Write a report in which the first ``found`` queries are answered right away, and the others not at all."""
    queryset = Dataset(name, QUERIES[:queries])
    results = [
        QueryResult(query.id, leg, ("good",) if place < found else ("bad",), 1.0)
        for leg in legs
        for place, query in enumerate(queryset.queries)
    ]
    write_document(build_report(queryset, results, RUN).to_json(per_query=True), path)
    return path


def test_a_gain_is_counted_query_by_query(tmp_path: Path) -> None:
    before, after = (read_evaluated(written(tmp_path / f"{found}.json", found)) for found in (10, 30))

    comparison = compare(before, after, "hoprank")

    assert (comparison.queries, comparison.left_out) == (40, 0)
    assert [row.measure for row in comparison.rows] == list(MEASURES)
    for row in comparison.rows:
        assert (row.before, row.after, row.difference.mean) == (0.25, 0.75, 0.5)
        assert (row.wins, row.losses, row.ties) == (20, 0, 20)
        assert 0.3 < row.difference.low < 0.5 < row.difference.high < 0.7
        assert not row.difference.is_noise
    assert comparison.changes["mrr"] == {f"q{number}": 1.0 for number in range(10, 30)}
    assert json.loads(json.dumps(plain(comparison)))["rows"][0]["wins"] == 20


def test_an_evaluation_is_no_better_than_itself(tmp_path: Path) -> None:
    same = read_evaluated(written(tmp_path / "a.json", 10))

    for row in compare(same, same, "hoprank").rows:
        assert (row.difference.mean, row.difference.low, row.difference.high, row.ties) == (0, 0, 0, 40)
        assert row.difference.is_noise


def test_only_queries_that_both_have_are_compared(tmp_path: Path) -> None:
    before = read_evaluated(written(tmp_path / "a.json", 10, queries=20))
    after = read_evaluated(written(tmp_path / "b.json", 10, queries=30))

    comparison = compare(before, after, "hoprank")

    assert (comparison.queries, comparison.left_out) == (20, 10)


def test_two_legs_of_one_evaluation_compare(tmp_path: Path) -> None:
    one = read_evaluated(written(tmp_path / "a.json", 10, legs=("hybrid", "hoprank")))

    assert compare(one, one, "hoprank", "hybrid").before.endswith("a.json hybrid")
    with pytest.raises(QuerySetError, match=r"no leg 'graph'.*\nIt has hybrid, hoprank"):
        compare(one, one, "graph")


def test_another_queryset_is_refused(tmp_path: Path) -> None:
    before = read_evaluated(written(tmp_path / "a.json", 1))
    after = read_evaluated(written(tmp_path / "b.json", 1, name="other"))

    with pytest.raises(QuerySetError, match=r"songs.*other"):
        compare(before, after, "hoprank")


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        '{"queryset": "songs", "metrics": {}}',
        '{"queryset": "songs", "per_query": [{"query": "q", "leg": "hoprank", "measures": {}}]}',
        json.dumps(
            {"queryset": "songs", "per_query": [{"query": "q", "leg": "h", "measures": dict.fromkeys(MEASURES)}]}
        ),
        '{"queryset": "songs", "per_query": 3}',
        "[" * 100_000,
    ],
)
def test_what_is_no_report_is_refused_by_name(tmp_path: Path, content: str) -> None:
    (tmp_path / "a.json").write_text(content)

    with pytest.raises(QuerySetError, match=r"a\.json.*\n.*hoprank evaluate"):
        read_evaluated(tmp_path / "a.json")


def test_a_file_that_is_not_there_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(QuerySetError, match=r"a\.json can't be read"):
        read_evaluated(tmp_path / "a.json")


@given(FRACTIONS)
def test_an_interval_holds_its_mean_and_is_always_the_same(values: list[float]) -> None:
    interval = pooled_interval([values])

    assert interval == pooled_interval([values])
    assert interval.mean == pytest.approx(np.mean(values))
    assert min(values) - 1e-9 <= interval.low <= interval.high + 1e-9 <= max(values) + 2e-9


def test_one_value_is_its_own_interval() -> None:
    assert pooled_interval([[0.25]]) == Interval(0.25, 0.25, 0.25)


def test_an_interval_is_as_wide_as_theory_says() -> None:
    values = np.random.default_rng(1).normal(0.1, 1.0, 400)

    interval = pooled_interval([values.tolist()])

    width = 2 * 1.96 * values.std() / np.sqrt(len(values))
    assert interval.high - interval.low == pytest.approx(width, rel=0.05)


def test_the_command_shows_what_changed(tmp_path: Path) -> None:
    before, after = (str(written(tmp_path / f"{found}.json", found)) for found in (30, 10))

    shown = CliRunner().invoke(app, ["compare", before, after, "--show", "3"]).stdout
    as_json = json.loads(CliRunner().invoke(app, ["compare", before, after, "--json"]).stdout)

    assert "recall@5" in shown
    assert "-50.0" in shown
    assert "Losses in recall@5: 20" in shown
    assert "... and 17 more" in shown
    assert "Wins" not in shown
    assert as_json["rows"][1]["losses"] == 20


def test_the_command_refuses_what_it_can_not_compare(tmp_path: Path) -> None:
    before = str(written(tmp_path / "a.json", 30))

    for arguments, says in (
        ([before, str(tmp_path / "no.json")], "no.json can't be read"),
        ([before, before, "--measure", "recall@3"], "recall@3"),
        ([before, before, "--leg", "bm25"], "no leg 'bm25'"),
    ):
        refused = CliRunner().invoke(app, ["compare", *arguments])
        assert refused.exit_code == 2
        assert says in refused.stderr
