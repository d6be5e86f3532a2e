"""Entities without an LLM: what an extractor finds, a gazetteer of the corpus's own titles, headings and definitions.

What is returned is local evidence (counts, positions); idf and damping are applied when it is read.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pipeline.ingest.entities.aliases import Aliases, Forms
from pipeline.ingest.entities.extractors import Extractor
from pipeline.ingest.entities.gazetteer import LONGEST_TITLE, Gazetteer, Titled, alias_entries, entries, last_heading
from pipeline.records import Chunk
from pipeline.text.names import Casing, Name, Word, name_key, without_disambiguation, without_middle_initials


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


Spelled = dict[str, Counter[str]]
"""How often each key is spelled in which way."""


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The names that a corpus knows: those it finds wherever they are written, and those that mean the same."""

    gazetteer: Gazetteer
    aliases: Aliases

    @classmethod
    def of(cls, titled: Iterable[Titled], forms: Iterable[tuple[str, Forms]], shared_by: int) -> Lexicon:
        """Make it of all titles and headings (see :func:`entries`) and all definitions, by the name's key."""
        aliases = Aliases(forms)
        return cls(Gazetteer({**alias_entries(aliases), **entries(titled, shared_by)}), aliases)


def names_of(
    chunks: Sequence[Chunk],
    found: Sequence[Sequence[Word]],
    extractor: Extractor,
    casing: Casing,
    lexicon: Lexicon,
    spelled: Spelled,
) -> list[ChunkNames]:
    """Find the names in chunks, whose words were ``found``; their spellings are counted into ``spelled``."""
    extracted = extractor.names([chunk.text for chunk in chunks], found, casing)
    return [
        _Noted(chunk, lexicon, spelled).names(in_chunk, names, casing)
        for chunk, in_chunk, names in zip(chunks, found, extracted, strict=True)
    ]


class _Noted:
    """The names of one chunk, as they are found."""

    def __init__(self, chunk: Chunk, lexicon: Lexicon, spelled: Spelled) -> None:
        self._chunk = chunk
        self._lexicon = lexicon
        self._spelled = spelled
        self._places: dict[str, list[int]] = defaultdict(list)
        self._titles: dict[str, list[int]] = defaultdict(list)

    def names(self, in_chunk: Sequence[Word], extracted: Iterable[Name], casing: Casing) -> ChunkNames:
        """Return them: known ones, and those of the extractor that are no part of a known one."""
        covered: set[int] = set()
        for entry, name in self._lexicon.gazetteer.find(self._chunk.text, in_chunk, casing):
            covered.update(range(name.start, name.end))
            self._note(name)
            self._refer(entry.documents, name.start)
        for name in extracted:
            if name.start not in covered or name.end - 1 not in covered:
                self._note(name)
        about = self._about()
        mentions = tuple(
            Mention(key, len(self._places.get(key, "x")), min(self._places.get(key, (0,))), key in about)
            for key in sorted(self._places.keys() | about)
        )
        links = tuple(TitleLink(key, len(self._titles[key]), min(self._titles[key])) for key in sorted(self._titles))
        return ChunkNames(self._chunk.id, mentions, links)

    def _note(self, name: Name) -> None:
        self._places[name.key].append(name.start)
        self._spelled[name.key][name.text] += 1
        for key, text in self._others(name.key, name.text):
            self._places[key].append(name.start)
            self._spelled[key][text] += 1
            self._refer(self._lexicon.gazetteer.documents(key), name.start)

    def _refer(self, documents: Iterable[str], place: int) -> None:
        for document_key in documents:
            if document_key != self._chunk.document_key:
                self._titles[document_key].append(place)

    def _others(self, key: str, text: str) -> Iterator[tuple[str, str]]:
        """Yield what else means the same: other names, and the name without its middle initials."""
        yield from self._lexicon.aliases.of(key, text)
        if "." in text and (bare := without_middle_initials(text)) != text:
            yield name_key(bare), bare

    def _about(self) -> set[str]:
        keys: set[str] = set()
        heading = last_heading(self._chunk.heading)
        for title in {*self._told_apart(), without_disambiguation(heading)}:
            key = name_key(title)
            if len(key) > 1 and key.count(" ") < LONGEST_TITLE:
                for one, text in ((key, title), *self._others(key, title)):
                    keys.add(one)
                    self._spelled[one][text] += 1
        return keys

    def _told_apart(self) -> list[str]:
        """Return the title without its disambiguation; and as it is, where other documents are called the same."""
        bare = without_disambiguation(self._chunk.title)
        shared = bare != self._chunk.title and len(self._lexicon.gazetteer.documents(name_key(bare))) > 1
        return [bare, self._chunk.title] if shared else [bare]


def usual(counts: Mapping[str, int]) -> str:
    """Return the spelling that is most frequent, the first of those that are."""
    return min(counts, key=lambda spelling: (-counts[spelling], spelling))
