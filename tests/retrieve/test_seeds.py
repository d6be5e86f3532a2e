"""Seeds: how the walk's restart is shared out among the first hits and the names in the question."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.retrieve.fuse import Ranked
from pipeline.retrieve.seeds import NamedEntity, plant
from pipeline.settings import WalkSettings, load_settings

WALK = load_settings().walk


def hits(count: int) -> Ranked:
    return Ranked("hybrid", {f"c{place}": 1.0 / place for place in range(1, count + 1)})


def entity(id_: str, frequency: int, only_chunk: str | None = None) -> NamedEntity:
    return NamedEntity(id_, id_, frequency, only_chunk)


def walk(**changed: float) -> WalkSettings:
    return WALK.model_copy(update=changed)


def test_without_names_the_hits_weigh_gently_by_rank() -> None:
    seeds = plant(hits(3), [], 100, walk(steepness=2.0, steepness_unnamed=1.0))

    whole = 1 + 1 / 2 + 1 / 3
    assert seeds.chunks == pytest.approx({"c1": 1 / whole, "c2": 1 / 2 / whole, "c3": 1 / 3 / whole})
    assert (seeds.entities, seeds.named) == ({}, False)


def test_with_names_the_hits_weigh_steeply_and_the_names_by_rarity() -> None:
    names = [entity("rare", 2), entity("common", 50)]
    seeds = plant(hits(2), names, 100, walk(steepness=2.0, names=3.0))

    rare, common = math.log(1 + 100 / 2), math.log(1 + 100 / 50)
    assert seeds.chunks == pytest.approx({"c1": 0.8 / 4, "c2": 0.2 / 4})
    assert seeds.entities == pytest.approx(
        {"rare": 3 / 4 * rare / (rare + common), "common": 3 / 4 * common / (rare + common)}
    )
    assert seeds.named


def test_the_share_of_a_name_that_one_chunk_alone_mentions_goes_to_that_chunk() -> None:
    seeds = plant(hits(1), [entity("once", 1, "c9"), entity("also", 1, "c1")], 10, walk(names=3.0))

    assert seeds.entities == {}
    assert seeds.chunks == pytest.approx({"c1": (1 + 1.5) / 4, "c9": 1.5 / 4})
    assert seeds.named


def test_only_the_first_hits_are_seeds() -> None:
    assert list(plant(hits(50), [], 100, walk(chunk_seeds=4)).chunks) == ["c1", "c2", "c3", "c4"]


def test_the_ids_come_heaviest_first_with_ties_by_id() -> None:
    seeds = plant(hits(1), [entity("b", 5), entity("a", 5)], 10, walk(names=3.0))

    assert seeds.ids == ["a", "b", "c1"]


def test_nothing_found_is_no_seeds() -> None:
    seeds = plant(hits(0), [], 0, WALK)

    assert (seeds.chunks, seeds.entities, seeds.ids) == ({}, {}, [])


@given(st.integers(0, 30), st.lists(st.tuples(st.integers(1, 40), st.booleans()), max_size=6))
def test_weights_are_positive_and_sum_to_one(count: int, found: list[tuple[int, bool]]) -> None:
    names = [
        entity(f"e{number}", 1 if alone else frequency + 1, f"c{number}" if alone else None)
        for number, (frequency, alone) in enumerate(found)
    ]
    seeds = plant(hits(count), names, 50, WALK)
    weights = [*seeds.chunks.values(), *seeds.entities.values()]

    assert all(weight > 0 for weight in weights)
    assert sum(weights) == pytest.approx(1 if count or names else 0)
