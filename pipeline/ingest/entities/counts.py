"""Counts behind a corpus's decisions on names (casing, spellings, aliases), before and after an update.

The graph stores them in shards by key, so that an update can detect flipped decisions and reads only the shards it
needs.
"""

import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping

SHARDS = 1024

Counts = Mapping[str, int]
"""Number of occurrences of each form of a key; forms with zero occurrences are left out."""

CountsByKey = Mapping[str, Counts]

ReadShards = Callable[[list[int]], Iterable[tuple[int, CountsByKey]]]
"""Reads shards of the visible generation by number; shards without counts may be left out."""

_NONE: Counts = {}


class CountChanges:
    """A corpus's counts of one kind, as stored and with an update's additions and subtractions."""

    def __init__(self, read: ReadShards) -> None:
        self._read = read
        self._stored: dict[int, CountsByKey] = {}
        self._changes: dict[str, Counter[str]] = defaultdict(Counter)

    def add(self, key: str, counts: Counts, sign: int = 1) -> None:
        """Add ``counts``, by form, to those of ``key``; subtract them if ``sign`` is -1."""
        changes = self._changes[key]
        for form, count in counts.items():
            changes[form] += sign * count

    def changed(self) -> Iterator[str]:
        """Yield the keys with a changed count."""
        return (key for key, changes in self._changes.items() if any(changes.values()))

    def load(self, keys: Iterable[str]) -> None:
        """Read the stored counts of ``keys``; :meth:`before` and :meth:`after` accept loaded keys only."""
        self._load_shards(map(_shard, keys))

    def load_all(self) -> list[str]:
        """Read all stored counts; return the keys that have counts before or after the update."""
        self._load_shards(range(SHARDS))
        stored = (key for shard in self._stored.values() for key in shard)
        return list(dict.fromkeys([*stored, *self._changes]))

    def before(self, key: str) -> Counts:
        """Return the counts of ``key`` in the visible generation."""
        return self._stored[_shard(key)].get(key, _NONE)

    def after(self, key: str) -> Counts:
        """Return the counts of ``key`` with the update's changes."""
        changes = self._changes.get(key)
        before = self.before(key)
        if not changes:
            return before
        return {
            form: count for form in before.keys() | changes.keys() if (count := before.get(form, 0) + changes[form])
        }

    def changed_shards(self) -> Iterator[tuple[int, dict[str, Counts]]]:
        """Yield the changed shards, each with its number and all its new counts."""
        by_shard: dict[int, list[str]] = defaultdict(list)
        for key in self.changed():
            by_shard[_shard(key)].append(key)
        self.load(key for keys in by_shard.values() for key in keys)
        for shard, keys in by_shard.items():
            counts = dict(self._stored[shard])
            for key in keys:
                if after := self.after(key):
                    counts[key] = after
                else:
                    counts.pop(key, None)
            yield shard, counts

    def _load_shards(self, shards: Iterable[int]) -> None:
        missing = set(shards) - self._stored.keys()
        if missing:
            self._stored.update((shard, _NO_KEYS) for shard in missing)
            self._stored.update(self._read(list(missing)))


_NO_KEYS: CountsByKey = {}


def no_counts(_: list[int]) -> Iterable[tuple[int, CountsByKey]]:
    """Read the counts of a new corpus, which has none."""
    return ()


def _shard(key: str) -> int:
    return zlib.crc32(key.encode("utf-8", "surrogatepass")) % SHARDS
