"""Seeds: how the walk's restart is shared out among the first hits and the names in the question."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.retrieve.fuse import Ranked
from pipeline.retrieve.seeds import NamedEntity, Strength, plant, weigh
from pipeline.settings import WalkSettings, load_settings

WALK = load_settings().walk
EVIDENCE = load_settings().evidence


def hits(count: int) -> Ranked:
    return Ranked("hybrid", {f"c{place}": 1.0 / place for place in range(1, count + 1)})


def entity(id_: str, frequency: int, only_chunk: str | None = None, *, titled: bool = True) -> NamedEntity:
    return NamedEntity(id_, id_, id_, frequency, only_chunk, titled)


def walk(**changed: float) -> WalkSettings:
    return WALK.model_copy(update=changed)


def test_where_names_are_weak_evidence_they_weigh_as_much_as_the_hits() -> None:
    seeds = plant(hits(3), [entity("dna", 40)], 100, EVIDENCE, walk(steepness=1.0, names=1.0)).seeds

    whole = 1 + 1 / 2 + 1 / 3
    assert seeds.chunks == pytest.approx({"c1": 1 / whole / 2, "c2": 1 / 2 / whole / 2, "c3": 1 / 3 / whole / 2})
    assert seeds.entities == pytest.approx({"dna": 1 / 2})


def test_where_names_are_good_evidence_they_weigh_more_each_by_its_rarity() -> None:
    names = [entity("rare", 2), entity("common", 50)]
    seeds = plant(hits(2), names, 100, EVIDENCE, walk(steepness=2.0, names_titled=3.0)).seeds

    rare, common = math.log(1 + 100 / 2), math.log(1 + 100 / 50)
    assert seeds.chunks == pytest.approx({"c1": 0.8 / 4, "c2": 0.2 / 4})
    assert seeds.entities == pytest.approx(
        {"rare": 3 / 4 * rare / (rare + common), "common": 3 / 4 * common / (rare + common)}
    )


@pytest.mark.parametrize(
    ("names", "chunks", "strength"),
    [
        ([], 1000, Strength.WEAK),
        ([entity("title", 3)], 1000, Strength.TITLED),
        ([entity("title", 300)], 1000, Strength.WEAK),
        ([entity("name", 3, titled=False)], 1000, Strength.RARE),
        ([entity("name", 300, titled=False), entity("title", 20)], 1000, Strength.TITLED),
        ([entity("name", 4, titled=False)], 20, Strength.RARE),
    ],
)
def test_rare_names_are_evidence_and_titles_the_best(names: list[NamedEntity], chunks: int, strength: Strength) -> None:
    assert weigh(names, chunks, EVIDENCE) is strength


def test_the_share_of_a_name_that_one_chunk_alone_mentions_goes_to_that_chunk() -> None:
    seeds = plant(
        hits(1), [entity("once", 1, "c9"), entity("also", 1, "c1")], 10, EVIDENCE, walk(names_titled=3.0)
    ).seeds

    assert seeds.entities == {}
    assert seeds.chunks == pytest.approx({"c1": (1 + 1.5) / 4, "c9": 1.5 / 4})


def test_only_the_first_hits_are_seeds() -> None:
    assert list(plant(hits(50), [], 100, EVIDENCE, walk(chunk_seeds=4)).seeds.chunks) == ["c1", "c2", "c3", "c4"]


def test_the_ids_come_heaviest_first_with_ties_by_id() -> None:
    seeds = plant(hits(1), [entity("b", 5), entity("a", 5)], 10, EVIDENCE, walk(names_titled=3.0)).seeds

    assert seeds.ids == ["a", "b", "c1"]


@pytest.mark.parametrize(("frequency", "strength"), [(3, Strength.TITLED), (90, Strength.WEAK)])
def test_the_names_of_strong_evidence_weigh_more(frequency: int, strength: Strength) -> None:
    weighing = walk(names=1.0, names_titled=3.0)
    planted = plant(hits(3), [entity("name", frequency)], 100, EVIDENCE, weighing)

    assert planted.strength is strength
    assert planted.seeds.entities == pytest.approx({"name": 3 / 4 if strength is Strength.TITLED else 1 / 2})


def test_nothing_found_is_no_seeds() -> None:
    seeds = plant(hits(0), [], 0, EVIDENCE, WALK).seeds

    assert (seeds.chunks, seeds.entities, seeds.ids) == ({}, {}, [])


@given(
    st.integers(0, 30),
    st.lists(st.tuples(st.integers(1, 40), st.booleans(), st.booleans()), max_size=6),
)
def test_weights_are_positive_and_sum_to_one(count: int, found: list[tuple[int, bool, bool]]) -> None:
    names = [
        entity(f"e{number}", 1 if alone else frequency + 1, f"c{number}" if alone else None, titled=titled)
        for number, (frequency, alone, titled) in enumerate(found)
    ]
    seeds = plant(hits(count), names, 50, EVIDENCE, WALK).seeds
    weights = [*seeds.chunks.values(), *seeds.entities.values()]

    assert all(weight > 0 for weight in weights)
    assert sum(weights) == pytest.approx(1 if count or names else 0)
