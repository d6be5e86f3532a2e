"""Evidence that a message needs notes: by their meaning, or by their words where there is no embedder.

How relevant a note has to be is measured on the vault itself, since a cosine means different things in different
vaults: a note is always near to a message about its field, and in a large, varied vault some note is near to anything.
So messages of everyday life, which few vaults are about, are compared with the vault too, and the best note for a
message has to be more relevant than those that chance finds for them.

Which of the notes are meant is another question: in a vault about bees the note on the smoker is near to any message
about bees. So a note's strength is how much more relevant it is to the message than to the other notes of the vault.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pipeline.domains.vault.stored import NoteGraph, OpenVault
from pipeline.embedding.everyday import Everyday, everyday_messages
from pipeline.grouping import grouped
from pipeline.records import Hit, Vector
from pipeline.retrieve.legs import Leg
from pipeline.retrieve.scoring.coverage import terms_of

Pair: TypeAlias = tuple[str, str]
"""The keys of the notes from which and to which a link leads."""

Relevance: TypeAlias = npt.NDArray[np.float64]
"""The relevance of each note of a graph, by row."""

DEVIATIONS = 2.25
"""Standard deviations above the mean. Chosen on ten collections: 95% of their own questions exceed this, and 1% of
thirty everyday messages, which are no probes."""

WORDS = 3.0
"""Standard deviations of meaning that all of a message's words are worth, beyond what a note shares by chance. Chosen
with the least strength (in context.py) on thirty messages to a vault about bees, from 2, 3 and 4, and tried on twenty
to a vault about notes."""

_EVERYDAY = 4
"""Notes that the everyday messages together count as in a note's background. Chosen by hand: it matters in a vault of
few notes alone, which say little on what chance brings."""

_SAMPLE = 500  # other notes that each note is compared with; chosen by hand, for the time that it takes

_PASSAGES = 60
"""Passages of the search that are read for their notes: six for each note of the longest context. Chosen by hand; not
measured."""

_BLOCK = 10_000  # passages compared with all probes at once: 1.6 MB of cosines


@dataclass(frozen=True, slots=True)
class Evidence:
    """Evidence on a message: how relevant each note is to it, and how strongly each is meant.

    ``measure`` names the relevance; a note exceeds ``threshold`` if the vault has anything on the message's subject.
    ``strength`` is relevance beyond what a note has by chance. ``passages`` are the starts of each note's passages that
    the search found, best first. ``link_relevance`` takes the keys of notes, and returns the relevance of the sentences
    around the links from and to them; links without a sentence are left out.
    """

    measure: str
    threshold: float
    relevance: Relevance
    strength: Relevance
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

    everyday = Everyday(vault.hoprank.embedder, vault.hoprank.settings.data_home)
    chance = graph.measured("chance", lambda: _nearest(graph, everyday.questions))
    means, deviation = graph.measured("background", lambda: _background(graph, chance))
    hits, relevance = _hits(vault, graph, message, Leg.WHOLE, query), graph.best(vectors @ vector)
    shares = _shares(_words(graph), graph, message, hits)
    strength = (relevance - means) / deviation + WORDS * (shares - shares.mean())
    return Evidence("cosine", _threshold(chance.max(axis=0)), relevance, strength, _starts(hits), link_cosines)


def by_words(vault: OpenVault, graph: NoteGraph, message: str) -> Evidence:
    """Search a vault by full text and by the heads of its notes.

    Relevance is the share of a message's words, by rarity, that a note has together: in its head (title, description,
    aliases and tags) or in a passage.
    """
    words = _words(graph)

    def link_shares(keys: Sequence[str]) -> Mapping[Pair, float]:
        wanted = set(keys)
        links = (link for link in graph.links if link.contexts and wanted & {link.source, link.target})
        return {(link.source, link.target): words.share(message, " ".join(link.contexts)) for link in links}

    def found(text: str) -> tuple[Sequence[Hit], Relevance]:
        hits = _hits(vault, graph, text, Leg.FULLTEXT, None)
        return hits, _shares(words, graph, text, hits)

    hits, relevance = found(message)
    probes = (found(probe)[1].max(initial=0.0) for probe in everyday_messages())
    threshold = graph.measured("share of words", lambda: _threshold(probes))
    return Evidence("share of words", threshold, relevance, relevance - relevance.mean(), _starts(hits), link_shares)


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


def _words(graph: NoteGraph) -> _NoteWords:
    return graph.measured("words", lambda: _NoteWords(graph))


def _shares(words: _NoteWords, graph: NoteGraph, message: str, hits: Iterable[Hit]) -> Relevance:
    """Return the share of a message's words that each note has together, in its head or in a passage found."""
    shares = words.shares(message)
    for hit in hits:
        row = graph.rows[hit.document]
        shares[row] = max(shares[row], words.share(message, f"{hit.title} {hit.heading} {hit.text}"))
    return shares


def _threshold(chance: Iterable[float]) -> float:
    """Return the relevance that chance allows, by that of the note most relevant to each everyday message."""
    values = np.fromiter(chance, dtype=np.float64)
    return float(values.mean()) + DEVIATIONS * float(values.std())


def _nearest(graph: NoteGraph, vectors: Vector) -> Relevance:
    """Return the cosine of each note's nearest passage to each vector, shape (notes, vectors)."""
    passages, rows = graph.passages
    nearest: Relevance = np.full((len(graph.keys), len(vectors)), -1.0)
    for start in range(0, len(passages), _BLOCK):
        block = slice(start, start + _BLOCK)
        np.maximum.at(nearest, rows[block], passages[block] @ vectors.T)
    return nearest


def _background(graph: NoteGraph, chance: Relevance) -> tuple[Relevance, float]:
    """Return the mean of each note's cosines with other notes and everyday messages, and the deviation around it.

    ``chance`` are the cosines with these messages.
    """
    count = len(graph.keys)
    sample = np.arange(0, count, -(-count // _SAMPLE))
    cosines = _nearest(graph, graph.vectors[sample])
    others = np.ones(cosines.shape, dtype=bool)
    others[sample, np.arange(len(sample))] = False
    weights = others.sum(axis=1) + _EVERYDAY
    means = (np.where(others, cosines, 0).sum(axis=1) + _EVERYDAY * chance.mean(axis=1)) / weights
    squares = np.where(others, (cosines - means[:, None]) ** 2, 0).sum()
    squares += _EVERYDAY * ((chance - means[:, None]) ** 2).mean(axis=1).sum()
    return means, float(np.sqrt(squares / weights.sum())) or 1.0


def _starts(hits: Iterable[Hit]) -> Mapping[str, Sequence[int]]:
    return grouped((hit.document, hit.start) for hit in hits)


def _hits(vault: OpenVault, graph: NoteGraph, message: str, leg: Leg, query: Sequence[float] | None) -> tuple[Hit, ...]:
    wanted = {f"metadata.{name}": value for name, value in vault.scope._asdict().items() if value}
    filters = None if graph.whole else {"metadata.published": {"$ne": False}, **wanted}
    found = vault.hoprank.search(message, query, top_k=_PASSAGES, filters=filters, corpus=vault.name, leg=leg)
    return tuple(hit for hit in found.hits if hit.document in graph.rows)
