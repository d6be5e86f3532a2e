"""The gate: on the shipped example and on a manual, the whole finds no less than vector and full text by themselves."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from pipeline import HopRank
from pipeline.examples import example_corpus, example_queryset
from pipeline.retrieve.legs import Leg

MANUAL = Path(__file__).parent / "manual"
"""A queryset in the manner of documentation, with its own documents: an invented program, asked about as in a chat."""

ALLOWED = 0.005


@pytest.fixture(scope="module", params=["example", "manual"])
def measured(
    request: pytest.FixtureRequest, hoprank: HopRank, shared_corpus_name: str
) -> Mapping[str, Mapping[str, float]]:
    """The mean measures of the legs on a set."""
    legs = [Leg.VECTOR, Leg.HYBRID, Leg.WHOLE]
    if request.param == "manual":
        report = hoprank.evaluate(MANUAL, legs=legs)
    else:
        hoprank.ingest(example_corpus(), corpus=shared_corpus_name)
        report = hoprank.evaluate(example_queryset(), corpus=shared_corpus_name, legs=legs)
    return {leg.leg: leg.measures for leg in report.legs}


@pytest.mark.parametrize("measure", ["recall@5", "recall@10", "ndcg@10"])
def test_the_whole_is_no_worse_than_hybrid(measured: Mapping[str, Mapping[str, float]], measure: str) -> None:
    assert measured[Leg.WHOLE][measure] >= measured[Leg.HYBRID][measure] - ALLOWED > 0
