"""Entities without an LLM: capitalised spans and years, and a gazetteer of the corpus's own titles and headings.

What is returned is local evidence (counts, positions); idf and damping are applied when it is read.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import ahocorasick

from pipeline.names import Casing, Name, Word, name_key, spans, without_disambiguation
from pipeline.records import Chunk

_LONGEST_TITLE = 12
"""Words; a longer title is a sentence, which no other text repeats."""


@dataclass(frozen=True, slots=True)
class Mention:
    """An entity in a chunk: how often it is named there, and where first (in characters; 0 for the title's own).

    ``about`` marks the entity that the chunk's document or section is named after.
    """

    key: str
    count: int
    position: int
    about: bool


@dataclass(frozen=True, slots=True)
class TitleLink:
    """A chunk that names the title of another document."""

    document_key: str
    count: int
    position: int


@dataclass(frozen=True, slots=True)
class ChunkNames:
    """What one chunk names, in the order of keys."""

    chunk_id: str
    mentions: tuple[Mention, ...]
    titles: tuple[TitleLink, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """What the gazetteer knows of a title or heading: the documents of that title, and how it is told from prose."""

    key: str
    documents: tuple[str, ...]
    any_case: bool
    words: int


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
        if len(key) > 1 and len(held_by) <= shared_by and length <= _LONGEST_TITLE:
            made[key] = Entry(key, tuple(sorted(documents[key])), _any_case(spelling[key], length), length)
    return made


class Gazetteer:
    """The titles and headings of a corpus, matched by Aho-Corasick, leftmost and longest first."""

    def __init__(self, known: Mapping[str, Entry]) -> None:
        self._automaton = ahocorasick.Automaton()
        for key, entry in known.items():
            self._automaton.add_word(f" {key} ", entry)
        self._automaton.make_automaton()

    def named(self, found: Sequence[Word]) -> bool:
        """Whether any entry occurs among the words ``found``, written as a name or not."""
        return bool(len(self._automaton)) and next(self._automaton.iter(_fold(found)[0]), None) is not None

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


Spelled = dict[str, Counter[str]]
"""How often each key is spelled in which way."""


def names_of(
    chunk: Chunk, in_chunk: Sequence[Word], casing: Casing, gazetteer: Gazetteer, spelled: Spelled
) -> ChunkNames:
    """Find the names in one chunk, whose words are ``in_chunk``; their spellings are counted into ``spelled``."""
    found: dict[str, list[int]] = defaultdict(list)
    titles: dict[str, list[int]] = defaultdict(list)
    covered: set[int] = set()
    for entry, name in gazetteer.find(chunk.text, in_chunk, casing):
        covered.update(range(name.start, name.end))
        found[name.key].append(name.start)
        spelled[name.key][name.text] += 1
        for document_key in entry.documents:
            if document_key != chunk.document_key:
                titles[document_key].append(name.start)
    for name in spans(chunk.text, in_chunk, casing):
        if name.start not in covered or name.end - 1 not in covered:
            found[name.key].append(name.start)
            spelled[name.key][name.text] += 1
    about = _about(chunk, spelled)
    mentions = tuple(
        Mention(key, max(1, len(found[key])), min(found[key], default=0), key in about)
        for key in sorted(found.keys() | about)
    )
    links = tuple(TitleLink(key, len(titles[key]), min(titles[key])) for key in sorted(titles))
    return ChunkNames(chunk.id, mentions, links)


def _about(chunk: Chunk, spelled: Spelled) -> set[str]:
    keys = set()
    for title in (chunk.title, chunk.heading.rsplit(" > ", 1)[-1]):
        name = without_disambiguation(title)
        key = name_key(name)
        if len(key) > 1 and key.count(" ") < _LONGEST_TITLE:
            keys.add(key)
            spelled[key][name] += 1
    return keys


def _titles(titled: Iterable[Titled]) -> Iterator[tuple[str, str, bool]]:
    for document_key, title, headings in titled:
        for name in {title, without_disambiguation(title)} - {""}:
            yield name, document_key, True
        heading = headings.rsplit(" > ", 1)[-1]
        if " " in heading:
            yield heading, document_key, False


def _fold(found: Sequence[Word]) -> tuple[str, dict[int, int], dict[int, int]]:
    """Join the words' keys with single spaces; map offsets of word starts and ends in it to the words' indexes."""
    starts: dict[int, int] = {}
    ends: dict[int, int] = {}
    parts = [""]
    at = 1
    for index, word in enumerate(found):
        key = name_key(word.text)
        if not key:
            continue
        starts[at] = index
        at += len(key)
        ends[at] = index
        at += 1
        parts.append(key)
    return " ".join([*parts, ""]), starts, ends


def _any_case(title: str, length: int) -> bool:
    """Whether a title is written without capitals after its first word, so that it may stand in running text."""
    return length > 1 and not any(word[0].isupper() for word in title.split()[1:])


def _written_as_name(first: Word, entry: Entry, casing: Casing) -> bool:
    if entry.any_case:
        return True
    if entry.words == 1 and (first.initial and casing.is_common(first.text.lower())):
        return False
    return first.text[0].isupper() or first.text[0].isdigit()


def usual(counts: Mapping[str, int]) -> str:
    """Return the spelling that is most frequent, the first of those that are."""
    return min(counts, key=lambda spelling: (-counts[spelling], spelling))
