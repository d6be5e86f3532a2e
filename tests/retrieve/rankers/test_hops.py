"""The k-hop leg: what each kind of link passes on."""

from __future__ import annotations

import math

import pytest

from pipeline.edges import EdgeKind
from pipeline.retrieve.expansion import ChunkLink, Mentions, Neighbourhood
from pipeline.retrieve.rankers.hops import rank_by_hops
from pipeline.retrieve.seeds import Seeds

SEEDS = Seeds({"c1": 0.4, "c2": 0.2}, {"ada": 0.4})


def hops(*links: ChunkLink, limit: int = 10, **entities: Mentions) -> dict[str, float]:
    return dict(rank_by_hops(Neighbourhood(100, entities, links), SEEDS, limit).scores)


def test_a_name_in_the_question_gives_its_weight_and_double_to_what_is_about_it() -> None:
    found = hops(ada=Mentions(2, {"c8": True, "c9": False}))

    assert found == pytest.approx({"c8": 0.8, "c9": 0.4, "c1": 0.4, "c2": 0.2})


def test_a_name_that_a_seed_mentions_passes_on_a_share_that_falls_with_its_frequency() -> None:
    found = hops(ben=Mentions(4, {"c1": False, "c9": False}))

    share = math.log(1 + 100 / 4) / (1 + math.log(100)) / 4
    assert found["c9"] == pytest.approx(0.4 * share)
    assert found["c1"] == pytest.approx(0.4)


def test_a_link_leads_to_its_target_and_less_so_back() -> None:
    found = hops(ChunkLink("c1", "c8", EdgeKind.REFERS_TO, 0.5), ChunkLink("c9", "c1", EdgeKind.LINKS_TO, 1.0))

    assert (found["c8"], found["c9"]) == pytest.approx((0.4 * 0.5, 0.4 * 0.5))


def test_what_is_near_or_next_gains_a_little() -> None:
    found = hops(ChunkLink("c1", "c8", EdgeKind.SIMILAR, 0.9), ChunkLink("c1", "c9", EdgeKind.NEXT, 1.0))

    assert (found["c8"], found["c9"]) == pytest.approx((0.4 * 0.09, 0.4 * 0.05))


def test_only_the_best_are_kept() -> None:
    assert list(hops(limit=1)) == ["c1"]
