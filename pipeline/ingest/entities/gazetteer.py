"""The gazetteer: a corpus's titles, headings and defined names, recognised in any text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pipeline.ingest.entities.aliases import Aliases, bare_acronym
from pipeline.text.matcher import Matcher
from pipeline.text.names import Casing, Name, Word, name_key, plurals, without_disambiguation, without_middle_initials

LONGEST_TITLE = 12
"""Limit in words; a longer title is a sentence, which other texts don't repeat."""

_DOT_AND_SPACE_LENGTH = 2


@dataclass(frozen=True, slots=True)
class Entry:
    """A name of the gazetteer: the documents with this title, and the spellings that it accepts.

    ``any_case``: it may be written in lower case. ``spellings`` limits an acronym to these spellings; empty means all.
    """

    key: str
    documents: tuple[str, ...]
    any_case: bool
    words: int
    spellings: tuple[str, ...] = ()


Heading = tuple[str, str, str]
"""A document's key, its title, and the path of headings of one of its chunks."""


def entries(headings: Iterable[Heading], shared_by: int) -> dict[str, Entry]:
    """Return the entries of titles and headings, by key, independent of their order.

    A title or heading that more than ``shared_by`` documents share names nothing (Introduction, Usage) and is left out.
    """
    documents: dict[str, set[str]] = defaultdict(set)
    holders: dict[str, set[str]] = defaultdict(set)
    spelling: dict[str, str] = {}
    for title, document_key, is_title in _titles(headings):
        key = name_key(title)
        holders[key].add(document_key)
        spelling[key] = min(title, spelling.get(key, title))
        if is_title:
            documents[key].add(document_key)
    result = {}
    for key, holder_keys in holders.items():
        length = key.count(" ") + 1
        if len(key) > 1 and len(holder_keys) <= shared_by and length <= LONGEST_TITLE:
            result[key] = Entry(key, tuple(sorted(documents[key])), _any_case(spelling[key], length), length)
    return result


def last_heading(headings: str) -> str:
    """Return the innermost heading of a chunk's path of headings."""
    return headings.rsplit(" > ", 1)[-1]


def alias_entries(aliases: Aliases) -> dict[str, Entry]:
    """Return the entries of acronyms and their long forms, by key."""
    result = {}
    for source_key, names in aliases.items():
        if names[0].spellings:
            result[source_key] = Entry(source_key, (), False, 1, names[0].spellings)
        for alias in names:
            length = alias.key.count(" ") + 1
            if length > 1:
                any_case = _any_case(alias.name, length)
                keys = {alias.key, *plurals(alias.key)} if any_case else {alias.key}
                result.update({key: Entry(key, (), any_case, length) for key in keys})
    return result


class Gazetteer:
    """The known names of a corpus, matched with Aho-Corasick, leftmost and longest first."""

    def __init__(self, entries_by_key: Mapping[str, Entry]) -> None:
        self._entries = entries_by_key
        self._matcher = Matcher({f" {key} ": entry for key, entry in entries_by_key.items()})

    def occurs_in(self, words: Sequence[Word]) -> bool:
        """Return whether any entry occurs in a text's ``words``, written as a name or not."""
        return bool(self._matcher) and next(self._matcher.occurrences(_fold(words)[0]), None) is not None

    def changed_entries(self, other: Gazetteer) -> dict[str, Entry]:
        """Return the entries, by key, that differ between the two or are missing in either."""
        all_entries = {**self._entries, **other._entries}
        return {key: entry for key, entry in all_entries.items() if self._entries.get(key) != other._entries.get(key)}

    def documents(self, key: str) -> tuple[str, ...]:
        """Return the keys of the documents with this title."""
        return self._entries[key].documents if key in self._entries else ()

    def find(self, text: str, words: Sequence[Word], casing: Casing) -> Iterator[tuple[Entry, Name]]:
        """Yield the entries that occur in ``text``, given its ``words``, with their names; they don't overlap."""
        if not self._matcher:
            return
        folded, starts, ends = _fold(words)
        free_from = 0
        for start, end, entry in self._matcher.leftmost_longest(folded):
            first, last = starts.get(start + 1), ends.get(end - 1)
            if first is None or last is None or start < free_from or not _written_as_name(words[first], entry, casing):
                continue
            free_from = end - 2
            begin, stop = words[first].start, words[last].end
            yield entry, Name(entry.key, text[begin:stop], begin, stop)


def _titles(headings: Iterable[Heading]) -> Iterator[tuple[str, str, bool]]:
    """Yield (name, document key, whether it is a title) for the titles, their short forms, and long headings."""
    for document_key, title, path in headings:
        bare = without_disambiguation(title)
        for name in {title, bare, without_middle_initials(bare)} - {""}:
            yield name, document_key, True
        heading = last_heading(path)
        if " " in heading:
            yield heading, document_key, False


def _fold(words: Sequence[Word]) -> tuple[str, dict[int, int], dict[int, int]]:
    """Join the words' keys with single spaces; map the offsets of their starts and ends to the words' indexes."""
    starts: dict[int, int] = {}
    ends: dict[int, int] = {}
    parts = [""]
    at = 1
    for key, first, last in _keyed(words):
        starts[at] = first
        at += len(key)
        ends[at] = last
        at += 1
        parts.append(key)
    return " ".join([*parts, ""]), starts, ends


def _keyed(words: Sequence[Word]) -> list[tuple[str, int, int]]:
    """Return the words' keys, each with the indexes of its first and last word; consecutive initials share a key."""
    keyed = [(key, index, index) for index, word in enumerate(words) if (key := name_key(word.text))]
    single = [position for position, (key, _, _) in enumerate(keyed) if len(key) == 1]
    # From the end, so that earlier positions stay valid.
    for position, following in reversed(list(pairwise(single))):
        if following == position + 1 and _is_next_initial(words[keyed[position][2]], words[keyed[following][1]]):
            (key, first, _), (more, _, last) = keyed[position : following + 1]
            keyed[position : following + 1] = [(key + more, first, last)]
    return keyed


def _is_next_initial(initial: Word, word: Word) -> bool:
    """Return whether a single letter continues a row of initials and is no pronoun or article."""
    gap = word.start - initial.end
    return word.text.isalpha() and (gap == _DOT_AND_SPACE_LENGTH or (gap == 1 and word.text not in ("I", "a")))


def _any_case(title: str, length: int) -> bool:
    """Return whether a title has no capitals after its first word, so that it may occur in lower case in a text."""
    return length > 1 and not any(word[0].isupper() for word in title.split()[1:])


def _written_as_name(first: Word, entry: Entry, casing: Casing) -> bool:
    if entry.any_case:
        return True
    if entry.spellings:
        return bare_acronym(first.text) in entry.spellings
    if entry.words == 1 and (first.initial and casing.is_common(first.text.lower())):
        return False
    return first.text[0].isupper() or first.text[0].isdigit()
