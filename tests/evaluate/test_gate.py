"""The gate: on sets of our own, which taught nothing, the whole leads hybrid and vector, and is as good as it was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean

import pytest
from typer.testing import CliRunner

from pipeline import HopRank
from pipeline.cli.app import app
from pipeline.evaluate.measures import Measures
from pipeline.evaluate.report import Report
from pipeline.evaluate.trec import write_runs
from pipeline.examples import example_corpus, example_queryset
from pipeline.retrieve.legs import Leg

MANUAL = Path(__file__).parent / "manual"
"""A queryset in the manner of documentation, with its own documents: an invented program, asked about as in a chat."""

BEFORE = Path(__file__).with_name("example.trec")
"""The whole's first ten documents for each question of the example, by `hoprank evaluate --run`, on 2026-11-27."""

NOT_WORSE = ("recall@5:2", "ndcg@10:2")
"""By how many points the example may be worse: nearly a question, for other processors round otherwise."""

Measured = Mapping[str, Sequence[Measures]]
"""Each leg's measures, query by query."""


MARGINS = {
    "example": {"recall@5": 0.04, "recall@10": 0.1, "ndcg@10": 0.05},
    # Vector finds one document more among its first ten, of the 24 questions' documents.
    "manual": {"recall@5": 0.0, "recall@10": -0.021, "ndcg@10": 0.01},
}
"""By how much the whole leads hybrid and vector at least, on the mean."""


LEGS = [Leg.VECTOR, Leg.HYBRID, Leg.WHOLE]


@pytest.fixture(scope="module")
def example(hoprank: HopRank, shared_corpus_name: str) -> Report:
    hoprank.ingest(example_corpus(), corpus=shared_corpus_name)
    return hoprank.evaluate(example_queryset(), corpus=shared_corpus_name, legs=LEGS)


@pytest.fixture(scope="module", params=["example", "manual"])
def measured(request: pytest.FixtureRequest, hoprank: HopRank, example: Report) -> tuple[str, Measured]:
    """The set, and what vector, hybrid and the whole reach on it."""
    report = example if request.param == "example" else hoprank.evaluate(MANUAL, legs=LEGS)
    return request.param, {leg.leg: [row.measures for row in leg.detail] for leg in report.legs}


@pytest.mark.slow
@pytest.mark.parametrize("leg", [Leg.VECTOR, Leg.HYBRID])
@pytest.mark.parametrize("measure", ["recall@5", "recall@10", "ndcg@10"])
def test_the_whole_leads_hybrid_and_vector(measured: tuple[str, Measured], measure: str, leg: Leg) -> None:
    name, legs = measured
    lead = fmean(row[measure] for row in legs[Leg.WHOLE]) - fmean(row[measure] for row in legs[leg])

    assert lead >= MARGINS[name][measure] - 1e-9


@pytest.mark.slow
@pytest.mark.parametrize(("leg", "code"), [(Leg.WHOLE, 0), (Leg.HYBRID, 1)])
def test_the_example_is_not_worse_than_it_was(example: Report, tmp_path: Path, leg: Leg, code: int) -> None:
    """And hybrid would be: the comparison tells it."""
    write_runs(example, tmp_path)
    bounds = [part for bound in NOT_WORSE for part in ("--fail-if-worse", bound)]
    runs = (str(BEFORE), str(tmp_path / f"{leg}.trec"))

    compared = CliRunner().invoke(app, ["compare", *runs, "--qrels", str(tmp_path / "qrels.trec"), *bounds])

    assert compared.exit_code == code, compared.output
