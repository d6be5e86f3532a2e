"""Aliases that a text defines: acronyms beside their long forms, and "X, also known as Y".

A definition is local evidence. A corpus accepts an alias only if its definitions agree on it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping
from itertools import takewhile
from typing import NamedTuple

from pipeline.text.names import CONNECTORS, COUNTRIES, FUNCTION_WORDS, name_key, plurals, singular, without_possessive

_PARENTHESIS = re.compile(r"\(([^()\n]{2,80})\)")
_ACRONYM = re.compile(r"(?=(?:[^A-Z]*[A-Z]){2})[A-Za-z0-9][A-Za-z0-9&\-]{1,9}")
_ALSO_KNOWN_AS = re.compile(
    r"(?:,|\s*\(|\s(?:is|was)|\s)\s*"
    r"(?:or\s+simply|a\.?k\.?a\.?|née|born|formerly\s+called|also\s+(?:called|named|written|spelled|spelt)"
    r"|(?:(?:also|better|best|simply|formerly|previously|originally|otherwise|\w+ly)\s+){0,2}known\s+(?:\w+ly\s+)?as)"
    r"\s+(?=[\"“'‘]?[^\W\d_])"
)
_HINTS = ("known", "born", "née", "or simply", "a.k.a", "aka", "formerly called", "also ")
_BIRTH_VERBS = ("born", "née")
_MONTHS = frozenset("january february march april may june july august september october november december".split())
_WINDOW = 120
"""Window in characters, on each side of a definition, for the two names."""

_MAX_WORDS = 8
_MAX_ALIASES = 4
_STOPS = tuple(",;:.!?)”\"’'")
_QUOTES = "\"“”'‘’"
_INITIAL = 2

DefinitionCounts = Mapping[str, int]
"""Number of a name's definitions by form; a form is the name and its alias as spelled, separated by a tab."""


class Alias(NamedTuple):
    """An alias. ``spellings`` limits it to these spellings of the source name; empty means all."""

    key: str
    name: str
    spellings: tuple[str, ...]


def definitions(text: str) -> Iterator[tuple[str, str]]:
    """Yield (name key, form) for each pair of names that the text defines, in both directions.

    A single word that is no acronym gets no alias, because elsewhere it may have other meanings.
    """
    for pair in (*_acronyms(text), *_also_known_as(text)):
        if pair[0].lower() in COUNTRIES:
            continue
        for name, other in (pair, pair[::-1]):
            key = name_key(name)
            fits = len(key) > 1 and key != name_key(other) and key.count(" ") < _MAX_WORDS
            if fits and (" " in key or _ACRONYM.fullmatch(name)):
                yield key, f"{name}\t{other}"


def agreed_aliases(key: str, forms: DefinitionCounts) -> tuple[Alias, ...]:
    """Return the aliases on which the definitions of a name agree.

    A name of several words may have several aliases. An acronym has a single alias, or none if fewer than three in four
    definitions agree.
    """
    counts: dict[str, int] = defaultdict(int)
    spellings: dict[str, set[str]] = defaultdict(set)
    most_frequent: dict[str, tuple[int, str]] = {}
    for form, count in sorted(forms.items()):
        name, other = form.split("\t")
        other_key = name_key(other)
        counts[other_key] += count
        spellings[other_key].add(name)
        most_frequent[other_key] = min(most_frequent.get(other_key, (0, other)), (-count, other))
    ranked = sorted(counts, key=lambda other: (-counts[other], other))
    if " " not in key:
        ranked = [other for other in ranked[:1] if 4 * counts[other] >= 3 * sum(counts.values())]
    return tuple(
        Alias(other, most_frequent[other][1], () if " " in key else tuple(sorted(spellings[other])))
        for other in ranked[:_MAX_ALIASES]
    )


def bare_acronym(name: str) -> str:
    """Return an acronym without dots, possessive and plural s; "" if ``name`` is no acronym."""
    bare = without_possessive(name).replace(".", "")
    if bare[-1:] == "s" and bare[:-1].isupper():
        bare = bare[:-1]
    return bare if _ACRONYM.fullmatch(bare) else ""


class Aliases:
    """The aliases of a corpus's names."""

    def __init__(self, definitions: Iterable[tuple[str, DefinitionCounts]]) -> None:
        self._aliases = {key: aliases for key, counts in definitions if (aliases := agreed_aliases(key, counts))}
        self._plurals = {form: key for key in self._aliases for form in _plural_forms(key)}

    def items(self) -> Iterable[tuple[str, tuple[Alias, ...]]]:
        """Return the aliases of all names that have any, by the name's key."""
        return self._aliases.items()

    def changed_keys(self, other: Aliases) -> set[str]:
        """Return the keys of the names whose aliases differ in ``other``."""
        keys = self._aliases.keys() | other._aliases.keys()
        return {key for key in keys if self._aliases.get(key) != other._aliases.get(key)}

    def leading_to(self, keys: Container[str]) -> set[str]:
        """Return the keys of the names that have one of ``keys`` as an alias."""
        return {key for key, aliases in self._aliases.items() if any(alias.key in keys for alias in aliases)}

    def of(self, key: str, text: str) -> list[tuple[str, str]]:
        """Return the (key, spelling) of the aliases of a name, singular or plural, that is written as ``text``."""
        singular_key = key if key in self._aliases else self._plurals.get(key)
        if singular_key is None:
            return []
        aliases = [
            (alias.key, alias.name)
            for alias in self._aliases[singular_key]
            if not alias.spellings or bare_acronym(text) in alias.spellings
        ]
        if singular_key != key and aliases:
            aliases.append((singular_key, bare_acronym(text) or singular(text)))
        return aliases


def _plural_forms(key: str) -> set[str]:
    return {form for form in plurals(key) if singular(form) == key} if " " in key else {key + "s"}


def _acronyms(text: str) -> Iterator[tuple[str, str]]:
    for match in _PARENTHESIS.finditer(text):
        inner = re.split("[;,]", match.group(1))[0].strip().strip(_QUOTES)
        before = re.split(r"[;:!?\n(]|(?<![A-Z])\. ", text[max(0, match.start() - _WINDOW) : match.start()])[-1].split()
        if not before:
            continue
        last = before[-1].strip(_QUOTES)
        if short := bare_acronym(inner):
            most = min(len(short) + 5, 2 * len(short))
            if long := stands_for(short, " ".join(before[-most:])):
                yield _in_singular(inner, short, long)
        elif (short := bare_acronym(last)) and stands_for(short, inner) == inner:
            yield _in_singular(last, short, inner)


def stands_for(short: str, text: str) -> str:
    """Return the end of ``text`` that the acronym ``short`` abbreviates; "" if there is none.

    The long form holds each letter of the acronym in order, and the first letter begins a word: Schwartz and Hearst, A
    Simple Algorithm for Identifying Abbreviation Definitions in Biomedical Text (2003).
    """
    at = len(text)
    for index in range(len(short) - 1, -1, -1):
        letter = short[index].lower()
        if not letter.isalnum():
            continue
        at -= 1
        while at >= 0 and (text[at].lower() != letter or (index == 0 and at > 0 and text[at - 1].isalnum())):
            at -= 1
        if at < 0:
            return ""
    long = text[text.rfind(" ", 0, at + 1) + 1 :].strip(_QUOTES)
    words = long.split()
    plausible = 1 < len(words) <= len(short) + 2 and words[0].lower() not in FUNCTION_WORDS and words[0][0].isalpha()
    return long if plausible and short not in words else ""


def _in_singular(written: str, short: str, long: str) -> tuple[str, str]:
    if written.replace(".", "") != short and singular(name_key(long)) != name_key(long):
        stem, _, last = long.rpartition(" ")
        return short, f"{stem} {singular(last)}"
    return short, long


def _also_known_as(text: str) -> Iterator[tuple[str, str]]:
    # Far cheaper than the pattern; few texts hold a hint.
    if not any(hint in text for hint in _HINTS):
        return
    for match in _ALSO_KNOWN_AS.finditer(text):
        before = text[max(0, match.start() - _WINDOW) : match.start()]
        name = _last_name(re.sub(r"\s*\([^()]*\)?$", "", before))
        other = _first_name(text[match.end() : match.end() + _WINDOW])
        of_birth = match.group().split()[-1].strip(",(") in _BIRTH_VERBS
        if not name or not other or (of_birth and (" " not in other or other.split()[0].lower() in _MONTHS)):
            continue
        yield name, other


def _last_name(text: str) -> str:
    """Return the run of capitalised words at the end of a text."""
    taken: list[str] = []
    for word in reversed(text.split()):
        ends = word.endswith(_STOPS) and len(word) > _INITIAL
        if (taken and ends) or not (_capital(word) or (taken and word in CONNECTORS)):
            break
        taken.append(word)
    while taken and not (_capital(taken[-1]) and taken[-1].lower() not in FUNCTION_WORDS):
        taken.pop()
    return " ".join(reversed(taken)).strip(_QUOTES + ",")


def _first_name(text: str) -> str:
    """Return the run of capitalised words at the start of a text."""
    taken: list[str] = []
    for word in text.split():
        if not (_capital(word) or (taken and word in CONNECTORS)):
            break
        taken.append(word)
        if word.endswith(_STOPS) and len(word) > _INITIAL:
            break
    while taken and not _capital(taken[-1]):
        taken.pop()
    return "".join(takewhile(lambda char: char not in ",;:)", " ".join(taken))).strip(_QUOTES + ".!?")


def _capital(word: str) -> bool:
    return word.lstrip(_QUOTES)[:1].isupper()
