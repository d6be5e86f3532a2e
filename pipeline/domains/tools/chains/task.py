"""The words of a task: which of them tools cover, and which inputs of tools the task speaks of."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection
from functools import cached_property

from pipeline.domains.tools.chains.network import ToolNetwork
from pipeline.domains.tools.index import words_of
from pipeline.domains.tools.types.fields import Field
from pipeline.domains.tools.types.words import HANDLES, split, stems

_VALUE = re.compile(r"(?<!\w)(\w++)\s++(?:(?:no\.?|number|nr\.?|id)\s++)?#?(?=[\w-]*\d)[\w-]+", re.IGNORECASE)
"""A thing and the value that identifies it: ``order 4711``, ``booking number B-17``."""

_ASKING = stems("query search question keyword keywords prompt".split())
"""Last words of inputs that any task states: it is what they ask for."""

_UNCOVERED = 0.3
"""Factor of a rare word of the task that no tool of a chain has: a further tool that has it pays. Chosen by hand."""

_STEMMED_HANDLES = stems(HANDLES)


class TaskWords:
    """The words of a task as stems; those that no tool of the network knows are ignored."""

    def __init__(self, network: ToolNetwork, task: str) -> None:
        self._network = network
        self._terms = stems(split(task))
        self._telling = stems(split(" ".join(words_of(task))))
        self._valued = stems(match[1].lower() for match in _VALUE.finditer(task))

    def covered(self, tools: Collection[str]) -> float:
        """Return how well some tools cover the task, from 0 to 1: a factor for each word that they don't have.

        A word that only their fields have is covered by half; the rarest words count in full.
        """
        told = frozenset[str]().union(*(self._network.told[tool] for tool in tools))
        held = frozenset[str]().union(*(self._network.held[tool] for tool in tools))
        left = (weight * (0.5 if term in held else 1.0) for term, weight in self._weights.items() if term not in told)
        return float(_UNCOVERED ** sum(left))

    @cached_property
    def _weights(self) -> dict[str, float]:
        """The rarity of each word that any tool knows, as a share of the highest possible."""
        network = self._network
        known = [(network.told[tool] | network.held[tool]) & self._telling for tool in network.tools]
        counts = Counter(term for terms in known for term in terms)
        return {term: math.log(1 + len(known) / count) / math.log(1 + len(known)) for term, count in counts.items()}

    def states(self, tool: str, path: str) -> bool:
        """Return whether the task speaks of an input: names it, has a value for its thing, or is what it asks for."""
        each = next(each for each in self._network.takes[tool] if each.path == path)
        return (
            self._names(each) or each.head in _ASKING or (each.head in _STEMMED_HANDLES and each.thing in self._valued)
        )

    def _names(self, each: Field) -> bool:
        own = stems(split(each.name))
        named = own if own - _STEMMED_HANDLES else each.words
        return named <= self._terms
