"""The features that candidates are scored by: their shape, what they hold, and that the scorer weighs them by name."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from pipeline.errors import ConfigurationError
from pipeline.records import EdgeKind
from pipeline.retrieve.features import FEATURES, Evidence, candidates, features
from pipeline.retrieve.fuse import Ranked
from pipeline.retrieve.neighbourhood import ChunkLink, Mentions, Neighbourhood
from pipeline.retrieve.scorer import Scorer
from pipeline.retrieve.seeds import NamedEntity, Strength
from pipeline.settings import ScorerSettings, load_settings

HERE = Neighbourhood(
    100,
    {"ada": Mentions(2, {"c1": True, "c2": False}), "ben": Mentions(4, {"c1": False, "c3": True})},
    (ChunkLink("c1", "c4", EdgeKind.REFERS_TO, 0.5), ChunkLink("c2", "c1", EdgeKind.LINKS_TO, 1.0)),
)
EVIDENCE = Evidence(
    vector=Ranked("vector", {"c1": 0.8, "c2": 0.6}),
    words=Ranked("fulltext", {"c2": 4.0, "c3": 1.0}),
    hybrid=Ranked("hybrid", {"c2": 0.03, "c1": 0.02}),
    walk=Ranked("graph", {"c1": 0.4, "c3": 0.1}),
    names=(NamedEntity("ada", "ada", "Ada", 2, None, titled=True),),
    neighbourhood=HERE,
)
IDS = ["c1", "c2", "c3", "c4"]


def column(name: str, evidence: Evidence = EVIDENCE) -> list[float]:
    values: list[float] = features(IDS, evidence)[:, FEATURES.index(name)].tolist()
    return values


def test_candidates_are_the_first_of_hybrid_and_of_the_walk_each_once() -> None:
    assert candidates(EVIDENCE, 2) == ["c2", "c1", "c3"]
    assert candidates(EVIDENCE, 1) == ["c2", "c1"]


def test_every_candidate_has_a_finite_value_of_each_feature() -> None:
    matrix = features(IDS, EVIDENCE)

    assert matrix.shape == (4, len(FEATURES))
    assert np.isfinite(matrix).all()


def test_the_legs_tell_their_scores_and_ranks() -> None:
    assert column("cosine") == [0.8, 0.6, 0.6, 0.6]
    assert column("cosine_fall") == pytest.approx([0.0, -0.2, -0.2, -0.2])
    assert column("walk_rank") == pytest.approx([1 / 6, 0.0, 1 / 7, 0.0])
    assert column("words_rank") == pytest.approx([0.0, 1 / 6, 1 / 7, 0.0])


def test_what_is_about_a_name_of_the_question_says_how_rare_that_is() -> None:
    assert column("about_named") == pytest.approx([math.log(1 + 100 / 2) / math.log(101), 0.0, 0.0, 0.0])


def test_a_name_that_one_chunk_alone_mentions_counts_as_well() -> None:
    once = NamedEntity("cleo", "cleo", "Cleo", 1, "c4", titled=True)

    assert column("about_named", replace(EVIDENCE, names=(once,)))[3] == pytest.approx(1.0)


def test_what_the_first_of_the_walk_lead_to_is_told() -> None:
    assert column("about_linked") == pytest.approx([0.0, 0.0, math.log(1 + 100 / 4) / math.log(101), 0.0])
    assert column("referred_to") == [0.0, 0.0, 0.0, 0.5]
    assert column("refers_back") == [0.0, 1.0, 0.0, 0.0]


def test_nothing_found_is_no_candidate() -> None:
    nothing = Ranked("x", {})
    empty = Evidence(nothing, nothing, nothing, nothing, (), Neighbourhood(0, {}, ()))

    assert candidates(empty, 5) == []


def test_the_scorer_weighs_by_name_and_by_the_strength_of_the_evidence() -> None:
    scorer = Scorer(ScorerSettings(titled={"cosine": 2.0}, untitled={"words_rank": 1.0}))
    matrix = features(IDS, EVIDENCE)

    assert scorer.rank(IDS, matrix, Strength.TITLED).scores == pytest.approx(
        {"c1": 1.6, "c2": 1.2, "c3": 1.2, "c4": 1.2}
    )
    assert scorer.rank(IDS, matrix, Strength.RARE).ids == ["c2", "c3", "c1", "c4"]


def test_a_feature_that_there_is_not_is_refused_by_name() -> None:
    with pytest.raises(ConfigurationError, match="cosin, which") as caught:
        Scorer(ScorerSettings(titled={"cosin": 1.0}, untitled={}))

    assert "cosine" in caught.value.fix


def test_the_shipped_settings_weigh_every_feature() -> None:
    shipped = load_settings().scorer

    assert shipped.titled.keys() == shipped.untitled.keys() == set(FEATURES)
