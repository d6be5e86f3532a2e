"""Names that a text says are one: acronyms beside what they stand for, and "X, also known as Y".

A definition is local evidence; whether a corpus agrees on it is decided over all of its definitions.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import takewhile
from typing import NamedTuple

from pipeline.text.names import CONNECTORS, COUNTRIES, FUNCTION_WORDS, name_key, plurals, singular, without_possessive

_PARENTHESIS = re.compile(r"\(([^()\n]{2,80})\)")
_ACRONYM = re.compile(r"(?=(?:[^A-Z]*[A-Z]){2})[A-Za-z0-9][A-Za-z0-9&\-]{1,9}")
_KNOWN = re.compile(
    r"(?:,|\s*\(|\s(?:is|was)|\s)\s*"
    r"(?:or\s+simply|a\.?k\.?a\.?|née|born|formerly\s+called|also\s+(?:called|named|written|spelled|spelt)"
    r"|(?:(?:also|better|best|simply|formerly|previously|originally|otherwise|\w+ly)\s+){0,2}known\s+(?:\w+ly\s+)?as)"
    r"\s+(?=[\"“'‘]?[^\W\d_])"
)
_HINTS = ("known", "born", "née", "or simply", "a.k.a", "aka", "formerly called", "also ")
_OF_BIRTH = ("born", "née")
_MONTHS = frozenset("january february march april may june july august september october november december".split())
_REACH = 120
"""Characters before a definition in which the other name begins."""

_MOST_WORDS = 8
_MOST_OTHERS = 4
_STOPS = tuple(",;:.!?)”\"’'")
_QUOTES = "\"“”'‘’"
_INITIAL = 2

Forms = Mapping[str, int]
"""How often a name is defined in which way; a form is the name and the other one as they are spelled."""


class Other(NamedTuple):
    """Another name of what a name means. ``spelled`` are the spellings that mean it, or () if any does."""

    key: str
    name: str
    spelled: tuple[str, ...]


def definitions(text: str) -> Iterator[tuple[str, str]]:
    """Yield the forms by name key: for each pair that the text defines, either name with the other one.

    A single word that is no acronym isn't said to be the other name, for it may mean much else elsewhere.
    """
    for pair in (*_acronyms(text), *_known(text)):
        if pair[0].lower() in COUNTRIES:
            continue
        for name, other in (pair, pair[::-1]):
            key = name_key(name)
            fits = len(key) > 1 and key != name_key(other) and key.count(" ") < _MOST_WORDS
            if fits and (" " in key or _ACRONYM.fullmatch(name)):
                yield key, f"{name}\t{other}"


def agreed(key: str, forms: Forms) -> tuple[Other, ...]:
    """Return the other names that the definitions of a name agree on.

    A name of several words may have several; an acronym has one or, if three in four definitions don't agree, none.
    """
    counts: dict[str, int] = defaultdict(int)
    spellings: dict[str, set[str]] = defaultdict(set)
    usual: dict[str, tuple[int, str]] = {}
    for form, count in sorted(forms.items()):
        name, other = form.split("\t")
        other_key = name_key(other)
        counts[other_key] += count
        spellings[other_key].add(name)
        usual[other_key] = min(usual.get(other_key, (0, other)), (-count, other))
    ranked = sorted(counts, key=lambda other: (-counts[other], other))
    if " " not in key:
        ranked = [other for other in ranked[:1] if 4 * counts[other] >= 3 * sum(counts.values())]
    return tuple(
        Other(other, usual[other][1], () if " " in key else tuple(sorted(spellings[other])))
        for other in ranked[:_MOST_OTHERS]
    )


def bare_acronym(name: str) -> str:
    """Return an acronym without its dots, its possessive and its plural's s, or nothing if it is none."""
    bare = without_possessive(name).replace(".", "")
    if bare[-1:] == "s" and bare[:-1].isupper():
        bare = bare[:-1]
    return bare if _ACRONYM.fullmatch(bare) else ""


class Aliases:
    """The other names of a corpus's names."""

    def __init__(self, forms: Iterable[tuple[str, Forms]]) -> None:
        self._others = {key: others for key, counts in forms if (others := agreed(key, counts))}
        self._plurals = {form: key for key in self._others for form in _plural_forms(key)}

    def items(self) -> Iterable[tuple[str, tuple[Other, ...]]]:
        """All names that have others, by key."""
        return self._others.items()

    def differs(self, other: Aliases) -> set[str]:
        """Return the keys of the names that have other ones there."""
        keys = self._others.keys() | other._others.keys()
        return {key for key in keys if self._others.get(key) != other._others.get(key)}

    def of(self, key: str, text: str) -> list[tuple[str, str]]:
        """Return the keys and spellings of the other names of one that is written as ``text``, plural or not."""
        one = key if key in self._others else self._plurals.get(key)
        if one is None:
            return []
        others = self._others[one]
        found = [
            (other.key, other.name) for other in others if not other.spelled or bare_acronym(text) in other.spelled
        ]
        if one != key and found:
            found.append((one, bare_acronym(text) or singular(text)))
        return found


def _plural_forms(key: str) -> set[str]:
    return {form for form in plurals(key) if singular(form) == key} if " " in key else {key + "s"}


def _acronyms(text: str) -> Iterator[tuple[str, str]]:
    for match in _PARENTHESIS.finditer(text):
        inner = re.split("[;,]", match.group(1))[0].strip().strip(_QUOTES)
        before = re.split(r"[;:!?\n(]|(?<![A-Z])\. ", text[max(0, match.start() - _REACH) : match.start()])[-1].split()
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
    """Return the end of ``text`` that the acronym ``short`` stands for, or nothing.

    Each letter is in it, in order, and the first begins a word: Schwartz and Hearst, A Simple Algorithm for Identifying
    Abbreviation Definitions in Biomedical Text (2003).
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
    wanted = 1 < len(words) <= len(short) + 2 and words[0].lower() not in FUNCTION_WORDS and words[0][0].isalpha()
    return long if wanted and short not in words else ""


def _in_singular(written: str, short: str, long: str) -> tuple[str, str]:
    if written.replace(".", "") != short and singular(name_key(long)) != name_key(long):
        stem, _, last = long.rpartition(" ")
        return short, f"{stem} {singular(last)}"
    return short, long


def _known(text: str) -> Iterator[tuple[str, str]]:
    # Far cheaper than the pattern, and in none but a few texts.
    if not any(hint in text for hint in _HINTS):
        return
    for match in _KNOWN.finditer(text):
        before = text[max(0, match.start() - _REACH) : match.start()]
        name = _last_name(re.sub(r"\s*\([^()]*\)?$", "", before))
        other = _first_name(text[match.end() : match.end() + _REACH])
        of_birth = match.group().split()[-1].strip(",(") in _OF_BIRTH
        if not name or not other or (of_birth and (" " not in other or other.split()[0].lower() in _MONTHS)):
            continue
        yield name, other


def _last_name(text: str) -> str:
    """Return the run of capitalised words that a text ends with."""
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
    """Return the run of capitalised words that a text begins with."""
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
