"""Routing that learns from use: weights as a function of judgements, and a simulation of many rounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from functools import cache
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.domains.routing.learn.usage import HALF_LIFE, HIGHEST, LOWEST, Judgement, learned_weight
from pipeline.domains.routing.schema import EdgeKey, RelationType
from tests.domains.routing.simulate import START, Round, Simulation, World

EDGE = EdgeKey("patina", "dojo", RelationType.USES)
NOW = datetime(2026, 3, 1, tzinfo=UTC)


POPULARITY = {
    "web": 0.30,
    "store": 0.20,
    "parser": 0.15,
    "shell": 0.10,
    "fonts": 0.10,
    "audio": 0.08,
    "maps": 0.05,
    "mail": 0.02,
} | {f"wrong{number}": 0.0 for number in range(5)}
RARE = ("audio", "maps", "mail")
WRONG = tuple(name for name, share in POPULARITY.items() if not share)
SEEDS = range(3)
ROUNDS = 100

events = st.lists(
    st.builds(
        Judgement,
        query=st.sampled_from([f"question {number}" for number in range(8)]),
        rank=st.integers(1, 50),
        useful=st.booleans(),
        time=st.integers(0, 1000).map(lambda days: NOW - timedelta(days=days)),
    ),
    max_size=30,
)
bases = st.floats(0.01, 1.0)


def used(query: str = "q", rank: int = 1, days: float = 0.0, *, useful: bool = True) -> Judgement:
    return Judgement(NOW - timedelta(days=days), useful, rank, query)


def weight(events: Sequence[Judgement], base: float = 1.0, now: datetime = NOW) -> float:
    return learned_weight(EDGE, base, events, now).weight


def share(rounds: Sequence[Round], names: Sequence[str] = ()) -> float:
    """The share of questions, of those that some projects answer, that were routed right."""
    chosen = names or tuple(POPULARITY)
    right = sum(one.right.get(name, 0) for one in rounds for name in chosen)
    return right / sum(one.asked.get(name, 0) for one in rounds for name in chosen)


@cache
def simulated(seed: int, rejects: float, attention: float = 0.5, *, learns: bool = True) -> list[Round]:
    return Simulation(World(POPULARITY, rejects=rejects, attention=attention), seed, learns=learns).run(ROUNDS)


@given(events, bases)
def test_a_weight_stays_within_its_bounds(events: list[Judgement], base: float) -> None:
    assert base * LOWEST <= weight(events, base) <= base * HIGHEST


@given(events, bases, st.randoms())
def test_the_order_of_judgements_does_not_matter(events: list[Judgement], base: float, random: object) -> None:
    shuffled = sorted(events, key=lambda _: random.random())  # type: ignore[attr-defined]

    assert weight(shuffled, base) == weight(events, base)


@given(events, events)
def test_a_repeated_record_changes_nothing(events: list[Judgement], more: list[Judgement]) -> None:
    assert weight([*events, *more, *events]) == weight([*events, *more])


@given(st.lists(st.integers(1, 50), min_size=1, max_size=20), st.booleans(), st.integers(0, 400))
def test_a_weight_decays_towards_its_base(ranks: list[int], useful: bool, days: int) -> None:
    events = [used(f"q{number}", rank, useful=useful) for number, rank in enumerate(ranks)]
    soon, later = (abs(weight(events, now=NOW + timedelta(days=age)) - 1) for age in (days, days + 30))

    assert later < soon


@given(events, st.integers(1, 50))
def test_a_useful_answer_strengthens_and_a_useless_one_weakens(events: list[Judgement], rank: int) -> None:
    before = weight(events)

    assert weight([*events, used("another", rank)]) > before
    assert weight([*events, used("another", rank, useful=False)]) < before


def test_one_judgement_moves_little_and_more_at_a_low_rank_up_to_a_bound() -> None:
    by_rank = [weight([used(rank=rank)]) for rank in (1, 2, 8, 9, 50)]

    assert weight([], 0.4) == 0.4
    assert 1 < by_rank[0] < by_rank[1] < by_rank[2] < by_rank[3] == by_rank[4] < 1.2
    assert by_rank[0] < 1.1
    assert 0.75 < weight([used(rank=50, useful=False)]) < 1


def test_a_judgement_loses_half_of_its_mass_in_a_half_life_whatever_its_time_zone() -> None:
    east = NOW.astimezone(timezone(timedelta(hours=9)))

    assert learned_weight(EDGE, 1.0, [used(days=HALF_LIFE)], NOW).useful == pytest.approx(0.5)
    assert weight([used(days=-5)]) == weight([used()])  # from the future: as one of now
    assert weight([replace(used(), time=east)], now=east) == weight([used()])


def test_repeating_one_question_counts_once_and_its_newest_judgement_wins() -> None:
    repeated = [used("same", days=age) for age in range(50)]

    assert weight(repeated) == weight([used("same")])
    assert weight([*repeated, used("same", days=-1, useful=False)]) < 1


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("rejects", [0.0, 0.3])
def test_routing_improves_with_use_and_settles(seed: int, rejects: float) -> None:
    rounds = simulated(seed, rejects)

    middle, last = share(rounds[40:70]), share(rounds[70:])
    assert last > share(simulated(seed, rejects, learns=False)) + 0.05
    assert abs(last - middle) < 0.05


@pytest.mark.parametrize("rejects", [0.0, 0.3])
def test_the_share_of_right_routes_rises_over_the_rounds(rejects: float) -> None:
    first, last = (
        mean(share(simulated(seed, rejects)[chosen]) for seed in SEEDS) for chosen in (slice(3), slice(30, None))
    )

    assert last > first + 0.01


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("rejects", [0.0, 0.3])
def test_no_edge_runs_away(seed: int, rejects: float) -> None:
    rounds = simulated(seed, rejects)

    weights = [weight for one in rounds for weight in one.weights.values()]
    assert min(weights) >= LOWEST
    assert max(weights) <= HIGHEST
    assert max(abs(rounds[-1].weights[name] - rounds[-30].weights[name]) for name in POPULARITY) < 0.25


@pytest.mark.parametrize("seed", SEEDS)
def test_a_wrong_edge_that_was_lucky_decays_back(seed: int) -> None:
    simulation = Simulation(World(POPULARITY), seed)
    simulation.events["wrong0"] += [replace(used(f"luck {number}"), time=START) for number in range(20)]
    lucky = simulation.weights()

    rounds = simulation.run(ROUNDS)

    assert lucky["wrong0"] > 1.5
    assert rounds[-1].weights["wrong0"] < 0.6
    assert rounds[-1].weights["wrong0"] < min(rounds[-1].weights[name] for name in ("web", "store", "parser"))


def test_luck_is_forgotten_though_nobody_rejects_an_answer() -> None:
    simulation = Simulation(World(POPULARITY, rejects=0.0), questions=10)
    simulation.events["wrong0"] += [replace(used(f"luck {number}"), time=START) for number in range(20)]

    rounds = simulation.run(6 * int(HALF_LIFE))

    assert rounds[0].weights["wrong0"] > 1.5
    assert rounds[-1].weights["wrong0"] < 1.05


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("rejects", [0.0, 0.3])
def test_a_popular_edge_does_not_starve_the_others(seed: int, rejects: float) -> None:
    rounds, fixed = simulated(seed, rejects)[40:], simulated(seed, rejects, learns=False)[40:]

    assert share(rounds, RARE) > share(fixed, RARE) - 0.06
    assert all(sum(one.right.get(name, 0) for one in rounds[-40:]) for name in RARE)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_right_edge_with_a_low_base_recovers(seed: int) -> None:
    rounds = Simulation(World(POPULARITY, base={"store": 0.4}), seed).run(ROUNDS)

    assert rounds[-1].weights["store"] > 0.4
    assert share(rounds[70:], ["store"]) > share(rounds[:5], ["store"])


@pytest.mark.slow
@pytest.mark.parametrize("attention", [0.0, 1.5])
def test_users_of_another_attention_than_assumed_do_no_harm(attention: float) -> None:
    learned, fixed = (
        mean(share(simulated(seed, 0.3, attention, learns=learns)[40:]) for seed in SEEDS) for learns in (True, False)
    )

    assert learned > fixed + 0.03


def test_when_nobody_asks_all_weights_return_to_their_base() -> None:
    simulation = Simulation(World(POPULARITY, base={"mail": 0.5}), days=5)
    simulation.run(20)

    rounds = simulation.run(80, asking=False)

    assert rounds[-1].weights == pytest.approx(dict.fromkeys(POPULARITY, 1.0) | {"mail": 0.5}, rel=0.05)
