"""Concepts: names that several memories share."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from pipeline.domains.memory.records import Entity
from pipeline.text.names import FUNCTION_WORDS, name_key

_NUMERIC = re.compile(r"[\W\d_]*")


@dataclass(frozen=True, slots=True)
class Concept:
    """A concept, and the keys of the memories that have its name, in order."""

    entity: Entity
    memories: tuple[str, ...]


def concepts_from(
    names: Mapping[str, Collection[str]], minimum: int, *, scope: str = "default", known: Iterable[str] = ()
) -> tuple[Concept, ...]:
    """Return the names that at least ``minimum`` memories have as concepts, the most frequent first, then by name.

    ``names`` has the keys of the memories by name. Spellings of a name (see :func:`~pipeline.text.names.name_key`) are
    one concept, called as most of the memories spell it; the others are its aliases. Numbers, years, single letters and
    function words are no concepts, nor are ``known`` names, which other entities have.
    """
    spellings: dict[str, dict[str, set[str]]] = defaultdict(dict)
    taken = {name_key(name) for name in known}
    for name, memories in names.items():
        key = name_key(name)
        if key not in taken and _is_telling(key):
            spellings[key].setdefault(name, set()).update(memories)
    made = (_concept(of_key, scope) for of_key in spellings.values())
    shared = [concept for concept in made if len(concept.memories) >= max(1, minimum)]
    return tuple(sorted(shared, key=lambda concept: (-len(concept.memories), concept.entity.name)))


def _is_telling(key: str) -> bool:
    return len(key) > 1 and not _NUMERIC.fullmatch(key) and not FUNCTION_WORDS.issuperset(key.split())


def _concept(spellings: Mapping[str, set[str]], scope: str) -> Concept:
    name, *others = sorted(spellings, key=lambda spelling: (-len(spellings[spelling]), spelling))
    memories = tuple(sorted(set().union(*spellings.values())))
    confidence = len(memories) / (len(memories) + 1)  # 0.67 for two memories, 0.9 for nine
    return Concept(
        Entity(
            name,
            "concept",
            scope,
            aliases=tuple(others),
            mention_count=len(memories),
            confidence=round(confidence, 3),
        ),
        memories,
    )
