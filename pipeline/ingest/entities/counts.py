"""The counts behind a corpus's decisions (casing, spellings), kept in the graph so that an update finds what flipped.

Counts lie in shards by key; a shard carries ``since`` and ``until`` as all else does, so that a run that dies leaves
the counts of the visible generation as they were. A run reads only the shards of the keys that it asks for.
"""

from __future__ import annotations

import json
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pipeline.db.catalogue import Corpus
from pipeline.db.client import Client
from pipeline.db.indexes import LIVE
from pipeline.db.lease import HeldWrites

_SHARDS = 1024
_WRITTEN_AT_ONCE = 256
_NONE: Mapping[str, int] = {}

Counts = Mapping[str, int]


class Tallies:
    """One kind of counts of a corpus: for each key, how often it has which form. Zero is no entry."""

    def __init__(self, client: Client, corpus: Corpus, kind: str) -> None:
        self._client = client
        self._corpus = corpus
        self._kind = kind
        self._stored: dict[int, dict[str, dict[str, int]]] = {}
        self._changes: dict[str, Counter[str]] = defaultdict(Counter)

    def add(self, key: str, counts: Counts, sign: int = 1) -> None:
        """Add ``counts``, by form, to those of ``key``, or take them away."""
        changes = self._changes[key]
        for form, count in counts.items():
            changes[form] += sign * count

    def changed(self) -> Iterator[str]:
        """Yield the keys of which a count is another than before."""
        return (key for key, changes in self._changes.items() if any(changes.values()))

    def load(self, keys: Iterable[str]) -> None:
        """Have the stored counts of ``keys`` at hand; only those may be asked for."""
        self._load_shards(map(_shard, keys))

    def _load_shards(self, shards: Iterable[int]) -> None:
        missing = set(shards) - self._stored.keys()
        if not missing:
            return
        self._stored.update((shard, {}) for shard in missing)
        if self._corpus.generation == 0:
            return
        rows = self._client.stream("tallies", **self._place(), shards=list(missing), generation=self._corpus.generation)
        for row in rows:
            self._stored[row["shard"]] = json.loads(row["counts"])

    def load_all(self) -> list[str]:
        """Have all counts at hand, and return the keys of those that there were and those that there will be."""
        self._load_shards(range(_SHARDS))
        stored = (key for shard in self._stored.values() for key in shard)
        return list(dict.fromkeys([*stored, *self._changes]))

    def before(self, key: str) -> Counts:
        """Return the counts of ``key`` as the visible generation has them."""
        return self._stored[_shard(key)].get(key, _NONE)

    def after(self, key: str) -> Counts:
        """Return the counts of ``key`` with all that was added and taken away."""
        changes = self._changes.get(key)
        before = self.before(key)
        if not changes:
            return before
        return {
            form: count for form in before.keys() | changes.keys() if (count := before.get(form, 0) + changes[form])
        }

    def stage(self, writes: HeldWrites) -> None:
        """Write the shards that changed as part of the next generation."""
        by_shard: dict[int, list[str]] = defaultdict(list)
        for key in self.changed():
            by_shard[_shard(key)].append(key)
        self.load(key for keys in by_shard.values() for key in keys)
        generation = self._corpus.generation
        rows = (self._row(shard, keys) for shard, keys in by_shard.items())
        writes.write_rows("stage_tallies", rows, batch=_WRITTEN_AT_ONCE)
        if generation:
            writes.write(
                "retire_tallies", **self._place(), shards=list(by_shard), generation=generation, until=generation + 1
            )

    def _row(self, shard: int, keys: Iterable[str]) -> dict[str, Any]:
        counts = dict(self._stored[shard])
        for key in keys:
            if after := self.after(key):
                counts[key] = dict(after)
            else:
                counts.pop(key, None)
        return shard_row(self._corpus, self._kind, shard, counts)

    def _place(self) -> dict[str, str]:
        return {"corpus": self._corpus.id, "kind": self._kind}


def shard_row(corpus: Corpus, kind: str, shard: int, counts: Mapping[str, Counts]) -> dict[str, Any]:
    """Return what the next generation's graph is to have of one shard of counts, by key."""
    since = corpus.generation + 1
    properties = {
        "corpus": corpus.id,
        "kind": kind,
        "shard": shard,
        "since": since,
        "until": LIVE,
        "counts": json.dumps(counts, ensure_ascii=False, sort_keys=True),
    }
    return {"id": f"{corpus.id}/{kind}/{shard}/{since}", "properties": properties}


def _shard(key: str) -> int:
    return zlib.crc32(key.encode("utf-8", "surrogatepass")) % _SHARDS
