"""Evidence that a message needs notes: by their meaning, or by their words where there is no embedder.

How relevant a note has to be is measured on the vault itself, since a cosine means different things in different
vaults: a note is always near to a message about its field, and in a large, varied vault some note is near to anything.
So messages of everyday life (``probes.txt``), which few vaults are about, are compared with the vault too, and the best
note for a message has to be more relevant than those that chance finds for them.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pipeline.domains.vault.stored import NoteGraph, OpenVault
from pipeline.grouping import grouped
from pipeline.records import Hit
from pipeline.retrieve.fusion import Ranked, fuse, ranked
from pipeline.retrieve.legs import Leg
from pipeline.retrieve.scoring.coverage import terms_of

Pair: TypeAlias = tuple[str, str]
"""The keys of the notes from which and to which a link leads."""

Relevance: TypeAlias = npt.NDArray[np.float64]
"""The relevance of each note of a graph, by row."""

DEVIATIONS = 2.25
"""Standard deviations above the mean. Chosen on ten collections: 95% of their own questions exceed this, and 1% of
thirty everyday messages, which are no probes."""

_PASSAGES = 60
"""Passages of the search that are read for their notes: six for each note of the longest context. Chosen by hand; not
measured."""

_BESIDE = 0.5
"""Weight of the ranking by relevance alone, beside that of the search. Chosen with k on 30 messages to a vault."""

_K = 5.0
"""k of the fusion of both, chosen with the weight: with less than the usual 60, first places count for more."""

_BLOCK = 10_000  # passages compared with all probes at once: 1.6 MB of cosines


@dataclass(frozen=True, slots=True)
class Threshold:
    """The least relevance that counts; ``mean`` and ``deviation`` are of the notes most relevant to each probe."""

    mean: float
    deviation: float

    @property
    def value(self) -> float:
        """The relevance that the best note of a message exceeds, if the vault has anything on its subject."""
        return self.mean + DEVIATIONS * self.deviation

    @property
    def least(self) -> float:
        """The relevance that each note exceeds once the best one counts: half way from chance."""
        return (self.mean + self.value) / 2


@dataclass(frozen=True, slots=True)
class Evidence:
    """Evidence on a message: how relevant each note is to it, and the notes in order.

    ``measure`` names the relevance. ``passages`` are the starts of each note's passages that the search found, best
    first. ``link_relevance`` takes the keys of notes, and returns the relevance of the sentences around the links from
    and to them; links without a sentence are left out.
    """

    measure: str
    threshold: Threshold
    relevance: Relevance
    order: Ranked
    passages: Mapping[str, Sequence[int]]
    link_relevance: Callable[[Sequence[str]], Mapping[Pair, float]]


def by_meaning(vault: OpenVault, graph: NoteGraph, message: str, query: Sequence[float]) -> Evidence:
    """Search a vault by words, meaning and names: relevance is the cosine of a note's nearest passage."""
    vectors, vector = graph.passages[0], np.asarray(query, dtype=np.float32)

    def link_cosines(keys: Sequence[str]) -> Mapping[Pair, float]:
        sentences, sources, targets = graph.sentences
        wanted = [graph.rows[key] for key in keys]
        places = np.flatnonzero(np.isin(sources, wanted) | np.isin(targets, wanted))
        best: dict[Pair, float] = {}
        ends = zip(sources[places].tolist(), targets[places].tolist(), strict=True)
        for (source, target), cosine in zip(ends, (sentences[places] @ vector).tolist(), strict=True):
            pair = graph.keys[source], graph.keys[target]
            best[pair] = max(cosine, best.get(pair, cosine))
        return best

    def by_chance() -> Sequence[float]:
        """Return the cosine of each probe and its nearest passage."""
        probes = np.array(list(map(vault.hoprank.embedder.embed_query, everyday_messages())), dtype=np.float32)
        blocks = (vectors[start : start + _BLOCK] for start in range(0, len(vectors), _BLOCK))
        nearest: list[float] = np.max([(probes @ block.T).max(axis=1) for block in blocks], axis=0).tolist()
        return nearest

    hits = _hits(vault, graph, message, Leg.WHOLE, query)
    return _evidence("cosine", graph, hits, graph.best(vectors @ vector), by_chance, link_cosines)


def by_words(vault: OpenVault, graph: NoteGraph, message: str) -> Evidence:
    """Search a vault by full text and by the heads of its notes.

    Relevance is the share of a message's words, by rarity, that a note has together: in its head (title, description,
    aliases and tags) or in a passage.
    """
    words = graph.measured("words", lambda: _NoteWords(graph))

    def link_shares(keys: Sequence[str]) -> Mapping[Pair, float]:
        wanted = set(keys)
        links = (link for link in graph.links if link.contexts and wanted & {link.source, link.target})
        return {(link.source, link.target): words.share(message, " ".join(link.contexts)) for link in links}

    def shares_of(text: str) -> tuple[Sequence[Hit], Relevance]:
        hits, shares = _hits(vault, graph, text, Leg.FULLTEXT, None), words.shares(text)
        for hit in hits:
            row = graph.rows[hit.document]
            shares[row] = max(shares[row], words.share(text, f"{hit.title} {hit.heading} {hit.text}"))
        return hits, shares

    def by_chance() -> Sequence[float]:
        return [float(shares_of(probe)[1].max(initial=0.0)) for probe in everyday_messages()]

    hits, relevance = shares_of(message)
    return _evidence("share of words", graph, hits, relevance, by_chance, link_shares)


class _NoteWords:
    """The stems in the head of each note of a graph."""

    def __init__(self, graph: NoteGraph) -> None:
        self._notes = len(graph.notes)
        notes = graph.notes.values()
        heads = (" ".join((note.title, note.description, *note.aliases, *note.tags)) for note in notes)
        self._holders = grouped((term, row) for row, head in enumerate(heads) for term in terms_of(head))

    def shares(self, message: str) -> Relevance:
        """Return for each note, by row, the share of a message's terms that its head holds, weighted by rarity."""
        terms = terms_of(message)
        shares = np.zeros(self._notes)
        for term in terms:
            shares[self._holders.get(term, [])] += self._rarity(term)
        return shares / (self._total(terms) or 1.0)

    def share(self, message: str, text: str) -> float:
        """Return the share of a message's terms that a text holds, weighted by rarity."""
        terms, shared = terms_of(message), set(terms_of(text))
        return self._total(term for term in terms if term in shared) / (self._total(terms) or 1.0)

    def _total(self, terms: Iterable[str]) -> float:
        return math.fsum(map(self._rarity, terms))

    def _rarity(self, term: str) -> float:
        # A word in no note counts as if half a note had it: the message asks for it, and the vault lacks it.
        return math.log(1 + self._notes / max(len(self._holders.get(term, ())), 0.5))


@cache
def everyday_messages() -> tuple[str, ...]:
    """Return the probes: messages that few vaults are about."""
    return tuple(Path(__file__).with_name("probes.txt").read_text(encoding="utf-8").splitlines())


def _evidence(
    measure: str,
    graph: NoteGraph,
    hits: Sequence[Hit],
    relevance: Relevance,
    by_chance: Callable[[], Sequence[float]],
    link_relevance: Callable[[Sequence[str]], Mapping[Pair, float]],
) -> Evidence:
    def threshold() -> Threshold:
        chance = by_chance()
        return Threshold(float(np.mean(chance)), float(np.std(chance)))

    starts = grouped((hit.document, hit.start) for hit in hits)
    # The notes that the search found, each at its best passage, are fused with the most relevant ones.
    found = {hit.document: hit.score for hit in reversed(hits)}
    first = np.argsort(-relevance, kind="stable")[:_PASSAGES].tolist()
    most = {graph.keys[row]: float(relevance[row]) for row in first if relevance[row] > 0}
    order = fuse("notes", [(ranked("search", found), 1.0), (ranked("relevance", most), _BESIDE)], _K)
    return Evidence(measure, graph.measured(measure, threshold), relevance, order, starts, link_relevance)


def _hits(vault: OpenVault, graph: NoteGraph, message: str, leg: Leg, query: Sequence[float] | None) -> tuple[Hit, ...]:
    wanted = {f"metadata.{name}": value for name, value in vault.scope._asdict().items() if value}
    filters = None if graph.whole else {"metadata.published": {"$ne": False}, **wanted}
    found = vault.hoprank.search(message, query, top_k=_PASSAGES, filters=filters, corpus=vault.name, leg=leg)
    return tuple(hit for hit in found.hits if hit.document in graph.rows)
