"""The scorer: three tables of weights, added up as far as the question is about names."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.errors import ConfigurationError
from pipeline.retrieve.scoring.features import FEATURES, Features
from pipeline.retrieve.scoring.scorer import Scorer, graph_share
from pipeline.settings import ScorerSettings, load_settings

SETTINGS = ScorerSettings(
    unnamed={"vector": 1.0, "walk": 2.0},
    confident={"walk": 10.0, "about_named": 20.0},
    named={"walk": 100.0, "covers_together": 200.0},
)
SHIPPED = load_settings().weights.scorer


def weights(confidence: float, named_share: float) -> dict[str, float]:
    """Return the features that weigh anything, and what."""
    found = zip(FEATURES, Scorer(SETTINGS).weights(confidence, named_share).tolist(), strict=True)
    return {name: weight for name, weight in found if weight}


@pytest.mark.parametrize(
    ("confidence", "named_share", "expected"),
    [
        (0.0, 0.0, {"vector": 1.0, "walk": 2.0}),
        (1.0, 0.0, {"vector": 1.0, "walk": 12.0, "about_named": 20.0}),
        (0.0, 1.0, {"walk": 100.0, "covers_together": 200.0}),
        (1.0, 1.0, {"walk": 110.0, "about_named": 20.0, "covers_together": 200.0}),
        (0.5, 0.25, {"vector": 0.75, "walk": 31.5, "about_named": 10.0, "covers_together": 50.0}),
    ],
)
def test_the_three_tables_are_added_up(confidence: float, named_share: float, expected: dict[str, float]) -> None:
    assert weights(confidence, named_share) == pytest.approx(expected)


def test_candidates_are_ranked_by_the_weighed_sum_with_ties_by_id() -> None:
    matrix = np.zeros((3, len(FEATURES)))
    matrix[:, FEATURES.index("walk")] = [0.1, 0.3, 0.1]

    ranking = Scorer(SETTINGS).rank(Features(("c2", "c3", "c1"), matrix, confidence=0.5, named_share=0.0))

    assert ranking.leg == "scorer"
    assert ranking.ids == ["c3", "c1", "c2"]
    assert ranking.scores == pytest.approx({"c3": 2.1, "c1": 0.7, "c2": 0.7})


def test_contributions_are_what_a_feature_adds_against_the_mean() -> None:
    matrix = np.zeros((2, len(FEATURES)))
    matrix[:, FEATURES.index("walk")] = [0.1, 0.3]
    matrix[:, FEATURES.index("vector")] = [1.0, 1.0]

    added = Scorer(SETTINGS).contributions(Features(("c1", "c2"), matrix, confidence=0.5, named_share=0.0))

    assert added[:, FEATURES.index("walk")] == pytest.approx([-0.7, 0.7])
    assert added.sum() == pytest.approx(0.0)
    assert not added[:, FEATURES.index("vector")].any()


def test_no_candidate_is_no_ranking() -> None:
    nothing = Features((), np.zeros((0, len(FEATURES))), 0.0, 0.0)

    assert Scorer(SETTINGS).rank(nothing).ids == []
    assert Scorer(SETTINGS).contributions(nothing).shape == (0, len(FEATURES))
    assert graph_share(Scorer(SETTINGS).contributions(nothing)) == 0.0


@pytest.mark.parametrize("table", ["unnamed", "confident", "named"])
def test_a_feature_that_there_is_not_is_refused_by_name(table: str) -> None:
    tables = {"unnamed": {}, "confident": {}, "named": {}, table: {"cosin": 1.0}}

    with pytest.raises(ConfigurationError, match=rf"\[scorer.{table}\] weighs cosin, which") as caught:
        Scorer(ScorerSettings.model_validate(tables))

    assert all(feature in caught.value.fix for feature in FEATURES)


def test_the_shipped_settings_weigh_every_feature_and_none_against_a_candidate() -> None:
    tables = (SHIPPED.unnamed, SHIPPED.confident, SHIPPED.named)

    assert {name for table in tables for name in table} == set(FEATURES)
    assert all(weight >= 0 for table in tables for weight in table.values())
    assert SHIPPED.unnamed.keys().isdisjoint({"about_named", "about_linked"}), "which need a name"


def test_without_a_reranker_scores_are_those_of_the_other_features_to_the_bit() -> None:
    """A matrix with a further column of zeros multiplies in another order, and equal scores may part by it."""
    draw = np.random.default_rng(1)
    for count in range(1, 80):
        matrix = draw.normal(size=(count, len(FEATURES)))
        matrix[:, -1] = 0
        scorer, ids = Scorer(SHIPPED), tuple(map(str, range(count)))

        found = scorer.rank(Features(ids, matrix, 0.7, 0.4)).scores

        expected = np.ascontiguousarray(matrix[:, :-1]) @ scorer.weights(0.7, 0.4)[:-1]
        assert [found[id_] for id_ in ids] == expected.tolist()
