"""The lexicon of an update: the casing and the known names of a corpus, before and after, and what they change."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace

import ahocorasick

from pipeline.ingest.entities.aliases import Aliases, definitions
from pipeline.ingest.entities.counts import CountChanges, Counts
from pipeline.ingest.entities.extract import ChunkNames, Lexicon, Spelled, names_of
from pipeline.ingest.entities.extractors import Extractor
from pipeline.ingest.entities.gazetteer import Entry, Gazetteer, Titled
from pipeline.records import Chunk
from pipeline.text.names import Casing, Word, join_initials, plurals, words
from pipeline.text.prose import prose

_LOWER, _UPPER = "l", "u"
_LETTERS = re.compile(r"\b[^\W\d_][\W_]+[^\W\d_]\b")
_BETWEEN = re.compile(r"[\W_]+")


class LexiconUpdate:
    """The lexicon of one update: :meth:`count` every text that is added or removed, then :meth:`decide`.

    ``shared_by`` is how many documents may have a title or heading that names something.
    """

    def __init__(self, casing: CountChanges, aliases: CountChanges, shared_by: int, extractor: Extractor) -> None:
        self._casing = casing
        self._aliases = aliases
        self._shared_by = shared_by
        self._extractor = extractor
        nothing = Lexicon(Gazetteer({}), Aliases(()))
        self._lexicons = {False: nothing, True: nothing}
        self._affected = AffectedChunks(set(), {}, set())

    def count(self, texts: Iterable[str], sign: int) -> None:
        """Count the words of texts, and what they define, in (``sign`` 1) or out (-1)."""
        texts = list(map(prose, texts))
        counted = Casing(words(text) for text in texts)
        for form, counts in ((_LOWER, counted.lower), (_UPPER, counted.upper)):
            for word, count in counts.items():
                self._casing.add(word, {form: count}, sign)
        for text in texts:
            for key, defined in definitions(text):
                self._aliases.add(key, {defined: 1}, sign)

    def decide(self, before: Iterable[Titled], after: Iterable[Titled], *, new: bool) -> None:
        """Decide by all titles and headings before and after the update; of a ``new`` corpus no decision flips."""
        defined = self._aliases.load_all()
        was = Lexicon.of(before, ((key, self._aliases.before(key)) for key in defined), self._shared_by)
        will_be = Lexicon.of(after, ((key, self._aliases.after(key)) for key in defined), self._shared_by)
        self._lexicons = {False: was, True: will_be}
        if new:
            return
        changed = list(self._casing.changed())
        self._casing.load(changed)
        flipped = {
            word for word in changed if _decision(self._casing.before(word)) != _decision(self._casing.after(word))
        }
        self._affected = AffectedChunks(
            flipped, was.gazetteer.differs(will_be.gazetteer), was.aliases.differs(will_be.aliases)
        )

    def names(self, chunks: Sequence[Chunk], spelled: Spelled, *, after: bool) -> list[ChunkNames]:
        """Return the names in chunks as they were found before, or will be ``after``."""
        read = [replace(chunk, text=prose(chunk.text)) for chunk in chunks]
        found = [words(chunk.text) for chunk in read]
        casing = self._casing_of(found, after)
        return names_of(read, found, self._extractor, casing, self._lexicons[after], spelled)

    def affected(self) -> AffectedChunks:
        """Return the matcher of chunks whose extracted names may have changed."""
        return self._affected

    def _casing_of(self, texts: Iterable[Sequence[Word]], after: bool) -> Casing:
        """Return the casing of the words that may begin a name in some texts; no other's is asked for."""
        needed = {word.text.lower() for text in texts for word in text if word.text[0].isupper()}
        self._casing.load(needed)
        view = self._casing.after if after else self._casing.before
        counts = {word: view(word) for word in needed}
        return Casing.of(
            {word: count.get(_LOWER, 0) for word, count in counts.items()},
            {word: count.get(_UPPER, 0) for word, count in counts.items()},
        )


class AffectedChunks:
    """Matches the chunks whose extracted names may have changed.

    Their text or title contains a word whose casing decision flipped, a name whose gazetteer entry changed, or a name
    whose aliases changed.
    """

    def __init__(self, flipped: set[str], renamed: dict[str, Entry], realiased: set[str]) -> None:
        self._flipped = flipped
        self._renamed = Gazetteer(renamed)
        # Cheap to look for, and in every text that is affected: the flipped words, and the longest word of each name.
        self._of_texts = _Needles({_folded(word) for word in flipped} | {_longest_word(key) for key in renamed})
        of_names = {form for key in realiased for form in (key, *plurals(key))}
        self._of_names = _Needles({_longest_word(key) for key in of_names})

    def __bool__(self) -> bool:
        return bool(self._of_texts or self._of_names)

    def __contains__(self, chunk: Chunk) -> bool:
        if self._of_names and self._of_names.found(f"{chunk.text}\n{chunk.title}\n{chunk.heading}"):
            return True
        if not self._of_texts:
            return False
        if self._of_texts.found(chunk.title) and self._renamed.named(words(chunk.title)):
            return True
        if not self._of_texts.found(chunk.text):
            return False
        found = words(prose(chunk.text))
        flips = (word.text for word in found if word.text[0].isupper())
        return any(word.lower() in self._flipped for word in flips) or self._renamed.named(found)


class _Needles:
    """Words that are looked for in texts, whatever their case and accents, and initials also as one word."""

    def __init__(self, needles: set[str]) -> None:
        self._automaton = ahocorasick.Automaton()
        for needle in needles - {""}:
            self._automaton.add_word(needle, len(needle))
        self._automaton.make_automaton()

    def __bool__(self) -> bool:
        return len(self._automaton) > 0

    def found(self, text: str) -> bool:
        """Whether one of them is in a text."""
        folded = _folded(text)
        return self._in(folded) or bool(_LETTERS.search(folded) and self._in(join_initials(_BETWEEN.sub(" ", folded))))

    def _in(self, folded: str) -> bool:
        for end, length in self._automaton.iter(folded):
            before, after = folded[end - length : end - length + 1], folded[end + 1 : end + 2]
            if not (end - length >= 0 and before.isalnum()) and not after.isalnum():
                return True
        return False


def _longest_word(key: str) -> str:
    return max(key.split(), key=len)


def _folded(text: str) -> str:
    """Fold a text letter by letter, as :func:`pipeline.text.names.name_key` folds a name."""
    if not text.isascii():
        text = "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))
    return text.casefold()


def _decision(counts: Counts) -> tuple[bool, bool]:
    word = "x"
    casing = Casing.of({word: counts.get(_LOWER, 0)}, {word: counts.get(_UPPER, 0)})
    return casing.is_common(word), casing.is_no_name(word)
