"""Extraction of entities without an LLM, by an extractor and by a gazetteer of titles, headings and definitions.

The extractor is the built-in one, based on capitals, or a spaCy model. The result is local evidence (counts,
positions); idf and damping are applied at reading time.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

from pipeline.errors import ConfigurationError, ExtraMissing
from pipeline.ingest.entities.gazetteer import LONGEST_TITLE, Lexicon, last_heading
from pipeline.records import Chunk
from pipeline.settings import LinkSettings
from pipeline.text.names import Casing, Name, Word, entity_key, spans, without_disambiguation, without_middle_initials

_NO_NAMES = frozenset(("CARDINAL", "ORDINAL", "PERCENT", "QUANTITY", "MONEY", "TIME"))
"""Labels of spaCy's models for numbers and quantities, which name nothing."""


Extractor = Callable[[Sequence[str], Sequence[Sequence[Word]], Casing], Iterator[Iterable[Name]]]
"""Yields the names in each of some texts, given their words, and the corpus's casing; thread-safe.

The names in a text don't overlap, and depend on the text and the casing only.
"""

SpellingCounts = dict[str, Counter[str]]
"""Number of occurrences of each spelling, by name key."""


def builtin(
    texts: Sequence[str], words: Sequence[Sequence[Word]], casing: Casing, *, language: str = ""
) -> Iterator[Iterable[Name]]:
    """Yield runs of capitalised words, years and identifiers: see :func:`pipeline.text.names.spans`."""
    return (spans(text, text_words, casing, language) for text, text_words in zip(texts, words, strict=True))


class Spacy:
    """Finds the entities of a spaCy model, given by name or path, except numbers and times of day.

    Raises ConfigurationError if spaCy or the model isn't installed, or if the model has no entity recogniser.
    """

    def __init__(self, model: str) -> None:
        try:
            import spacy
        except ImportError as error:
            raise ExtraMissing.of("spacy", error, "set link.extractor to builtin") from error
        try:
            self._model: Any = spacy.load(model)
        except (OSError, ValueError) as error:
            raise ConfigurationError(
                f"spaCy can't load the model {model!r}: {error}",
                f"Install it (python -m spacy download {model}), or set link.spacy_model to one that is, or to a"
                " folder.",
            ) from error
        names = self._model.pipe_names
        if not {"ner", "entity_ruler"} & set(names):
            raise ConfigurationError(
                f"The spaCy model {model!r} finds no entities: it has {', '.join(names) or 'nothing'}.",
                "Set link.spacy_model to one with the component ner or entity_ruler.",
            )

    def __call__(
        self, texts: Sequence[str], _words: object, _casing: object, *, language: str = ""
    ) -> Iterator[Iterable[Name]]:
        """Yield the names in each of ``texts``, as an :data:`Extractor` does."""
        for document in self._model.pipe(texts):
            entities = [entity for entity in document.ents if entity.label_ not in _NO_NAMES]
            keyed = ((entity_key(span.text, language), span) for span in entities)
            yield [Name(key, span.text, span.start_char, span.end_char) for key, span in keyed if len(key) > 1]


_spacy = lru_cache(maxsize=1)(Spacy)


def extractor_fingerprint(settings: LinkSettings) -> str:
    """Return the identity of the extractor; a corpus holds names of a single fingerprint. Raises ConfigurationError.

    It loads the extractor, so that a missing one is reported before anything is written.
    """
    make_extractor(settings)
    return settings.extractor if settings.extractor == "builtin" else f"spacy:{settings.spacy_model}"


def make_extractor(settings: LinkSettings, language: str = "") -> Extractor:
    """Return the extractor that the settings name; raises ConfigurationError as :class:`Spacy` does.

    ``language`` is that of the corpus: see :func:`pipeline.text.names.entity_key`.
    """
    return partial(builtin if settings.extractor == "builtin" else _spacy(settings.spacy_model), language=language)


@dataclass(frozen=True, slots=True)
class Mention:
    """An entity in a chunk: its number of mentions, and the offset of the first in characters.

    ``about`` marks an entity after which the chunk's document or section is named; without mentions its position is 0.
    """

    key: str
    count: int
    position: int
    about: bool


@dataclass(frozen=True, slots=True)
class TitleLink:
    """Mentions of another document's title in a chunk: their number, and the offset of the first in characters."""

    document_key: str
    count: int
    position: int


@dataclass(frozen=True, slots=True)
class ChunkNames:
    """The entities and titles that a chunk names, ordered by key."""

    chunk_id: str
    mentions: tuple[Mention, ...]
    titles: tuple[TitleLink, ...]


class NameCollector:
    """Collects the names of a single chunk, and counts their spellings into ``spellings``."""

    def __init__(self, chunk: Chunk, lexicon: Lexicon, spellings: SpellingCounts) -> None:
        self._chunk = chunk
        self._lexicon = lexicon
        self._spellings = spellings
        self._positions: dict[str, list[int]] = defaultdict(list)
        self._titles: dict[str, list[int]] = defaultdict(list)

    def names(self, words: Sequence[Word], extracted: Iterable[Name], casing: Casing) -> ChunkNames:
        """Return the names of the gazetteer, and the extracted names that are no part of those."""
        covered: set[int] = set()
        for entry, name in self._lexicon.gazetteer.find(self._chunk.text, words, casing):
            covered.update(range(name.start, name.end))
            self._add_mention(name)
            self._add_titles(entry.documents, name.start)
        for name in extracted:
            if name.start not in covered or name.end - 1 not in covered:
                self._add_mention(name)
        about = self._about()
        mentions = tuple(
            Mention(key, len(self._positions.get(key, "x")), min(self._positions.get(key, (0,))), key in about)
            for key in sorted(self._positions.keys() | about)
        )
        links = tuple(TitleLink(key, len(self._titles[key]), min(self._titles[key])) for key in sorted(self._titles))
        return ChunkNames(self._chunk.id, mentions, links)

    def _add_mention(self, name: Name) -> None:
        self._positions[name.key].append(name.start)
        self._spellings[name.key][name.text] += 1
        for key, text in self._aliases_of(name.key, name.text):
            self._positions[key].append(name.start)
            self._spellings[key][text] += 1
            self._add_titles(self._lexicon.gazetteer.documents(key), name.start)

    def _add_titles(self, documents: Iterable[str], position: int) -> None:
        for document_key in {*documents} - {self._chunk.document_key}:
            self._titles[document_key].append(position)

    def _aliases_of(self, key: str, text: str) -> Iterator[tuple[str, str]]:
        """Yield the (key, spelling) of a name's aliases, and of the name without its middle initials."""
        yield from self._lexicon.aliases.of(key, text)
        if "." in text and (bare := without_middle_initials(text)) != text:
            yield self._lexicon.key(bare), bare

    def _about(self) -> set[str]:
        keys: set[str] = set()
        bare = without_disambiguation(self._chunk.title)
        titles = {bare, without_disambiguation(last_heading(self._chunk.heading))}
        # the full title too, if several documents share the short form
        if bare != self._chunk.title and len(self._lexicon.gazetteer.documents(self._lexicon.key(bare))) > 1:
            titles.add(self._chunk.title)
        for title in titles:
            title_key = self._lexicon.key(title)
            if len(title_key) > 1 and title_key.count(" ") < LONGEST_TITLE:
                for key, text in ((title_key, title), *self._aliases_of(title_key, title)):
                    keys.add(key)
                    self._spellings[key][text] += 1
        return keys
