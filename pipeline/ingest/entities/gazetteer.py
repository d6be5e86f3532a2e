"""The gazetteer: a corpus's titles and headings, and the names that its texts define, found wherever they stand."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import ahocorasick

from pipeline.ingest.entities.aliases import Aliases, bare_acronym
from pipeline.text.names import Casing, Name, Word, name_key, plurals, without_disambiguation, without_middle_initials

LONGEST_TITLE = 12
"""Words; a longer title is a sentence, which no other text repeats."""

_DOT_AND_SPACE = 2


@dataclass(frozen=True, slots=True)
class Entry:
    """What the gazetteer knows of a name: the documents of that title, and how it is told from prose.

    ``any_case`` if it may stand in lower case; an acronym is as one of ``spelled``, if there are any.
    """

    key: str
    documents: tuple[str, ...]
    any_case: bool
    words: int
    spelled: tuple[str, ...] = ()


Titled = tuple[str, str, str]
"""A document's key with a title and a heading that it has."""


def entries(titled: Iterable[Titled], shared_by: int) -> dict[str, Entry]:
    """Return the entries that titles and headings make, by key, whatever their order.

    Those that more than ``shared_by`` documents have are left out: they name nothing (Introduction, Usage).
    """
    documents: dict[str, set[str]] = defaultdict(set)
    holders: dict[str, set[str]] = defaultdict(set)
    spelling: dict[str, str] = {}
    for title, document_key, is_title in _titles(titled):
        key = name_key(title)
        holders[key].add(document_key)
        spelling[key] = min(title, spelling.get(key, title))
        if is_title:
            documents[key].add(document_key)
    made = {}
    for key, held_by in holders.items():
        length = key.count(" ") + 1
        if len(key) > 1 and len(held_by) <= shared_by and length <= LONGEST_TITLE:
            made[key] = Entry(key, tuple(sorted(documents[key])), _any_case(spelling[key], length), length)
    return made


def last_heading(headings: str) -> str:
    """Return the innermost of a chunk's headings."""
    return headings.rsplit(" > ", 1)[-1]


def alias_entries(aliases: Aliases) -> dict[str, Entry]:
    """Return the entries that names which mean the same make, by key: acronyms, and what they stand for."""
    made = {}
    for key, others in aliases.items():
        if others[0].spelled:
            made[key] = Entry(key, (), False, 1, others[0].spelled)
        for other in others:
            length = other.key.count(" ") + 1
            if length > 1:
                any_case = _any_case(other.name, length)
                keys = {other.key, *plurals(other.key)} if any_case else {other.key}
                made.update({one: Entry(one, (), any_case, length) for one in keys})
    return made


class Gazetteer:
    """The known names of a corpus, matched by Aho-Corasick, leftmost and longest first."""

    def __init__(self, known: Mapping[str, Entry]) -> None:
        self._known = known
        self._automaton = ahocorasick.Automaton()
        for key, entry in known.items():
            self._automaton.add_word(f" {key} ", entry)
        self._automaton.make_automaton()

    def named(self, found: Sequence[Word]) -> bool:
        """Whether any entry occurs among the words ``found``, written as a name or not."""
        return bool(len(self._automaton)) and next(self._automaton.iter(_fold(found)[0]), None) is not None

    def differs(self, other: Gazetteer) -> dict[str, Entry]:
        """Return the entries that only one of the two has, by key, and those that are others there."""
        known = {**self._known, **other._known}
        return {key: entry for key, entry in known.items() if self._known.get(key) != other._known.get(key)}

    def documents(self, key: str) -> tuple[str, ...]:
        """Return the documents that have this title."""
        return self._known[key].documents if key in self._known else ()

    def find(self, text: str, found: Sequence[Word], casing: Casing) -> Iterator[tuple[Entry, Name]]:
        """Yield the entries that ``text`` (whose words are ``found``) names, and the names; they don't overlap."""
        if not len(self._automaton):
            return
        folded, starts, ends = _fold(found)
        matches = [(end - len(entry.key) - 1, entry) for end, entry in self._automaton.iter(folded)]
        matches.sort(key=lambda match: (match[0], -match[1].words))
        free_from = 0
        for start, entry in matches:
            first, last = starts.get(start + 1), ends.get(start + 1 + len(entry.key))
            if first is None or last is None or start < free_from or not _written_as_name(found[first], entry, casing):
                continue
            free_from = start + len(entry.key)
            begin, end = found[first].start, found[last].end
            yield entry, Name(entry.key, text[begin:end], begin, end)


def _titles(titled: Iterable[Titled]) -> Iterator[tuple[str, str, bool]]:
    for document_key, title, headings in titled:
        bare = without_disambiguation(title)
        for name in {title, bare, without_middle_initials(bare)} - {""}:
            yield name, document_key, True
        heading = last_heading(headings)
        if " " in heading:
            yield heading, document_key, False


def _fold(found: Sequence[Word]) -> tuple[str, dict[int, int], dict[int, int]]:
    """Join the words' keys with single spaces; map offsets of word starts and ends in it to the words' indexes."""
    starts: dict[int, int] = {}
    ends: dict[int, int] = {}
    parts = [""]
    at = 1
    for key, first, last in _keyed(found):
        starts[at] = first
        at += len(key)
        ends[at] = last
        at += 1
        parts.append(key)
    return " ".join([*parts, ""]), starts, ends


def _keyed(found: Sequence[Word]) -> list[tuple[str, int, int]]:
    """Return the words' keys, each with the indexes of its first and last word: initials in a row have one key."""
    keyed = [(key, index, index) for index, word in enumerate(found) if (key := name_key(word.text))]
    single = [place for place, (key, _, _) in enumerate(keyed) if len(key) == 1]
    # From the end, so that the places of those before stay as they are.
    for place, following in reversed(list(pairwise(single))):
        if following == place + 1 and _goes_on(found[keyed[place][2]], found[keyed[following][1]]):
            (key, first, _), (more, _, last) = keyed[place : following + 1]
            keyed[place : following + 1] = [(key + more, first, last)]
    return keyed


def _goes_on(initial: Word, word: Word) -> bool:
    """Whether a single letter is one more initial, and no pronoun or article."""
    gap = word.start - initial.end
    return word.text.isalpha() and (gap == _DOT_AND_SPACE or (gap == 1 and word.text not in ("I", "a")))


def _any_case(title: str, length: int) -> bool:
    """Whether a title is written without capitals after its first word, so that it may stand in running text."""
    return length > 1 and not any(word[0].isupper() for word in title.split()[1:])


def _written_as_name(first: Word, entry: Entry, casing: Casing) -> bool:
    if entry.any_case:
        return True
    if entry.spelled:
        return bare_acronym(first.text) in entry.spelled
    if entry.words == 1 and (first.initial and casing.is_common(first.text.lower())):
        return False
    return first.text[0].isupper() or first.text[0].isdigit()
