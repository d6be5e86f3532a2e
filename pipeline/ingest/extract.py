"""Entities without an LLM: capitalised spans and years, and a gazetteer of the corpus's own titles and headings.

What is returned is local evidence (counts, positions); idf and damping are applied when it is read.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import ahocorasick

from pipeline.names import Casing, Name, Word, name_key, spans, without_disambiguation, words
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
class Extraction:
    """The names of all chunks, in their order; and each entity's usual spelling by its key."""

    chunks: tuple[ChunkNames, ...]
    spellings: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Entry:
    key: str
    documents: tuple[str, ...]
    any_case: bool
    words: int


class Gazetteer:
    """The titles and headings of a corpus, matched by Aho-Corasick, leftmost and longest first.

    Titles that more than ``shared_by`` documents have are left out: they name nothing (Introduction, Usage).
    """

    def __init__(self, chunks: Iterable[Chunk], shared_by: int) -> None:
        self._automaton = ahocorasick.Automaton()
        documents: dict[str, set[str]] = defaultdict(set)
        holders: dict[str, set[str]] = defaultdict(set)
        spelling: dict[str, str] = {}
        for title, document_key, is_title in _titles(chunks):
            key = name_key(title)
            holders[key].add(document_key)
            spelling[key] = min(title, spelling.get(key, title))
            if is_title:
                documents[key].add(document_key)
        for key, held_by in holders.items():
            length = key.count(" ") + 1
            if len(key) > 1 and len(held_by) <= shared_by and length <= _LONGEST_TITLE:
                entry = _Entry(key, tuple(sorted(documents[key])), _any_case(spelling[key], length), length)
                self._automaton.add_word(f" {key} ", entry)
        self._automaton.make_automaton()

    def find(self, text: str, found: Sequence[Word], casing: Casing) -> Iterator[tuple[_Entry, Name]]:
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


def extract(chunks: Sequence[Chunk], shared_by: int = 8) -> Extraction:
    """Find the names in each chunk of a whole corpus.

    The statistics (casing, titles) are the corpus's, so the result depends on all chunks, and on nothing else.
    """
    # Words are found twice, for those of a whole corpus would take more memory than all else.
    casing = Casing(words(chunk.text) for chunk in chunks)
    gazetteer = Gazetteer(chunks, shared_by)
    spelled: dict[str, Counter[str]] = defaultdict(Counter)
    named = tuple(_names_of(chunk, casing, gazetteer, spelled) for chunk in chunks)
    return Extraction(named, {key: _usual(counts) for key, counts in spelled.items()})


def _names_of(chunk: Chunk, casing: Casing, gazetteer: Gazetteer, spelled: dict[str, Counter[str]]) -> ChunkNames:
    in_chunk = words(chunk.text)
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


def _about(chunk: Chunk, spelled: dict[str, Counter[str]]) -> set[str]:
    keys = set()
    for title in (chunk.title, chunk.heading.rsplit(" > ", 1)[-1]):
        name = without_disambiguation(title)
        key = name_key(name)
        if len(key) > 1 and key.count(" ") < _LONGEST_TITLE:
            keys.add(key)
            spelled[key][name] += 1
    return keys


def _titles(chunks: Iterable[Chunk]) -> Iterator[tuple[str, str, bool]]:
    for chunk in chunks:
        for name in {chunk.title, without_disambiguation(chunk.title)} - {""}:
            yield name, chunk.document_key, True
        heading = chunk.heading.rsplit(" > ", 1)[-1]
        if " " in heading:
            yield heading, chunk.document_key, False


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


def _written_as_name(first: Word, entry: _Entry, casing: Casing) -> bool:
    if entry.any_case:
        return True
    if entry.words == 1 and (first.initial and casing.is_common(first.text.lower())):
        return False
    return first.text[0].isupper() or first.text[0].isdigit()


def _usual(counts: Counter[str]) -> str:
    return min(counts, key=lambda spelling: (-counts[spelling], spelling))
