"""LEARNS_FROM and SIBLING by the log: what it counts, that chance proposes nothing, and that files come first."""

from __future__ import annotations

import random
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pipeline.domains.routing.learn.log import Entry
from pipeline.domains.routing.learn.notes import Sources
from pipeline.domains.routing.learn.proposals import detect
from pipeline.domains.routing.learn.together import asking_clues, opening_clues, surprise
from pipeline.domains.routing.schema import Project
from pipeline.domains.routing.settings import RoutingSettings
from pipeline.settings import load_settings
from tests.domains.routing.detected import write

START = datetime(2026, 1, 1, tzinfo=UTC)
SETTINGS = load_settings().section(RoutingSettings)


def entry(opened: str, *asked: str, hours: float = 0.0) -> Entry:
    return Entry(START + timedelta(hours=hours), "projects", opened, asked)


def sittings(*opened: Iterable[str]) -> list[Entry]:
    """A sitting a day, with the projects opened in it."""
    return [entry(one, hours=24 * day) for day, projects in enumerate(opened) for one in projects]


def proposed(
    log: Iterable[Entry],
    projects: Iterable[Project | str] = ("dojo", "patina", "SDL"),
    least: float = SETTINGS.proposed,
) -> dict[tuple[str, str, str], float]:
    known = [Project(one) if isinstance(one, str) else one for one in projects]
    found = detect(known, Sources(log=tuple(log)))
    return {
        (one.relation.source, str(one.relation.type), one.relation.target): one.confidence
        for one in found
        if one.confidence >= least
    }


def test_a_project_that_was_asked_for_three_times_from_another_is_learned_from() -> None:
    log = [entry("patina", "dojo", hours=hour) for hour in range(3)]

    assert proposed(log[:2]) == {}
    assert proposed(log) == {("patina", "learns_from", "dojo"): 0.3}
    assert proposed(log * 50) == {("patina", "learns_from", "dojo"): 0.3}


def test_projects_that_are_asked_for_together_are_siblings() -> None:
    assert proposed([entry("", "SDL", "dojo")] * 3) == {("SDL", "sibling", "dojo"): 0.3}


def test_projects_that_are_opened_in_the_same_sittings_are_siblings() -> None:
    assert proposed(sittings(*[("patina", "dojo")] * 2)) == {}
    assert proposed(sittings(*[("patina", "dojo")] * 3)) == {("dojo", "sibling", "patina"): 0.3}


def test_a_pause_ends_a_sitting() -> None:
    log = [
        entry(project, hours=24 * day + place * pause)
        for day in range(9)
        for place, project in enumerate(("patina", "dojo"))
        for pause in (0.6,)
    ]

    assert proposed(log) == {}


def test_a_project_that_is_always_open_is_no_sibling_of_all_others() -> None:
    days = [("patina", "dojo" if day % 6 == 0 else "SDL" if day % 6 == 1 else "patina") for day in range(60)]

    assert opening_clues(sittings(*days)) == {}


def test_what_the_log_says_of_a_project_that_is_gone_counts_nothing() -> None:
    log = [entry("gone", "dojo"), entry("patina", "gone", "dojo")] * 5

    assert proposed(log) == {("patina", "learns_from", "dojo"): 0.3}


def test_without_a_project_that_asks_nothing_is_learned_from() -> None:
    assert asking_clues([entry("", "dojo")] * 9) == {}


def test_the_log_adds_to_what_files_and_domains_say_and_never_outranks_them(tmp_path: Path) -> None:
    manifest = '[project]\nname = "patina"\ndependencies = ["requests"]\n'
    write(tmp_path, {"pyproject.toml": manifest, "tests/a.py": "import dojo\n"})
    projects = [
        Project("patina", path=str(tmp_path), domains=("cairo",)),
        Project("dojo", domains=("cairo", "games", "worlds")),
        Project("SDL"),
        Project("requests"),
    ]
    log = [entry("patina", "SDL", "dojo")] * 9 + sittings(*[("patina", "dojo")] * 9)

    without, together = proposed([], projects, 0.0), proposed(log, projects, 0.0)

    sibling = ("dojo", "sibling", "patina")
    assert together[sibling] == pytest.approx(1 - 0.7 * (1 - without[sibling]), abs=0.001)
    assert without.items() - {(sibling, without[sibling])} <= together.items()
    added = together.keys() - without.keys()
    assert added == {
        ("patina", "learns_from", "SDL"),
        ("patina", "learns_from", "dojo"),
        ("SDL", "sibling", "dojo"),
    }
    assert max(together[one] for one in added) <= without["patina", "uses", "dojo"] == 0.3
    order = list(together)
    assert max(map(order.index, without)) < min(map(order.index, added))
    assert max(together[one] for one in added) < SETTINGS.auto_accept


def test_a_proposal_shows_what_the_log_says() -> None:
    log = [entry("patina", "dojo", hours=24 * day) for day in range(3)]

    (found,) = detect([Project("dojo"), Project("patina")], Sources(log=tuple(log)))

    assert (found.detector, found.evidence) == ("log", ("log: asked for 3 times, last 2026-01-03",))


def test_the_surprise_is_that_of_dunning() -> None:
    # The first rows of the table in his paper: "the swiss", "can be", "previous year", with the counts behind them.
    assert surprise(110, 2442 + 110, 111 + 110, 2442 + 110 + 111 + 29114) == pytest.approx(270.72, abs=0.01)
    assert surprise(29, 13 + 29, 123 + 29, 13 + 29 + 123 + 31612) == pytest.approx(263.90, abs=0.01)
    assert surprise(5, 5, 5, 5) == 0


def simulated(seed: int, related: float, number: int = 60) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """Return three pairs of 20 projects, of which one opens both with a probability, and the pairs that are proposed.

    Projects are opened by Zipf's law, one to eight of them in a sitting.
    """
    rng = random.Random(seed)  # noqa: S311 - no secret
    names = [f"{place:02}" for place in range(20)]
    weights = [1 / (place + 1) for place in range(20)]
    chosen = rng.sample(names, 6)
    pairs = {(min(two), max(two)) for two in zip(chosen[::2], chosen[1::2], strict=True)}
    partner = {one: other for two in pairs for one, other in (two, two[::-1])}
    days = []
    for _ in range(number):
        opened = set()
        for _ in range(1 + min(int(rng.expovariate(1 / 1.5)), 7)):
            (one,) = rng.choices(names, weights)
            opened |= {one, partner[one]} if one in partner and rng.random() < related else {one}
        days.append(opened)
    found = {pair for pair, clue in opening_clues(sittings(*days)).items() if clue.strength >= SETTINGS.proposed}
    return pairs, found


def test_projects_that_belong_together_are_found_and_chance_proposes_next_to_nothing() -> None:
    related = [simulated(seed, 0.5) for seed in range(100)]
    unrelated = [simulated(seed, 0.0)[1] for seed in range(100)]

    assert sum(len(pairs & found) for pairs, found in related) / 300 > 0.6
    assert sum(len(found - pairs) for pairs, found in related) / 100 < 0.2
    assert sum(map(len, unrelated)) / 100 < 0.2
