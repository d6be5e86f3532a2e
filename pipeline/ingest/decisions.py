"""What decides which names are found: a corpus's casing and its gazetteer, as they were and as they will be."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

import ahocorasick

from pipeline.ingest.extract import ChunkNames, Entry, Gazetteer, Spelled, Titled, entries, names_of
from pipeline.ingest.tallies import Counts, Tallies
from pipeline.names import Casing, Word, words
from pipeline.records import Chunk

_LOWER, _UPPER = "l", "u"


class Decisions:
    """The decisions of one update. :meth:`count` every text that comes or goes, then :meth:`settle`."""

    def __init__(self, casing: Tallies, shared_by: int) -> None:
        self._casing = casing
        self._shared_by = shared_by
        self._gazetteers = {False: Gazetteer({}), True: Gazetteer({})}
        self._flipped: set[str] = set()
        self._renamed: dict[str, Entry] = {}

    def count(self, texts: Iterable[str], sign: int) -> None:
        """Count the words of texts in (``sign`` 1) or out (-1)."""
        counted = Casing(words(text) for text in texts)
        for form, counts in ((_LOWER, counted.lower), (_UPPER, counted.upper)):
            for word, count in counts.items():
                self._casing.add(word, {form: count}, sign)

    def settle(self, before: Iterable[Titled], after: Iterable[Titled], whole: bool) -> None:
        """Find what flips, given all titles and headings as they were and as they will be; nothing if all is new."""
        was = entries(before, self._shared_by)
        will_be = entries(after, self._shared_by)
        self._gazetteers = {False: Gazetteer(was), True: Gazetteer(will_be)}
        if whole:
            return
        self._renamed = {key: known for key, known in {**was, **will_be}.items() if was.get(key) != will_be.get(key)}
        changed = list(self._casing.changed())
        self._casing.load(changed)
        self._flipped = {
            word for word in changed if _decision(self._casing.before(word)) != _decision(self._casing.after(word))
        }

    def names(self, chunks: Sequence[Chunk], spelled: Spelled, *, after: bool) -> list[ChunkNames]:
        """Return the names in chunks as they were found before, or will be ``after``."""
        found = [words(chunk.text) for chunk in chunks]
        casing = self._casing_of(found, after)
        gazetteer = self._gazetteers[after]
        return [
            names_of(chunk, in_chunk, casing, gazetteer, spelled) for chunk, in_chunk in zip(chunks, found, strict=True)
        ]

    def affected(self) -> Affected:
        """Return what tells the texts in which other names may be found than before."""
        return Affected(self._flipped, self._renamed)

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


class Affected:
    """Tells texts that hold a word whose casing flipped, or a title or heading that is new, gone or another's."""

    def __init__(self, flipped: set[str], renamed: dict[str, Entry]) -> None:
        self._flipped = flipped
        self._renamed = Gazetteer(renamed)
        # Cheap to look for, and in every text that is affected: the flipped words, and the longest word of each title.
        needles = {_folded(word) for word in flipped} | {max(key.split(), key=len) for key in renamed}
        self._needles = ahocorasick.Automaton()
        for needle in needles - {""}:
            self._needles.add_word(needle, len(needle))
        self._needles.make_automaton()

    def __bool__(self) -> bool:
        return len(self._needles) > 0

    def __contains__(self, text: str) -> bool:
        if not self or not self._may_hold(_folded(text)):
            return False
        found = words(text)
        flips = (word.text for word in found if word.text[0].isupper())
        return any(word.lower() in self._flipped for word in flips) or self._renamed.named(found)

    def _may_hold(self, folded: str) -> bool:
        for end, length in self._needles.iter(folded):
            before, after = folded[end - length : end - length + 1], folded[end + 1 : end + 2]
            if not (end - length >= 0 and before.isalnum()) and not after.isalnum():
                return True
        return False


def _folded(text: str) -> str:
    """Fold a text letter by letter, as :func:`pipeline.names.name_key` folds a name."""
    if not text.isascii():
        text = "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))
    return text.casefold()


def _decision(counts: Counts) -> tuple[bool, bool]:
    word = "x"
    casing = Casing.of({word: counts.get(_LOWER, 0)}, {word: counts.get(_UPPER, 0)})
    return casing.is_common(word), casing.is_no_name(word)
