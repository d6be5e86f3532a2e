"""Seeds: how the walk's restart is shared out among the first hits and the names in the question."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.retrieve.fusion import Ranked
from pipeline.retrieve.scoring.confidence import NamedEntity
from pipeline.retrieve.seeds import weigh_seeds
from pipeline.settings import WalkSettings, load_settings

WALK = load_settings().walk


def hits(count: int) -> Ranked:
    return Ranked("hybrid", {f"c{place}": 1.0 / place for place in range(1, count + 1)})


def entity(id_: str, frequency: int, only_chunk: str | None = None, *, confidence: float = 1.0) -> NamedEntity:
    return NamedEntity(id_, id_, id_, frequency, only_chunk, titled=True, confidence=confidence)


def walk(**changed: float) -> WalkSettings:
    return WALK.model_copy(update=changed)


def test_hits_weigh_by_rank() -> None:
    seeds = weigh_seeds(hits(3), [], 100, walk(steepness=1.0))

    whole = 1 + 1 / 2 + 1 / 3
    assert seeds.chunks == pytest.approx({"c1": 1 / whole, "c2": 1 / 2 / whole, "c3": 1 / 3 / whole})
    assert seeds.entities == {}


def test_only_the_first_hits_are_seeds() -> None:
    assert list(weigh_seeds(hits(50), [], 100, walk(chunk_seeds=4)).chunks) == ["c1", "c2", "c3", "c4"]


@pytest.mark.parametrize("confidence", [0.1, 0.5, 1.0])
def test_a_name_weighs_against_the_hits_by_its_confidence(confidence: float) -> None:
    seeds = weigh_seeds(hits(3), [entity("dna", 40, confidence=confidence)], 100, walk(names=3.0))

    assert seeds.entities == pytest.approx({"dna": 3 * confidence / (1 + 3 * confidence)})
    assert sum(seeds.chunks.values()) == pytest.approx(1 / (1 + 3 * confidence))


def test_names_share_what_the_surest_earns_by_rarity_and_confidence() -> None:
    names = [entity("rare", 2, confidence=0.4), entity("common", 50, confidence=0.8)]

    seeds = weigh_seeds(hits(2), names, 100, walk(steepness=2.0, names=5.0))

    rare, common = 0.4 * math.log(1 + 100 / 2), 0.8 * math.log(1 + 100 / 50)
    assert seeds.chunks == pytest.approx({"c1": 0.8 / 5, "c2": 0.2 / 5})
    assert seeds.entities == pytest.approx(
        {"rare": 4 / 5 * rare / (rare + common), "common": 4 / 5 * common / (rare + common)}
    )


def test_the_share_of_a_name_that_one_chunk_alone_mentions_goes_to_that_chunk() -> None:
    seeds = weigh_seeds(hits(1), [entity("once", 1, "c9"), entity("also", 1, "c1")], 10, walk(names=3.0))

    assert seeds.entities == {}
    assert seeds.chunks == pytest.approx({"c1": (1 + 1.5) / 4, "c9": 1.5 / 4})


def test_where_there_is_only_one_kind_of_seed_it_has_all_the_weight() -> None:
    unsure = weigh_seeds(hits(3), [entity("status codes", 9, confidence=0.0)], 100, WALK)
    nothing = weigh_seeds(hits(0), [], 0, WALK)

    assert unsure.chunks == pytest.approx(weigh_seeds(hits(3), [], 100, WALK).chunks)
    assert unsure.entities == {"status codes": 0.0}
    assert weigh_seeds(hits(0), [entity("dna", 40, confidence=0.2)], 100, WALK).entities == pytest.approx({"dna": 1.0})
    assert (nothing.chunks, nothing.entities, nothing.ids) == ({}, {}, [])


def test_the_ids_come_heaviest_first_with_ties_by_id() -> None:
    seeds = weigh_seeds(hits(1), [entity("b", 5), entity("a", 5)], 10, walk(names=3.0))

    assert seeds.ids == ["a", "b", "c1"]


@given(
    st.integers(0, 30),
    st.lists(st.tuples(st.integers(1, 40), st.booleans(), st.floats(0.001, 1)), max_size=6),
)
def test_weights_are_positive_and_sum_to_one(count: int, found: list[tuple[int, bool, float]]) -> None:
    names = [
        entity(f"e{number}", 1 if alone else frequency + 1, f"c{number}" if alone else None, confidence=confidence)
        for number, (frequency, alone, confidence) in enumerate(found)
    ]

    seeds = weigh_seeds(hits(count), names, 50, WALK)

    weights = [*seeds.chunks.values(), *seeds.entities.values()]
    assert all(weight > 0 for weight in weights)
    assert sum(weights) == pytest.approx(1 if count or names else 0)
