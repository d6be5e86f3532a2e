"""Evidence that a message needs notes: by their meaning, or by their words where there is no embedder."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from pipeline.domains.vault.note import Scope
from pipeline.domains.vault.stored import NoteGraph, OpenVault
from pipeline.records import Hit, Vector
from pipeline.retrieve.fusion import Ranked, fuse, ranked
from pipeline.retrieve.legs import Leg
from pipeline.retrieve.scoring.coverage import terms_of

Pair: TypeAlias = tuple[str, str]
"""The keys of the notes from which and to which a link leads."""

Relevance: TypeAlias = npt.NDArray[np.float64]
"""The relevance of each note of a graph, by row."""

_PASSAGES = 60
"""Passages of the search that are read for their notes."""

_BESIDE = 0.5
"""Weight of the ranking by relevance alone, beside that of the search. Chosen with k on 30 messages to a vault."""

_K = 5.0
"""k of the fusion of both."""

_Measured = TypeVar("_Measured")

_BLOCK = 10_000
_COSINE, _SHARE = "cosine", "share of words"


class Evidence(Protocol):
    """Evidence on a message: how relevant each note is to it, and the notes in order.

    ``passages`` are the starts of each note's passages that the search found, best first. ``measure`` names the
    relevance.
    """

    @property
    def threshold(self) -> Threshold:
        """The relevance that counts."""

    @property
    def relevance(self) -> Relevance:
        """The relevance of each note."""

    @property
    def order(self) -> Ranked:
        """The notes, best first."""

    @property
    def passages(self) -> Mapping[str, Sequence[int]]:
        """The starts of the passages that the search found."""

    @property
    def measure(self) -> str:
        """The name of the relevance."""

    def link_relevance(self, keys: Sequence[str]) -> Mapping[Pair, float]:
        """Return the relevance of the sentences around the links from and to some notes; links without are left out."""


@dataclass(frozen=True, slots=True)
class ByMeaning:
    """Evidence by the vector of a message: relevance is the cosine of a note's nearest passage."""

    graph: NoteGraph
    query: npt.NDArray[np.float32]
    threshold: Threshold
    relevance: Relevance
    order: Ranked
    passages: Mapping[str, Sequence[int]]

    @property
    def measure(self) -> str:
        """The name of the relevance."""
        return _COSINE

    @classmethod
    def of(cls, vault: OpenVault, graph: NoteGraph, message: str, query: Sequence[float]) -> ByMeaning:
        """Search a vault by words, meaning and names."""
        vectors, _ = graph.passages
        vector = np.asarray(query, dtype=np.float32)
        relevance = graph.best(vectors @ vector)
        hits = _hits(vault, graph, message, Leg.WHOLE, query)
        threshold = _measured(graph, _COSINE, lambda: Threshold.of(_nearest_by_chance(vault, vectors)))
        return cls(graph, vector, threshold, relevance, _order(graph, hits, relevance), _starts(hits))

    def link_relevance(self, keys: Sequence[str]) -> Mapping[Pair, float]:
        """Return the cosines of the sentences around links; see :class:`Evidence`."""
        vectors, sources, targets = self.graph.sentences
        wanted = [self.graph.rows[key] for key in keys]
        places = np.flatnonzero(np.isin(sources, wanted) | np.isin(targets, wanted))
        cosines = (vectors[places] @ self.query).tolist()
        ends = zip(sources[places].tolist(), targets[places].tolist(), strict=True)
        best: dict[Pair, float] = {}
        for (source, target), cosine in zip(ends, cosines, strict=True):
            pair = self.graph.keys[source], self.graph.keys[target]
            best[pair] = max(cosine, best.get(pair, cosine))
        return best


@dataclass(frozen=True, slots=True)
class ByWords:
    """Evidence by the words of a message: relevance is the share of its words, by rarity, that a note has together.

    They are together in its head (title, description, aliases and tags) or in a passage.
    """

    words: NoteWords
    message: str
    threshold: Threshold
    relevance: Relevance
    order: Ranked
    passages: Mapping[str, Sequence[int]]

    @property
    def measure(self) -> str:
        """The name of the relevance."""
        return _SHARE

    @classmethod
    def of(cls, vault: OpenVault, graph: NoteGraph, message: str) -> ByWords:
        """Search a vault by full text and by the heads of its notes."""
        words = _measured(graph, "words", lambda: NoteWords(graph))
        hits, relevance = _held(vault, words, message)
        threshold = _measured(graph, _SHARE, lambda: Threshold.of(_held_by_chance(vault, words)))
        return cls(words, message, threshold, relevance, _order(graph, hits, relevance), _starts(hits))

    def link_relevance(self, keys: Sequence[str]) -> Mapping[Pair, float]:
        """Return the shares of the message's words in the sentences around links; see :class:`Evidence`."""
        wanted = set(keys)
        links = (link for link in self.words.graph.links if link.contexts and wanted & {link.source, link.target})
        return {(link.source, link.target): self.words.share(self.message, " ".join(link.contexts)) for link in links}


def _measured(graph: NoteGraph, name: str, measure: Callable[[], _Measured]) -> _Measured:
    """Return what ``measure`` returns for a graph, measured once."""
    if name not in graph.measured:
        graph.measured[name] = measure()
    measured: _Measured = graph.measured[name]
    return measured


def _hits(vault: OpenVault, graph: NoteGraph, message: str, leg: Leg, query: Sequence[float] | None) -> tuple[Hit, ...]:
    found = vault.hoprank.search(
        message, query, top_k=_PASSAGES, filters=_filters(vault.scope, graph), corpus=vault.name, leg=leg
    )
    return tuple(hit for hit in found.hits if hit.document in graph.rows)


def _filters(scope: Scope, graph: NoteGraph) -> Mapping[str, Any] | None:
    """Return the filter of a search for the published notes of the scope; None if that is all notes."""
    if graph.whole:
        return None
    wanted = {f"metadata.{name}": value for name, value in scope._asdict().items() if value}
    return {"metadata.published": {"$ne": False}, **wanted}


def _order(graph: NoteGraph, hits: Sequence[Hit], relevance: Relevance) -> Ranked:
    """Fuse the notes that the search found, each at its best passage, with the most relevant ones."""
    found: dict[str, float] = {}
    for hit in hits:
        found.setdefault(hit.document, hit.score)
    first = np.argsort(-relevance, kind="stable")[:_PASSAGES].tolist()
    most = {graph.keys[row]: float(relevance[row]) for row in first if relevance[row] > 0}
    return fuse("notes", [(ranked("search", found), 1.0), (ranked("relevance", most), _BESIDE)], _K)


def _starts(hits: Sequence[Hit]) -> Mapping[str, Sequence[int]]:
    starts: dict[str, list[int]] = defaultdict(list)
    for hit in hits:
        starts[hit.document].append(hit.start)
    return starts


def _nearest_by_chance(vault: OpenVault, vectors: Vector) -> Sequence[float]:
    """Return the cosine of each probe and its nearest passage."""
    probes = np.array(list(map(vault.hoprank.embedder.embed_query, everyday_messages())), dtype=np.float32)
    blocks = (vectors[start : start + _BLOCK] for start in range(0, len(vectors), _BLOCK))
    nearest: list[float] = np.max([(probes @ block.T).max(axis=1) for block in blocks], axis=0).tolist()
    return nearest


def _held(vault: OpenVault, words: NoteWords, message: str) -> tuple[tuple[Hit, ...], Relevance]:
    """Return the passages with words of a message, and the share of these that each note has together."""
    hits = _hits(vault, words.graph, message, Leg.FULLTEXT, None)
    relevance = words.shares(message)
    for hit in hits:
        row = words.graph.rows[hit.document]
        relevance[row] = max(relevance[row], words.share(message, f"{hit.title} {hit.heading} {hit.text}"))
    return hits, relevance


def _held_by_chance(vault: OpenVault, words: NoteWords) -> Sequence[float]:
    """Return for each probe the share of its words that a note has by chance."""
    return [float(_held(vault, words, probe)[1].max(initial=0.0)) for probe in everyday_messages()]


DEVIATIONS = 2.25
"""Standard deviations above the mean. Chosen on ten collections: 95% of their own questions exceed this, and 1% of
thirty everyday messages, which are no probes."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """The least relevance that counts; ``mean`` and ``deviation`` are of the notes most relevant to each probe."""

    mean: float
    deviation: float

    @classmethod
    def of(cls, chance: Sequence[float]) -> Threshold:
        """Return the threshold above what chance finds; ``chance`` is the relevance of the best note of each probe."""
        return cls(float(np.mean(chance)), float(np.std(chance)))

    @property
    def value(self) -> float:
        """The relevance that the best note of a message exceeds, if the vault knows anything of it."""
        return self.mean + DEVIATIONS * self.deviation

    @property
    def least(self) -> float:
        """The relevance that each note exceeds once the best one counts: half way from chance."""
        return (self.mean + self.value) / 2


@cache
def everyday_messages() -> tuple[str, ...]:
    """Return the probes: messages that few vaults are about."""
    return tuple(Path(__file__).with_name("probes.txt").read_text(encoding="utf-8").splitlines())


class NoteWords:
    """The stems in the head of each note of a graph."""

    def __init__(self, graph: NoteGraph) -> None:
        self.graph = graph
        self._holders: dict[str, list[int]] = defaultdict(list)
        for row, note in enumerate(graph.notes.values()):
            for term in terms_of(" ".join((note.title, note.description, *note.aliases, *note.tags))):
                self._holders[term].append(row)

    def shares(self, message: str) -> npt.NDArray[np.float64]:
        """Return for each note, by row, the share of a message's terms that its head holds, weighted by rarity."""
        terms = terms_of(message)
        shares = np.zeros(len(self.graph.notes))
        for term in terms:
            shares[self._holders.get(term, [])] += self._rarity(term)
        return shares / (self._total(terms) or 1.0)

    def share(self, message: str, text: str) -> float:
        """Return the share of a message's terms that a text holds, weighted by rarity."""
        terms, held = terms_of(message), set(terms_of(text))
        return self._total(term for term in terms if term in held) / (self._total(terms) or 1.0)

    def _total(self, terms: Iterable[str]) -> float:
        return math.fsum(map(self._rarity, terms))

    def _rarity(self, term: str) -> float:
        return math.log(1 + len(self.graph.notes) / max(len(self._holders.get(term, ())), 0.5))
