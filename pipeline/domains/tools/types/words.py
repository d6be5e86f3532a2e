"""Words of names: split, stemmed, and told apart into verbs, nouns and fillers. The lists were made by hand."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pipeline.resources import word_lists
from pipeline.text.cached import cached
from pipeline.text.inflection import snowball

_CUT = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[\W_]+")
_WORDS = word_lists(__file__)
_ALIASES: dict[str, str] = {word: meant for meant, words in _WORDS["aliases"].items() for word in words.split()}

HANDLES = frozenset("id name title key code number index slug type value text status no hash position".split())
"""Field names that mean something only together with what they belong to."""

GENERIC = HANDLES | frozenset("path url description content body label date time file data email address".split())
"""``HANDLES``, and names that mean more together with what they belong to."""

_PRODUCING = frozenset(_WORDS["producing"].split())
_OTHER = frozenset(_WORDS["other"].split())
_ONLY_FIRST = frozenset(_WORDS["only_first"].split())
CREATING = frozenset(_WORDS["creating"].split())
"""Verbs of tools that create their object."""

CHANGING = frozenset(_WORDS["changing"].split())
"""Verbs of tools that change their object."""

ACTING = CREATING | (_OTHER - frozenset(_WORDS["looking"].split()))
"""Verbs of tools that change something."""

_AGENTS = frozenset(_WORDS["agents"].split())
_PREPOSITIONS = frozenset(_WORDS["prepositions"].split())
_MODIFIERS = frozenset(_WORDS["modifiers"].split())
_EMPTY = frozenset(_WORDS["empty"].split())


@dataclass(frozen=True, slots=True)
class Subject:
    """The verb of a tool's name, or an empty text, and the words of its object (``get``, ``weather forecast``)."""

    verb: str
    words: tuple[str, ...]

    @property
    def returned(self) -> bool:
        """True if a tool of that name returns its object."""
        return bool(self.words) and (self.verb in _PRODUCING or not self.verb)


def split(name: str) -> tuple[str, ...]:
    """Return the words of a name in snake_case, kebab-case or camelCase: in lower case, synonyms made one."""
    words = " ".join(_ALIASES.get(part.lower(), part.lower()) for part in _CUT.split(name) if part).split()
    return tuple(
        word for before, word in zip(("", *words), words, strict=False) if (before, word) != ("email", "address")
    )


def stems(words: Iterable[str]) -> frozenset[str]:
    """Return the stems of words."""
    return frozenset(map(stem, words))


@cached(100_000)  # chosen by hand, as the next, to bound memory
def stem(word: str) -> str:
    """Return the English stem of a word."""
    stemmed = snowball(word)
    return _ALIASES.get(stemmed, stemmed)


@lru_cache(maxsize=20_000)
def subject(name: str, service: str = "") -> Subject:
    """Return the verb and the object of a tool's name, without a leading name of its service."""
    words, prefixes = split(name), split(service)
    while len(words) > 1 and words[0] in prefixes and not _is_verb(words[0], 0):
        words = words[1:]
    place = next((index for index, word in enumerate(words) if _is_verb(word, index)), None)
    if place is None:
        agent = len(words) > 1 and words[-1] in _AGENTS
        return Subject("get" if agent else "", _noun(words[:-1] if agent else words))
    verb, before, after = words[place], words[:place], words[place + 1 :]
    if "to" in after and verb in ("convert", "transform", "translate", "export"):
        after = after[after.index("to") + 1 :]
    return Subject(verb, _noun(after) or _noun(before))


def _is_verb(word: str, index: int) -> bool:
    return word in _PRODUCING | _OTHER and (index == 0 or word not in _ONLY_FIRST)


def _noun(words: Sequence[str]) -> tuple[str, ...]:
    """Return the noun phrase at the beginning of words, without fillers."""
    end = next((index for index, word in enumerate(words) if index and word in _PREPOSITIONS), len(words))
    kept = [word for word in words[:end] if word not in _MODIFIERS]
    while kept and kept[-1] in _EMPTY:
        kept.pop()
    kept = [word for word in kept if word not in _PREPOSITIONS]
    return tuple(kept) if kept or end == len(words) or words[end] != "of" else _noun(words[end + 1 :])
