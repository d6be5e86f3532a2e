"""Counts of an update: before, after, and the shards that change."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from pipeline.ingest.entities.lexicon import SHARDS, CountChanges, CountsByKey

KEYS = st.text("abc", min_size=1, max_size=2)
COUNTS = st.dictionaries(KEYS, st.dictionaries(st.sampled_from("lu"), st.integers(1, 5), min_size=1), max_size=8)


class Stored:
    """Shards as a graph would keep them, and the numbers of those that were read."""

    def __init__(self) -> None:
        self.shards: dict[int, dict[str, dict[str, int]]] = defaultdict(dict)
        self.read: list[int] = []

    def __call__(self, shards: list[int]) -> Iterable[tuple[int, CountsByKey]]:
        self.read += shards
        return [(shard, self.shards[shard]) for shard in shards if shard in self.shards]

    def take(self, changes: CountChanges) -> None:
        for shard, counts in changes.changed_shards():
            self.shards[shard] = {key: dict(forms) for key, forms in counts.items()}

    def flat(self) -> dict[str, dict[str, int]]:
        return {key: forms for shard in self.shards.values() for key, forms in shard.items()}


@given(COUNTS, COUNTS)
def test_what_is_staged_is_the_sum_and_what_was_is_still_told(
    first: dict[str, dict[str, int]], second: dict[str, dict[str, int]]
) -> None:
    stored = Stored()
    new = CountChanges(stored)
    for key, counts in first.items():
        new.add(key, counts)
    stored.take(new)
    assert stored.flat() == first

    update = CountChanges(stored)
    for key, counts in second.items():
        update.add(key, counts)
    update.load([*first, *second])
    assert {key: dict(update.before(key)) for key in first} == first
    stored.take(update)
    expected = {key: Counter(first.get(key, {})) + Counter(second.get(key, {})) for key in first.keys() | second.keys()}
    assert stored.flat() == expected


@given(COUNTS)
def test_what_is_taken_away_again_changes_nothing(counts: dict[str, dict[str, int]]) -> None:
    changes = CountChanges(lambda _: ())
    for key, forms in counts.items():
        changes.add(key, forms)
        changes.add(key, forms, -1)

    assert list(changes.changed()) == []
    assert list(changes.changed_shards()) == []


def test_a_key_whose_counts_fall_to_zero_is_gone() -> None:
    stored = Stored()
    added = CountChanges(stored)
    added.add("Ada", {"u": 2})
    stored.take(added)

    taken = CountChanges(stored)
    taken.add("Ada", {"u": 2}, -1)
    taken.load(["Ada"])

    assert (taken.before("Ada"), taken.after("Ada")) == ({"u": 2}, {})
    stored.take(taken)
    assert stored.flat() == {}


def test_only_the_shards_of_the_keys_that_are_asked_for_are_read_and_only_once() -> None:
    stored = Stored()
    changes = CountChanges(stored)

    changes.load(["Ada"])
    changes.load(["Ada"])
    assert len(stored.read) == 1

    changes.load_all()
    assert sorted(stored.read) == list(range(SHARDS))
