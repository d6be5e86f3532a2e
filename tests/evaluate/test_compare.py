"""Comparing evaluations: differences, intervals, wins and losses, and reports that can't be compared."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from pipeline import HopRank
from pipeline.cli.app import app
from pipeline.errors import ConfigurationError, QuerySetError
from pipeline.evaluate.compare import Trial, compare, pooled, read_evaluated
from pipeline.evaluate.datasets import Dataset, Query
from pipeline.evaluate.measures import MEASURES, QueryResult
from pipeline.evaluate.report import Run, build_report, write_document
from pipeline.evaluate.significance import pooled_interval
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


def test_trials_are_pooled_by_set(tmp_path: Path) -> None:
    """A set that gains on half of its queries, and one of a quarter as many that loses on all."""

    def trial(before: int, after: int, queries: int) -> Trial:
        runs = (written(tmp_path / f"{found}.json", found, queries=queries) for found in (before, after))
        first, second = map(read_evaluated, runs)
        return Trial(compare(first, second, "hoprank"), 3, 1.0, 2.0)

    better, worse = trial(10, 30, 40), trial(10, 0, 10)

    both, alone = pooled([better, worse], "ndcg@10"), pooled([better], "ndcg@10")

    assert both.mean == pytest.approx((0.5 - 1.0) / 2)
    assert alone == better.measured("ndcg@10").difference
    assert pooled([better, better], "mrr").mean == pytest.approx(0.5)


@pytest.fixture
def things(tmp_path: Path) -> list[Path]:
    """Two small querysets."""
    words = ["moon", "bread", "garden", "chess"]
    folders = [tmp_path / name for name in ("north", "south")]
    for folder in folders:
        folder.mkdir()
        documents = [
            {"id": word, "title": word.title(), "text": f"The {word} of the {folder.name} wants water."}
            for word in words
        ]
        queries = [{"id": word, "query": f"What does the {word} want?"} for word in words]
        (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, documents)))
        (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)))
        (folder / "qrels.tsv").write_text("q\td\tr\n" + "".join(f"{word}\t{word}\t1\n" for word in words))
    return folders


def test_one_command_says_what_a_reranker_gains_and_loses_on_every_set(
    things: list[Path],
    tmp_path: Path,
    server_environment: dict[str, str],
    left_as_it_was: None,
) -> None:
    from tests.tiny_rerankers import cross_encoder

    model, report = cross_encoder(tmp_path / "model"), tmp_path / "report.json"
    weights = tmp_path / "weights.toml"
    weights.write_text("[scorer.unnamed]\nreranker = 1000\n[scorer.named]\nreranker = 1000\n", encoding="utf-8")
    assigned = [f"retrieve.reranker={model}", f"weights={weights}"]
    options = [part for one in (*assigned, "embed.device=cpu", "walk.engine=local") for part in ("--set", one)]
    environment = {**server_environment, "HOPRANK_EMBED__DEVICE": "cpu", "HOPRANK_WALK__ENGINE": "local"}

    shown = CliRunner().invoke(
        app, ["evaluate", *map(str, things), "--compare", "--json", str(report), *options], env=environment
    )

    assert shown.exit_code == 0, shown.output
    assert "mean of all" in shown.stdout
    trials = json.loads(report.read_text())["trials"]
    assert [trial["comparison"]["queryset"] for trial in trials] == ["north", "south"]
    for trial in trials:
        assert trial["comparison"]["queries"] == 4
        ndcg = next(row for row in trial["comparison"]["rows"] if row["measure"] == "ndcg@10")
        assert ndcg["before"] == 1.0
        assert ndcg["after"] < 1.0, "an order by chance"
        assert ndcg["losses"] > 0
        assert trial["before_ms"] > 0 < trial["after_ms"]


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({}, "nothing to compare"),
        ({"chunk": {"max_tokens": 100}}, "differ in chunk"),
        ({"embed": {"device": "meta"}}, "embed"),
    ],
)
def test_settings_that_make_another_corpus_or_are_the_same_are_not_compared(
    hoprank: HopRank, things: list[Path], changed: dict[str, dict[str, object]], says: str
) -> None:
    sections = {name: getattr(hoprank.settings, name).model_copy(update=values) for name, values in changed.items()}
    before = hoprank.settings.model_copy(update=sections)

    with pytest.raises(ConfigurationError, match=says):
        hoprank.try_settings(*things, before=before)
