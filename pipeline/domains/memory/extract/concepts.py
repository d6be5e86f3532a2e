"""Concepts: the names that several texts share, without those that name nothing."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from pipeline.domains.memory.extract.facts import ROLES
from pipeline.domains.memory.records import Entity
from pipeline.resources import word_lists
from pipeline.text.names import FUNCTION_WORDS, Casing, name_key

_WORDS = word_lists(__file__)
_OPENERS = frozenset(_WORDS["openers"].split())
_IDLE = frozenset(_WORDS["idle"].split()) | _OPENERS | FUNCTION_WORDS | ROLES
_NUMERIC = re.compile(r"[\W\d_]*")
_CONTRACTED = re.compile(r"\w[’'‘](?:m|re|ve|ll|d|t)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Concept:
    """A concept, and the keys of the memories that have its name, in order."""

    entity: Entity
    memories: tuple[str, ...]


def concepts_from(
    names: Mapping[str, Collection[str]],
    minimum: int,
    *,
    scope: str = "default",
    taken: Iterable[str] = (),
    casing: Casing | None = None,
) -> tuple[Concept, ...]:
    """Return the names that at least ``minimum`` memories have as concepts, the most frequent first, then by name.

    ``names`` has the keys of the memories by name. Spellings of a name (see :func:`~pipeline.text.names.name_key`) are
    one concept, called as most of the memories spell it; the others are its aliases. What :func:`concept_name` refuses
    is no concept, nor are the names of other entities, ``taken``.
    """
    spellings: dict[str, dict[str, set[str]]] = defaultdict(dict)
    keys = {name_key(name) for name in taken}
    for written, memories in names.items():
        name = concept_name(written, casing)
        if name and (key := name_key(name)) not in keys:
            spellings[key].setdefault(name, set()).update(memories)
    made = (_concept(of_key, scope) for of_key in spellings.values())
    shared = [concept for concept in made if len(concept.memories) >= max(1, minimum)]
    return tuple(sorted(shared, key=lambda concept: (-len(concept.memories), concept.entity.name)))


def concept_name(written: str, casing: Casing | None = None) -> str:
    """Return a name in running text as that of a concept, without a greeting before it; "" if it names nothing.

    Single letters, numbers, dates and words of conversation (Thanks, Today, I'll) name nothing. Nor does, by the
    ``casing`` of the texts, a plain word that has its capital at the beginning of sentences only.
    """
    words = written.split()
    while len(words) > 1 and words[0].casefold() in _OPENERS:
        words = words[1:]
    always_opens = len(words) == 1 and _is_plain(words[0]) and casing is not None and not casing.upper[words[0].lower()]
    return "" if always_opens or all(map(_names_nothing, words)) else " ".join(words)


def _is_plain(word: str) -> bool:
    """Return whether a word has no sign of a name but its first capital."""
    return word.isalpha() and word[0].isupper() and word[1:].islower()


def _names_nothing(word: str) -> bool:
    key = name_key(word)
    idle = len(key) < 2 or key in _IDLE or _NUMERIC.fullmatch(key) is not None
    return idle or _CONTRACTED.search(word) is not None


def _concept(spellings: Mapping[str, set[str]], scope: str) -> Concept:
    name, *aliases = sorted(spellings, key=lambda spelling: (-len(spellings[spelling]), spelling))
    memories = tuple(sorted(set().union(*spellings.values())))
    count = len(memories)
    confidence = round(count / (count + 1), 3)  # 0.667 for two memories, 0.9 for nine
    return Concept(Entity(name, "concept", scope, "", tuple(aliases), count, confidence), memories)
