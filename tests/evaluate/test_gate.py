"""The gate: on sets of our own the whole is no worse than hybrid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from pipeline import HopRank
from pipeline.evaluate.measures import Measures
from pipeline.examples import example_corpus, example_queryset
from pipeline.retrieve.legs import Leg

MANUAL = Path(__file__).parent / "manual"
"""A queryset in the manner of documentation, with its own documents: an invented program, asked about as in a chat."""

Measured = Mapping[str, Sequence[Measures]]
"""Each leg's measures, query by query."""


@pytest.fixture(scope="module", params=["example", "manual"])
def measured(request: pytest.FixtureRequest, hoprank: HopRank, shared_corpus_name: str) -> Measured:
    """What hybrid and the whole reach on a set."""
    legs = [Leg.HYBRID, Leg.WHOLE]
    if request.param == "manual":
        report = hoprank.evaluate(MANUAL, legs=legs)
    else:
        hoprank.ingest(example_corpus(), corpus=shared_corpus_name)
        report = hoprank.evaluate(example_queryset(), corpus=shared_corpus_name, legs=legs)
    return {leg.leg: [row.measures for row in leg.detail] for leg in report.legs}


def gains(measured: Measured, measure: str) -> list[float]:
    """What the whole adds to hybrid, query by query."""
    pairs = zip(measured[Leg.WHOLE], measured[Leg.HYBRID], strict=True)
    return [whole[measure] - hybrid[measure] for whole, hybrid in pairs]


@pytest.mark.parametrize("measure", ["recall@5", "recall@10", "ndcg@10"])
def test_the_whole_is_no_worse_than_hybrid(measured: Measured, measure: str) -> None:
    assert sum(gains(measured, measure)) >= -1e-9
