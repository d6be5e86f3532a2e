"""The gate: on sets of our own, which taught nothing, the whole leads hybrid and vector."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean

import pytest

from pipeline import HopRank
from pipeline.evaluate.measures import Measures
from pipeline.examples import example_corpus, example_queryset
from pipeline.retrieve.legs import Leg

MANUAL = Path(__file__).parent / "manual"
"""A queryset in the manner of documentation, with its own documents: an invented program, asked about as in a chat."""

Measured = Mapping[str, Sequence[Measures]]
"""Each leg's measures, query by query."""


MARGINS = {
    "example": {"recall@5": 0.04, "recall@10": 0.1, "ndcg@10": 0.05},
    # Vector finds one document more among its first ten, of the 24 questions' documents.
    "manual": {"recall@5": 0.0, "recall@10": -0.021, "ndcg@10": 0.01},
}
"""By how much the whole leads hybrid and vector at least, on the mean."""


@pytest.fixture(scope="module", params=["example", "manual"])
def measured(request: pytest.FixtureRequest, hoprank: HopRank, shared_corpus_name: str) -> tuple[str, Measured]:
    """The set, and what vector, hybrid and the whole reach on it."""
    legs = [Leg.VECTOR, Leg.HYBRID, Leg.WHOLE]
    if request.param == "manual":
        report = hoprank.evaluate(MANUAL, legs=legs)
    else:
        hoprank.ingest(example_corpus(), corpus=shared_corpus_name)
        report = hoprank.evaluate(example_queryset(), corpus=shared_corpus_name, legs=legs)
    return request.param, {leg.leg: [row.measures for row in leg.detail] for leg in report.legs}


@pytest.mark.slow
@pytest.mark.parametrize("leg", [Leg.VECTOR, Leg.HYBRID])
@pytest.mark.parametrize("measure", ["recall@5", "recall@10", "ndcg@10"])
def test_the_whole_leads_hybrid_and_vector(measured: tuple[str, Measured], measure: str, leg: Leg) -> None:
    name, legs = measured
    lead = fmean(row[measure] for row in legs[Leg.WHOLE]) - fmean(row[measure] for row in legs[leg])

    assert lead >= MARGINS[name][measure] - 1e-9
