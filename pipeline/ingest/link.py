"""Links between chunks by cosine, and from chunks to the documents that they link to."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

import numpy as np
import numpy.typing as npt

from pipeline.names import name_key
from pipeline.records import Vector

_BLOCK = 1024
_SCORE_DIGITS = 4
"""Cosines are stored to this many decimals, so that the last bits of a batch's arithmetic change no edge."""


@dataclass(frozen=True, slots=True)
class Similar:
    """Chunks ``first`` < ``second`` (by row) whose vectors have the cosine ``score``."""

    first: int
    second: int
    score: float


def similar(vectors: Vector, *, top_k: int, threshold: float, hub_cap: int, exact_up_to: int) -> list[Similar]:
    """Link each row of ``vectors`` (unit length, shape (n, d)) to its ``top_k`` neighbours of at least ``threshold``.

    Neighbours are exact, by blocked matrix products, for up to ``exact_up_to`` rows; beyond, approximate by HNSW
    (usearch). No row has more than ``hub_cap`` links: the best are kept, ties by row. Ordered by (first, second).
    """
    if len(vectors) < 2 or top_k == 0:
        return []
    neighbours = _exact if len(vectors) <= exact_up_to else _approximate
    pairs: dict[tuple[int, int], float] = {}
    for row, others, scores in neighbours(vectors, min(top_k, len(vectors) - 1)):
        for other, score in zip(others.tolist(), scores.tolist(), strict=True):
            if other != row and score >= threshold:
                pairs[min(row, other), max(row, other)] = round(min(score, 1.0), _SCORE_DIGITS)
    return _capped(pairs, hub_cap)


_Neighbours = Iterator[tuple[int, npt.NDArray[np.int64], Vector]]


def _exact(vectors: Vector, top_k: int) -> _Neighbours:
    for start in range(0, len(vectors), _BLOCK):
        scores = vectors[start : start + _BLOCK] @ vectors.T
        rows = np.arange(len(scores))
        scores[rows, start + rows] = -np.inf
        best = np.argpartition(-scores, top_k - 1, axis=1)[:, :top_k].astype(np.int64)
        for row in rows.tolist():
            yield start + row, best[row], scores[row, best[row]]


def _approximate(vectors: Vector, top_k: int) -> _Neighbours:
    from usearch.index import Index

    index = Index(
        ndim=vectors.shape[1], metric="ip", dtype="f32", connectivity=24, expansion_add=128, expansion_search=128
    )
    index.add(np.arange(len(vectors)), vectors)
    for start in range(0, len(vectors), _BLOCK):
        matches = index.search(vectors[start : start + _BLOCK], top_k + 1)
        for row, count in enumerate(np.asarray(matches.counts).tolist()):
            keys = np.asarray(matches.keys[row][:count], dtype=np.int64)
            yield start + row, keys, np.float32(1.0) - matches.distances[row][:count]


def _capped(pairs: Mapping[tuple[int, int], float], hub_cap: int) -> list[Similar]:
    degree: dict[int, int] = defaultdict(int)
    kept = []
    for (first, second), score in sorted(pairs.items(), key=lambda pair: (-pair[1], pair[0])):
        if degree[first] < hub_cap and degree[second] < hub_cap:
            degree[first] += 1
            degree[second] += 1
            kept.append(Similar(first, second, score))
    return sorted(kept, key=lambda link: (link.first, link.second))


class LinkResolver:
    """Finds the document that a hyperlink or wikilink means, among a corpus's documents.

    A hyperlink is a path relative to the document that holds it; a wikilink is a document's path, file name
    without its suffix, or title. Two documents of one name: the one nearest in the tree, then the first by key.
    """

    def __init__(self, titles: Mapping[str, str]) -> None:
        """``titles`` maps each document's key to its title."""
        self._keys = set(titles)
        self._by_name: dict[str, list[str]] = defaultdict(list)
        for key, title in sorted(titles.items()):
            path = PurePosixPath(key)
            for name in {path.stem, path.with_suffix("").as_posix(), title} - {""}:
                if folded := name_key(name):
                    self._by_name[folded].append(key)

    def resolve(self, target: str, source_key: str) -> str | None:
        """Return the key of the document that ``target`` means in ``source_key``; None if it is none of the corpus."""
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(source_key), target))
        for path in (beside, target.lstrip("/")):
            for candidate in (path, f"{path}.md"):
                if candidate in self._keys:
                    return candidate if candidate != source_key else None
        named = [key for key in self._by_name.get(name_key(target), ()) if key != source_key]
        return min(named, key=lambda key: (-_shared_folders(key, source_key), key), default=None)

    def resolve_all(self, targets: Sequence[str], source_key: str) -> Iterable[tuple[str, int]]:
        """Return the documents that ``targets`` mean, each with how many of the targets mean it, ordered by key."""
        counts: dict[str, int] = defaultdict(int)
        for target in targets:
            key = self.resolve(target, source_key)
            if key is not None:
                counts[key] += 1
        return sorted(counts.items())


def _shared_folders(first: str, second: str) -> int:
    return len(posixpath.commonprefix([first.split("/")[:-1], second.split("/")[:-1]]))
