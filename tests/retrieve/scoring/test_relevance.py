"""The relevance of hits: a probability that rises with each sign, told from what a search has, and absent without."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import ConfigurationError, QuestionError
from pipeline.records import Hit
from pipeline.retrieve.chance import Chance, chance_of
from pipeline.retrieve.expansion import Neighbourhood
from pipeline.retrieve.fusion import Ranked, ranked
from pipeline.retrieve.results import RetrieverResult, RetrieverResultItem, unknown
from pipeline.retrieve.scoring.confidence import NamedEntity
from pipeline.retrieve.scoring.coverage import Passage
from pipeline.retrieve.scoring.features import compute_features
from pipeline.retrieve.scoring.relevance import (
    Evidence,
    HitSigns,
    QuestionSigns,
    RelevanceJudge,
    check_relevance,
    reasons_of,
    shares_of_words,
)
from pipeline.settings import load_settings

SHIPPED = load_settings().weights.relevance
JUDGE = RelevanceJudge(SHIPPED)
CHANCE = Chance(0.2, 0.05)
NOTHING = Ranked("", {})
QUESTION = "Who founded the yard at Seabright?"


def hit(id_: str, rank: int, text: str = "Ruben founded the yard.", title: str = "Seabright") -> Hit:
    return Hit(id_, text, "d", title, "", "", 0, 0, len(text), 1, 1, {}, rank=rank)


HITS = (hit("c1", 1), hit("c2", 2, "The smoker calms bees."), hit("c3", 3, "Fog."))
NEAR = Evidence(
    QUESTION,
    ranked("vector", {"c1": 0.7, "c2": 0.5, "c3": 0.3}),
    ranked("fulltext", {"c1": 9.0, "c2": 2.0}),
    ranked("scorer", {"c1": 6.0, "c2": 1.0, "c3": -1.0}),
    0.8,
    HITS,
    CHANCE,
)
FAR = replace(
    NEAR,
    vector=ranked("vector", {"c1": 0.22, "c2": 0.2, "c3": 0.1}),
    fulltext=ranked("fulltext", {"c3": 1.0}),
    confidence=0.0,
    first=HITS[2:],
)
scores = st.dictionaries(st.sampled_from(["c1", "c2", "c3", "c4"]), st.floats(-1, 40), max_size=4)


@given(
    st.text(max_size=30), scores, scores, scores, st.floats(0, 1), st.sampled_from([None, CHANCE, Chance(-0.1, 0.01)])
)
def test_relevance_is_a_probability_whatever_the_evidence(
    question: str,
    vector: dict[str, float],
    fulltext: dict[str, float],
    scored: dict[str, float],
    confidence: float,
    chance: Chance | None,
) -> None:
    legs = ranked("vector", vector), ranked("fulltext", fulltext), ranked("scorer", scored)
    relevances = JUDGE.judge(Evidence(question, *legs, confidence, HITS, chance), HITS)

    assert all(0 <= value <= 1 for value in relevances.values())
    assert set(relevances) in (set(), {"c1", "c2", "c3"})


@pytest.mark.parametrize(("about", "signs_of"), [("question", QuestionSigns), ("hit", HitSigns)])
@given(st.lists(st.floats(-5, 30), min_size=4, max_size=4), st.integers(0, 3), st.floats(0, 10))
def test_more_of_any_sign_makes_it_more_likely(
    about: str, signs_of: type[Any], signs: list[float], which: int, more: float
) -> None:
    higher = [sign + more * (place == which) for place, sign in enumerate(signs)]
    count = len(signs_of._fields)

    for table in (about, f"{about}_by_meaning", f"{about}_by_words"):
        low, high = (JUDGE.probability(table, signs_of(*some[:count])) for some in (signs, higher))
        assert low <= high


def test_what_is_near_in_meaning_and_words_is_relevant_and_what_chance_brings_is_not() -> None:
    known = load_settings().retrieve.known_relevance

    assert JUDGE.judge(NEAR, HITS)["c1"] > 0.5
    assert all(value < known for value in JUDGE.judge(FAR, HITS).values())


@given(st.floats(0.1, 3), st.floats(-0.5, 0.5))
def test_the_scale_of_a_model_does_not_matter(spread: float, shift: float) -> None:
    vector = {id_: shift + spread * score for id_, score in NEAR.vector.scores.items()}
    chance = Chance(shift + spread * CHANCE.mean, spread * CHANCE.deviation)
    other = replace(NEAR, vector=ranked("vector", vector), chance=chance)

    assert JUDGE.judge(other, HITS) == pytest.approx(JUDGE.judge(NEAR, HITS))


def test_the_same_cosine_says_less_where_chance_brings_as_much() -> None:
    varied = replace(NEAR, chance=Chance(0.5, 0.1))

    assert JUDGE.judge(varied, HITS)["c2"] < JUDGE.judge(NEAR, HITS)["c2"]


@pytest.mark.parametrize(
    "less",
    [
        {"question": "", "fulltext": NOTHING},
        {"vector": NOTHING, "chance": None},
        {"chance": None},
        {"scores": NOTHING},
        {"fulltext": NOTHING},
    ],
)
def test_less_evidence_still_tells_a_relevant_hit_from_an_irrelevant_one(less: dict[str, Any]) -> None:
    near, far = (JUDGE.judge(replace(evidence, **less), HITS) for evidence in (NEAR, FAR))

    assert near["c1"] > 2 * far["c1"]


def test_without_a_vector_and_without_full_text_nothing_is_told() -> None:
    assert JUDGE.judge(replace(NEAR, vector=NOTHING, fulltext=NOTHING), HITS) == {}
    assert JUDGE.judge(replace(NEAR, question="", chance=None), HITS) == {}


def test_a_hit_that_vector_did_not_find_counts_as_its_last() -> None:
    (known, lost) = replace(NEAR, vector=ranked("vector", {"c1": 0.7, "c3": 0.3})).of_hits(HITS[:2])

    assert known.meaning == pytest.approx(10)
    assert lost.meaning == pytest.approx(2)


def test_words_count_in_title_and_text_alike() -> None:
    assert shares_of_words(QUESTION, HITS) == pytest.approx([1.0, 1 / 3, 1 / 3])
    assert shares_of_words("???", HITS) == [0.0, 0.0, 0.0]


def test_words_that_the_scorer_counted_are_not_counted_again() -> None:
    question, hits = (
        "Who founded Café Müller's yard?",
        (*HITS, hit("c4", 4, "CAFÉ MÜLLER, founded\n\u0301 late.", "Yard")),
    )
    passages = {one.id: Passage(one.text, one.title, one.heading, one.document) for one in hits}
    held = compute_features(question, (), passages, (NOTHING,) * 3, (), Neighbourhood(10, {}, ())).held

    assert list(held.values()) == shares_of_words(question, hits)
    asked = replace(NEAR, question=question, first=hits)
    assert replace(asked, held=held).of_question() == asked.of_question()
    assert replace(asked, held=dict.fromkeys(held, 0.125)).of_question().share == 0.125
    assert replace(asked, held={"c2": 0.0}).of_question() == asked.of_question()


def test_names_and_other_words_of_the_question_speak_for_a_hit() -> None:
    seabright = NamedEntity("e1", "seabright", "Seabright", 1, "c1", titled=True, confidence=0.8)
    reasons = reasons_of(NEAR, HITS, [seabright], Neighbourhood(10, {}, ()))

    assert reasons["c1"].names == ("Seabright",)
    assert reasons["c1"].words == ("founded", "yard")
    assert reasons["c1"].meaning == pytest.approx(10)
    assert reasons["c3"].names == ()
    assert reasons_of(replace(NEAR, chance=None), HITS, [], Neighbourhood(10, {}, ()))["c1"].meaning is None


@pytest.mark.parametrize("table", ["question", "hit_by_words"])
def test_a_weight_of_an_unknown_sign_is_refused_by_name(table: str) -> None:
    with pytest.raises(ConfigurationError, match=f"relevance.{table}.*colour"):
        RelevanceJudge(SHIPPED.model_copy(update={table: {"intercept": 0.0, "colour": 1.0}}))


@pytest.mark.parametrize("least", [-0.1, 1.1, float("nan")])
def test_a_minimum_beyond_0_and_1_is_refused(least: float) -> None:
    with pytest.raises(QuestionError, match="min_relevance"):
        check_relevance(least)


def result(*relevances: float | None) -> RetrieverResult:
    hits = tuple(replace(hit(f"c{rank}", rank), relevance=value) for rank, value in enumerate(relevances, 1))
    told = [value for value in relevances if value is not None]
    metadata = {"corpus": "bees", "relevance": max(told, default=None if hits else 0.0)}
    return RetrieverResult(tuple(map(RetrieverResultItem.of, hits)), metadata, hits)


def test_hits_below_the_minimum_are_dropped_in_their_order_with_their_ranks() -> None:
    kept = result(0.4, 0.1, None, 0.2).above(0.2)

    assert [(one.id, one.rank) for one in kept.hits] == [("c1", 1), ("c3", 3), ("c4", 4)]
    assert [item.metadata["id"] for item in kept.items] == ["c1", "c3", "c4"]
    assert kept.metadata["relevance"] == 0.4
    assert len(result(0.0, None).above(0.0).items) == 2


@pytest.mark.parametrize(
    ("relevances", "warned"), [((0.03, 0.01), True), ((0.03, 0.3), False), ((None,), False), ((), False)]
)
def test_a_corpus_that_seems_to_know_nothing_is_named(relevances: tuple[float | None, ...], warned: bool) -> None:
    remarks = unknown(result(*relevances).metadata, 0.06)

    assert bool(remarks) == warned
    assert not warned or ("bees" in remarks[0] and "0.03" in remarks[0])


def test_messages_that_a_corpus_knows_about_do_not_raise_its_chance() -> None:
    usual = [0.1, 0.12, 0.14, 0.16, 0.18, 0.2]

    assert chance_of([*usual, 0.2, 0.2]) == chance_of([*usual, 0.8, 0.9])
    assert chance_of([]) is None
    assert (alike := chance_of([0.3] * 5)) is not None
    assert alike.beyond(0.4) == pytest.approx(10)
