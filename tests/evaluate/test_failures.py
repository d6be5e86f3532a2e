"""Failures: which relevant documents are lost, at which stage, and the page that says so."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import ConfigurationError
from pipeline.evaluate.datasets import Dataset, Query
from pipeline.evaluate.failures import Lost, failures_page, find_failures, write_failures
from pipeline.evaluate.measures import QueryResult
from pipeline.evaluate.report import Report, Run, build_report

RUN = Run(corpus="songs", documents=3, ingest_seconds=1.0, version="0.1.0")
OTHERS = tuple(f"x{number}" for number in range(30))


def reported(rankings: dict[str, tuple[str, ...]], *relevant: str, missing: str = "") -> Report:
    query = Query("q1", "Who sang <b>it</b>?", dict.fromkeys(relevant, 1.0), "2hop")
    dataset = Dataset("songs", (query,), missing=frozenset(filter(None, [missing])))
    return build_report(dataset, [QueryResult("q1", leg, ranking, 1.0) for leg, ranking in rankings.items()], RUN)


@pytest.mark.parametrize(
    ("rankings", "missing", "stage"),
    [
        ({"vector": OTHERS, "hoprank": OTHERS}, "good", "corpus"),
        ({"vector": OTHERS, "hoprank": OTHERS}, "", "candidates"),
        ({"vector": (*OTHERS, "good"), "hoprank": OTHERS}, "", "selection"),
        ({"vector": ("good", *OTHERS), "hoprank": (*OTHERS, "good")}, "", "scoring"),
        ({"graph": (*OTHERS[:9], "good"), "vector": OTHERS, "hoprank": (*OTHERS[:10], "good")}, "", "scoring"),
        ({"graph": (*OTHERS[:10], "good"), "vector": OTHERS, "hoprank": (*OTHERS[:10], "good")}, "", "legs"),
        ({"hoprank": (*OTHERS[:10], "good")}, "", "legs"),
    ],
)
def test_the_stage_that_lost_a_document_is_named(
    rankings: dict[str, tuple[str, ...]], missing: str, stage: str
) -> None:
    (failure,) = find_failures(reported(rankings, "good", "x0", missing=missing))

    (lost,) = failure.lost
    ranks = {leg: of.index("good") + 1 if "good" in of else None for leg, of in rankings.items()}
    assert lost == Lost("good", ranks, stage)
    assert (failure.relevant, failure.first[:2]) == (2, (("x0", True), ("x1", False)))


def test_a_question_with_all_its_documents_among_the_first_ten_is_no_failure() -> None:
    assert find_failures(reported({"hoprank": (*OTHERS[:8], "good", "fine")}, "good", "fine")) == []
    assert "0 of 1 questions lack" in failures_page(reported({"hoprank": ("good",)}, "good"))


def test_without_the_whole_there_are_no_failures_to_tell() -> None:
    with pytest.raises(ConfigurationError, match="--leg hoprank"):
        find_failures(reported({"vector": OTHERS}, "good"))


def test_texts_on_the_page_are_no_markup(tmp_path: Path) -> None:
    report = reported({"vector": ("<script>1</script>", *OTHERS), "hoprank": OTHERS}, "<script>1</script>")

    write_failures(report, tmp_path / "failures.html")

    page = (tmp_path / "failures.html").read_text(encoding="utf-8")
    assert "1 of 1 questions lack a relevant document among the first 10." in page
    assert "Who sang &lt;b&gt;it&lt;/b&gt;?" in page
    assert "<script>" not in page
    assert "{{" not in page


RANKINGS = st.dictionaries(
    st.sampled_from(["vector", "fulltext", "hops", "graph", "hybrid", "scorer"]),
    st.lists(st.sampled_from(OTHERS), max_size=30).map(tuple),
)


@given(RANKINGS, st.lists(st.sampled_from(OTHERS)), st.sets(st.sampled_from(OTHERS), min_size=1, max_size=4))
def test_every_document_that_is_not_among_the_first_ten_is_told_once(
    rankings: dict[str, tuple[str, ...]], whole: list[str], relevant: set[str]
) -> None:
    report = reported({**rankings, "hoprank": tuple(whole)}, *sorted(relevant))

    lost = [one.document for failure in find_failures(report) for one in failure.lost]

    assert sorted(lost) == sorted(relevant - {*list(dict.fromkeys(whole))[:10]})
    assert failures_page(report).count("<section>") == bool(lost)
