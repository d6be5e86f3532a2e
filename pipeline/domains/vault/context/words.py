"""The words of notes' heads: titles, descriptions, aliases and tags."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from pipeline.domains.vault.graph import NoteGraph
from pipeline.retrieve.scoring.coverage import terms_of


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
