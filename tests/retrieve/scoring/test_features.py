"""The features that candidates are scored by: their shape, and what each of them says."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.edges import EdgeKind
from pipeline.retrieve.chance import Chance
from pipeline.retrieve.expansion import ChunkLink, Mentions, Neighbourhood
from pipeline.retrieve.fusion import Ranked, ranked
from pipeline.retrieve.scoring.confidence import NamedEntity
from pipeline.retrieve.scoring.coverage import Passage
from pipeline.retrieve.scoring.features import (
    FEATURES,
    RERANKER,
    Evidence,
    Features,
    candidates_to_score,
    compute_features,
    feature_matrix,
    with_reranker,
)

ADA = NamedEntity("ada", "ada", "Ada", 2, None, titled=True, confidence=0.5)
HERE = Neighbourhood(
    100,
    {"ada": Mentions(2, {"c1": True, "c2": False}), "ben": Mentions(4, {"c1": False, "c3": True})},
    (ChunkLink("c1", "c4", EdgeKind.REFERS_TO, 0.5), ChunkLink("c2", "c1", EdgeKind.LINKS_TO, 1.0)),
)
PASSAGES = {
    "c1": Passage("Ada met Ben at the mill.", "Ada", "", "d1"),
    "c2": Passage("Ada crossed the river.", "Bridge", "", "d2"),
    "c3": Passage("Ben lived by the river.", "Ben", "", "d3"),
    "c4": Passage("It ground corn.", "Mill", "", "d4"),
}
EVIDENCE = Evidence(
    embedding=(0.6, 0.8),
    terms=("mill", "river"),
    named={},
    vector=Ranked("vector", {"c1": 0.8, "c2": 0.6}),
    fulltext=Ranked("fulltext", {"c2": 4.0, "c3": 1.0}),
    walk=Ranked("graph", {"c1": 0.4, "c3": 0.1}),
    names=(ADA,),
    neighbourhood=HERE,
)
BEN = math.log(1 + 100 / 4) / math.log(101)
"""How rare Ben is, whom the first and the third passage share."""


def column(name: str, evidence: Evidence = EVIDENCE, passages: Mapping[str, Passage] = PASSAGES) -> list[float]:
    values: list[float] = feature_matrix(passages, evidence)[:, FEATURES.index(name)].tolist()
    return values


def linked(*links: ChunkLink) -> Evidence:
    """Return the evidence where nothing ties the passages but links."""
    return replace(EVIDENCE, neighbourhood=Neighbourhood(100, {}, links))


def tie(one: str, other: str, kind: EdgeKind) -> dict[str, Any]:
    return {"neighbourhood": Neighbourhood(100, {}, (ChunkLink(one, other, kind, 1.0),))}


def test_candidates_are_the_first_of_hybrid_and_of_the_walk_each_once() -> None:
    hybrid = Ranked("hybrid", {"c2": 0.03, "c1": 0.02})

    assert candidates_to_score(hybrid, EVIDENCE.walk, 2) == ["c2", "c1", "c3"]
    assert candidates_to_score(hybrid, EVIDENCE.walk, 1) == ["c2", "c1"]
    assert candidates_to_score(Ranked("hybrid", {}), Ranked("graph", {}), 5) == []


def test_every_candidate_has_a_finite_value_of_each_feature() -> None:
    matrix = feature_matrix(PASSAGES, EVIDENCE)

    assert matrix.shape == (4, len(FEATURES))
    assert np.isfinite(matrix).all()
    assert feature_matrix({}, EVIDENCE).shape == (0, len(FEATURES))


CLEO = NamedEntity("cleo", "cleo", "Cleo", 1, "c4", titled=True, confidence=1.0)
BOTH = (ADA, NamedEntity("ben", "ben", "Ben", 4, None, titled=True, confidence=0.5))
SAME = {id_: replace(passage, document="d") for id_, passage in PASSAGES.items()}
CLOSE = PASSAGES | {"c2": replace(PASSAGES["c2"], text="A mill is on the river.")}


@pytest.mark.parametrize(
    ("name", "values"),
    [
        pytest.param("vector", [1.0, -1.0, -1.0, -1.0], id="its standard scores"),
        pytest.param("fulltext", [-1.0, 1.0, -1.0, -1.0], id="its standard scores"),
        pytest.param("walk", [1 / 6, 0.0, 1 / 7, 0.0], id="its ranks"),
        pytest.param("sentence", [1 / 2, 1 / 2, 1 / 2, 1 / 2], id="the share of the question that a sentence says"),
        pytest.param("about_named", [0.5 * math.log(1 + 100 / 2) / math.log(101), 0, 0, 0], id="how rare and sure"),
        pytest.param("about_linked", [0.0, 0.0, BEN, 0.0], id="about a name that the first mention"),
        pytest.param("document", [0.0] * 4, id="no other passage of a document"),
        pytest.param(RERANKER, [0.0] * 4, id="no reranker"),
    ],
)
def test_each_feature_tells(name: str, values: list[float]) -> None:
    assert column(name) == pytest.approx(values)


@pytest.mark.parametrize(
    ("name", "evidence", "values"),
    [
        pytest.param("sentence", {"named": {"river": 1.0}}, [1 / 2, 0, 0, 1 / 2], id="sure names are no words of it"),
        pytest.param("about_named", {"names": (CLEO,)}, [0, 0, 0, 1.0], id="a name that one chunk alone mentions"),
        pytest.param("about_named", {"names": (replace(CLEO, titled=False),)}, [0.0] * 4, id="and no title has"),
        pytest.param("about_linked", {"names": BOTH}, [0.0] * 4, id="the question's own names tie nothing"),
        pytest.param("covers_together", {"names": BOTH}, [0, 1 / 2, 0, 1 / 4], id="as above"),
        pytest.param("covers_together", tie("c1", "c4", EdgeKind.SIMILAR), [0.0] * 4, id="nor do similar texts"),
        pytest.param("covers_together", tie("c1", "c1", EdgeKind.REFERS_TO), [0.0] * 4, id="none comes before itself"),
        pytest.param(
            "covers_together",
            {"walk": Ranked("graph", {f"x{number}": 1.0 for number in range(8)} | {"c1": 0.5})},
            [0.0] * 4,
            id="only the first of the walk come before others",
        ),
        pytest.param(
            "covers_together",
            {"walk": Ranked("graph", {"c1": 0.4})},
            [0.0, 1 / 2, BEN, 1 / 4],
            id="what two say together weighs as much as their tie: a link back, Ben, or a link",
        ),
    ],
)
def test_each_feature_tells_of_other_evidence(name: str, evidence: dict[str, Any], values: list[float]) -> None:
    assert column(name, replace(EVIDENCE, **evidence)) == pytest.approx(values)


@pytest.mark.parametrize(
    ("name", "passages", "values"),
    [
        pytest.param("proximity", CLOSE, [0.0, 1.0, 0.0, 0.0], id="the share of pairs that stand close"),
        pytest.param("document", SAME, [1.0] * 4, id="the better score of its best other passage"),
        pytest.param("document", PASSAGES | {"c1": SAME["c1"], "c3": SAME["c3"]}, [0, 0, 1, 0], id="of two of four"),
    ],
)
def test_each_feature_tells_of_other_passages(name: str, passages: Mapping[str, Passage], values: list[float]) -> None:
    assert column(name, passages=passages) == pytest.approx(values)


def test_the_document_of_a_passage_has_a_say_in_its_vector_score() -> None:
    towards, away = (np.array(vector, dtype=np.float32) for vector in ((0.6, 0.8), (0.8, -0.6)))
    long = {**PASSAGES, "c2": replace(PASSAGES["c2"], centroid=towards), "c3": replace(PASSAGES["c3"], centroid=away)}

    scores = column("vector", passages=long)

    # The cosines of the leg are 0.7 on average, and deviate by 0.1: those of the centroids, 1 and 0, by 3 and -7.
    assert scores == pytest.approx([1.0, 0.7 * -1.0 + 0.3 * 3.0, 0.7 * -1.0 + 0.3 * -7.0, -1.0], abs=1e-5)
    assert column("document", passages=long) == column("document")


def test_cosines_count_by_what_chance_brings() -> None:
    towards = np.array((0.6, 0.8), dtype=np.float32)
    long = {**PASSAGES, "c2": replace(PASSAGES["c2"], centroid=towards)}

    def counted(chance: float | None, chunks: int = 100_000) -> float:
        evidence = replace(EVIDENCE, chance=chance, neighbourhood=replace(HERE, chunks=chunks))
        first, second = (column("vector", each, long) for each in (evidence, EVIDENCE))
        assert first == pytest.approx([score * first[0] / second[0] for score in second])
        assert column("document", evidence, long) == column("document", passages=long)
        return first[0] / second[0]

    # The ranking's deviation is 0.1, and 1.4 deviations of chance count as one.
    assert counted(0.1 / 1.4 / 1.5) == pytest.approx(1.5, abs=1e-3)
    assert counted(0.1 / 1.4) == pytest.approx(1.0)
    assert counted(0.001) == pytest.approx(2.0, abs=1e-3), "at most"
    assert counted(1.0) == pytest.approx(0.5, abs=1e-3), "at least"
    assert counted(None) == counted(0.001, chunks=2) == 1.0, "the ranking holds all chunks"
    assert 1.0 < counted(0.001, chunks=4) < 1.5


@given(st.floats(0.0, 0.9))
def test_pressed_cosines_with_pressed_chance_are_the_same_evidence(press: float) -> None:
    def features(shift: float, slope: float) -> list[list[float]]:
        vector = Ranked("vector", {id_: shift + slope * score for id_, score in EVIDENCE.vector.scores.items()})
        legs = (vector, EVIDENCE.fulltext, EVIDENCE.walk)
        chance = Chance(shift + slope * 0.2, slope * 0.04)
        matrix: list[list[float]] = compute_features(
            "mill river", (), PASSAGES, legs, (ADA,), HERE, chance
        ).matrix.tolist()
        return matrix

    for row, pressed in zip(features(0.0, 1.0), features(press, 1 - press), strict=True):
        assert pressed == pytest.approx(row)


def test_a_leg_that_tells_nothing_apart_is_not_smoothed() -> None:
    centroid = np.array((0.6, 0.8), dtype=np.float32)
    long = {id_: replace(passage, centroid=centroid) for id_, passage in PASSAGES.items()}

    for vector in (Ranked("vector", {}), Ranked("vector", {"c1": 0.5})):
        assert column("vector", replace(EVIDENCE, vector=vector, embedding=()), long) == [0.0] * 4


def test_the_strongest_of_several_ties_counts() -> None:
    """The second is tied by 0.2 to the first, and says all with it, by 0.7 to the third, and says half with it."""
    both = linked(ChunkLink("c1", "c2", EdgeKind.REFERS_TO, 0.2), ChunkLink("c3", "c2", EdgeKind.LINKS_TO, 0.7))
    walk = Ranked("graph", {"c1": 0.4, "c3": 0.4})

    assert column("covers_together", replace(both, walk=walk))[1] == pytest.approx(0.7 * 1 / 2)
    assert column("covers_together", replace(both, walk=Ranked("graph", {"c1": 0.4})))[1] == pytest.approx(0.2)


def test_one_of_the_first_leads_by_its_share_of_the_walks_best_score() -> None:
    """Where the walk holds the first passage for a third of the third, what it names says a third as much."""
    strong, weak = (
        replace(EVIDENCE, walk=Ranked("graph", walk)) for walk in ({"c1": 0.3, "c4": 0.1}, {"c4": 0.3, "c1": 0.1})
    )

    assert column("about_linked", strong)[2] == pytest.approx(BEN)
    assert column("about_linked", weak)[2] == pytest.approx(BEN / 3)
    assert column("covers_together", weak)[2] == pytest.approx(column("covers_together", strong)[2] / 3)


def test_without_a_graph_only_the_legs_and_the_words_tell() -> None:
    nothing = replace(EVIDENCE, walk=Ranked("graph", {}), names=(), neighbourhood=Neighbourhood(0, {}, ()))

    assert np.flatnonzero(feature_matrix(PASSAGES, nothing).any(axis=0)).tolist() == [
        FEATURES.index(name) for name in ("vector", "fulltext", "sentence")
    ]


def test_a_question_is_examined_with_the_terms_of_its_names() -> None:
    legs = (EVIDENCE.vector, EVIDENCE.fulltext, EVIDENCE.walk)
    mill = NamedEntity("mill", "ada mill", "Ada Mill", 9, None, titled=False, confidence=0.8)

    question = "Which river is at the mill of Ada?"
    computed = compute_features(question, (0.6, 0.8), PASSAGES, legs, (ADA, mill), HERE)

    expected = Evidence((0.6, 0.8), ("river", "mill", "ada"), {"ada": 0.8, "mill": 0.8}, *legs, (ADA, mill), HERE)
    assert computed.ids == tuple(PASSAGES)
    assert computed.matrix == pytest.approx(feature_matrix(PASSAGES, expected))
    assert (computed.confidence, computed.named_share) == pytest.approx((0.8, 1.6 / 3))
    unnamed = compute_features("which river", (), PASSAGES, legs, (), HERE)
    assert (unnamed.confidence, unnamed.named_share) == (0.0, 0.0)


IDS = st.sampled_from(list(PASSAGES))
RANKINGS = st.dictionaries(IDS, st.floats(0, 1)).map(lambda scores: ranked("leg", scores))
LINKS = st.lists(st.builds(ChunkLink, IDS, IDS, st.sampled_from(EdgeKind), st.floats(0, 1)), max_size=5)
MENTIONS = st.dictionaries(
    st.sampled_from(["ada", "ben", "cleo"]), st.dictionaries(IDS, st.booleans()).map(lambda chunks: Mentions(5, chunks))
)


@given(st.text(), RANKINGS, RANKINGS, RANKINGS, MENTIONS, LINKS, st.lists(IDS, unique=True))
def test_all_but_the_standard_scores_are_no_less_than_0_and_few_more_than_1(
    question: str,
    vector: Ranked,
    fulltext: Ranked,
    walk: Ranked,
    mentions: dict[str, Mentions],
    links: list[ChunkLink],
    ids: list[str],
) -> None:
    here = Neighbourhood(50, mentions, tuple(links))

    passages = {id_: PASSAGES[id_] for id_ in ids}
    computed = compute_features(question, (), passages, (vector, fulltext, walk), (ADA,), here)

    values = dict(zip(FEATURES, computed.matrix.T, strict=True))
    unbounded = ("vector", "fulltext", "about_linked")
    assert np.isfinite(computed.matrix).all()
    assert all((values[name] >= 0).all() for name in FEATURES if name not in ("vector", "fulltext"))
    assert all((values[name] <= 1 + 1e-9).all() for name in FEATURES if name not in unbounded)
    assert 0 <= computed.named_share <= 1


READ = st.lists(st.integers(-1000, 1000), min_size=1, max_size=20)
"""A reranker's scores, of as many candidates as it read."""


def reranked(scores: list[float], unread: int = 0) -> list[float]:
    """Return the feature of candidates that were read, and then of those that weren't."""
    ids = tuple(f"c{number}" for number in range(len(scores) + unread))
    before = Features(ids, np.ones((len(ids), len(FEATURES))), 0.5, 0.5)
    after = with_reranker(before, dict(zip(ids, scores, strict=False)))
    others = [place for place, name in enumerate(FEATURES) if name != RERANKER]
    assert (after.matrix[:, others] == 1).all()
    assert (before.matrix == 1).all(), "not changed in place"
    values: list[float] = after.matrix[:, FEATURES.index(RERANKER)].tolist()
    return values


@given(READ, st.integers(0, 5))
def test_a_rerankers_scores_are_standard_scores_and_the_lowest_of_what_it_did_not_read(
    scores: list[float], unread: int
) -> None:
    told = reranked(scores, unread)
    values = np.array(told[: len(scores)])

    assert told[len(scores) :] == [values.min()] * unread
    if len(set(scores)) == 1:
        assert not values.any(), "it tells nothing apart"
    else:
        assert values.mean() == pytest.approx(0, abs=1e-9)
        assert values.std() == pytest.approx(1)
        assert np.array_equal(np.argsort(values, kind="stable"), np.argsort(scores, kind="stable"))


def test_scores_that_differ_by_rounding_tell_nothing_apart_and_no_scores_change_nothing() -> None:
    assert FEATURES[-1] == RERANKER, "the scorer adds the last one by itself"
    assert reranked([5.0, 5.0 + 1e-15, 5.0]) == [0.0, 0.0, 0.0]
    assert reranked([], unread=3) == [1.0] * 3


@given(READ, st.floats(0.01, 100), st.floats(-100, 100))
def test_a_models_scale_makes_no_difference(scores: list[float], scale: float, shift: float) -> None:
    other = reranked([scale * score + shift for score in scores])

    assert other == pytest.approx(reranked(scores), abs=1e-6)
