"""The lexicon of an update: a corpus's casing and known names before and after it, and the chunks they affect.

The graph stores the counts behind these decisions in shards by key, so that an update can detect flipped decisions and
reads only the shards that it needs.
"""

import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from pipeline.ingest.entities.extract import ChunkNames, Extractor, NameCollector, SpellingCounts
from pipeline.ingest.entities.gazetteer import Entry, Gazetteer, Heading, Lexicon, definitions
from pipeline.records import Chunk
from pipeline.text.fold import MARKS, bare, has_other_letters
from pipeline.text.inflection import stemmed
from pipeline.text.names import Casing, Matcher, join_initials, plurals, words
from pipeline.text.prose import prose
from pipeline.text.scripts import is_run

SHARDS = 1024  # an update reads few counts, and a corpus has few nodes for them; chosen by hand, not measured

Counts = Mapping[str, int]
"""Number of occurrences of each form of a key; forms with zero occurrences are left out."""

CountsByKey = Mapping[str, Counts]

ReadShards = Callable[[list[int]], Iterable[tuple[int, CountsByKey]]]
"""Reads shards of the visible generation by number; shards without counts may be left out."""

_LOWER, _UPPER = "l", "u"
_WORD = re.compile(f"\\w[\\w{MARKS}]*")
_LETTERS = re.compile(r"\b[^\W\d_][\W_]+[^\W\d_]\b")
_NOT_WORD = re.compile(r"[\W_]+")


class CountChanges:
    """A corpus's counts of one kind, as stored and with an update's additions and subtractions."""

    def __init__(self, read: ReadShards) -> None:
        self._read = read
        self._stored: dict[int, CountsByKey] = {}
        self._changes: dict[str, Counter[str]] = defaultdict(Counter)

    def add(self, key: str, counts: Counts, sign: int = 1) -> None:
        """Add ``counts``, by form, to those of ``key``; subtract them if ``sign`` is -1."""
        changes = self._changes[key]
        for form, count in counts.items():
            changes[form] += sign * count

    def changed(self) -> Iterator[str]:
        """Yield the keys with a changed count."""
        return (key for key, changes in self._changes.items() if any(changes.values()))

    def load(self, keys: Iterable[str]) -> None:
        """Read the stored counts of ``keys``; :meth:`before` and :meth:`after` accept loaded keys only."""
        self._load_shards(map(_shard, keys))

    def load_all(self) -> list[str]:
        """Read all stored counts; return the keys that have counts before or after the update."""
        self._load_shards(range(SHARDS))
        stored = (key for shard in self._stored.values() for key in shard)
        return list(dict.fromkeys([*stored, *self._changes]))

    def before(self, key: str) -> Counts:
        """Return the counts of ``key`` in the visible generation."""
        return self._stored[_shard(key)].get(key, {})

    def after(self, key: str) -> Counts:
        """Return the counts of ``key`` with the update's changes."""
        before, changes = self.before(key), self._changes.get(key)
        if not changes:
            return before
        forms = before.keys() | changes.keys()
        return {form: count for form in forms if (count := before.get(form, 0) + changes[form])}

    def changed_shards(self) -> Iterator[tuple[int, dict[str, Counts]]]:
        """Yield the changed shards, each with its number and all its new counts."""
        by_shard: dict[int, list[str]] = defaultdict(list)
        for key in self.changed():
            by_shard[_shard(key)].append(key)
        self.load(key for keys in by_shard.values() for key in keys)
        for shard, keys in by_shard.items():
            counts = {**self._stored[shard], **{key: self.after(key) for key in keys}}
            yield shard, {key: forms for key, forms in counts.items() if forms}

    def _load_shards(self, shards: Iterable[int]) -> None:
        if missing := set(shards) - self._stored.keys():
            self._stored |= {shard: {} for shard in missing}
            self._stored |= self._read(list(missing))


def _shard(key: str) -> int:
    return zlib.crc32(key.encode("utf-8", "surrogatepass")) % SHARDS


class LexiconUpdate:
    """The lexicon of an update: :meth:`count` every text that is added or removed, then :meth:`decide`.

    ``shared_by`` is the largest number of documents that may share a title or heading that is used as a name.
    """

    def __init__(
        self, casing: CountChanges, aliases: CountChanges, shared_by: int, extractor: Extractor, language: str = ""
    ) -> None:
        self._casing = casing
        self._aliases = aliases
        self._shared_by = shared_by
        self._extractor = extractor
        self._language = language
        self._lexicons: dict[bool, Lexicon] = {}
        self.affected = AffectedChunks(set(), {}, set(), language)

    def count(self, texts: Iterable[str], sign: int) -> None:
        """Add (``sign`` 1) or subtract (-1) the words of texts and the aliases that they define."""
        texts = list(map(prose, texts))
        counted = Casing(words(text) for text in texts)
        for form, counts in ((_LOWER, counted.lower), (_UPPER, counted.upper)):
            for word, count in counts.items():
                self._casing.add(word, {form: count}, sign)
        for text in texts:
            for key, defined in definitions(text, self._language):
                self._aliases.add(key, {defined: 1}, sign)

    def decide(self, before: Iterable[Heading], after: Iterable[Heading], *, new: bool) -> None:
        """Make both lexicons from all titles and headings before and after the update, and detect flipped decisions.

        A ``new`` corpus has no decisions that can flip.
        """
        keys = self._aliases.load_all()
        old = Lexicon(before, ((key, self._aliases.before(key)) for key in keys), self._shared_by, self._language)
        updated = Lexicon(after, ((key, self._aliases.after(key)) for key in keys), self._shared_by, self._language)
        self._lexicons = {False: old, True: updated}
        if new:
            return
        changed = list(self._casing.changed())
        self._casing.load(changed)
        flipped = {
            word
            for word in changed
            if _decision(word, self._casing.before(word)) != _decision(word, self._casing.after(word))
        }
        entries = old.gazetteer.changed_entries(updated.gazetteer)
        aliases = old.aliases.changed_keys(updated.aliases)
        # A text that has only the short form leads to the entry of the long one.
        aliases |= old.aliases.leading_to(entries) | updated.aliases.leading_to(entries)
        self.affected = AffectedChunks(flipped, entries, aliases, self._language)

    def names(self, chunks: Sequence[Chunk], *, after: bool) -> tuple[list[ChunkNames], SpellingCounts]:
        """Return the names in chunks before or ``after`` the update, and their spellings."""
        without_markup = [replace(chunk, text=prose(chunk.text)) for chunk in chunks]
        chunk_words = [words(chunk.text) for chunk in without_markup]
        # the extraction needs the casing of capitalised words only
        needed = {word.text.lower() for text in chunk_words for word in text if word.text[0].isupper()}
        self._casing.load(needed)
        casing = _casing({word: (self._casing.after if after else self._casing.before)(word) for word in needed})
        spellings: SpellingCounts = defaultdict(Counter)
        extracted = self._extractor([chunk.text for chunk in without_markup], chunk_words, casing)
        return [
            NameCollector(chunk, self._lexicons[after], spellings).names(in_order, names, casing)
            for chunk, in_order, names in zip(without_markup, chunk_words, extracted, strict=True)
        ], spellings


class AffectedChunks:
    """Matches the chunks whose extracted names may have changed.

    They contain a word whose casing decision flipped, a name whose gazetteer entry changed, or a name whose aliases, or
    their entries, changed.
    """

    def __init__(
        self, flipped: set[str], changed_entries: dict[str, Entry], changed_aliases: set[str], language: str = ""
    ) -> None:
        self._flipped = flipped
        self._changed_entries = Gazetteer(changed_entries, language)
        # A cheap test that every affected text passes: it holds a flipped word, or the longest word of a changed name.
        self._hints = _WordSearch(
            {bare(word) for word in flipped} | {_longest_word(key) for key in changed_entries}, language
        )
        names = {form for key in changed_aliases for form in (key, *plurals(key))}
        self._alias_hints = _WordSearch({_longest_word(key) for key in names}, language)

    def __bool__(self) -> bool:
        return bool(self._hints or self._alias_hints)

    def __contains__(self, chunk: Chunk) -> bool:
        if self._alias_hints and self._alias_hints.matches(f"{chunk.text}\n{chunk.title}\n{chunk.heading}"):
            return True
        if self._hints and self._hints.matches(chunk.title) and self._changed_entries.occurs_in(words(chunk.title)):
            return True
        if not self._hints or not self._hints.matches(chunk.text):
            return False
        chunk_words = words(prose(chunk.text))
        capitalised = (word.text.lower() for word in chunk_words if word.text[0].isupper())
        return not self._flipped.isdisjoint(capitalised) or self._changed_entries.occurs_in(chunk_words)


class _WordSearch:
    """Searches texts for words regardless of case and accents, with initials also joined into a word.

    Words of scripts without spaces may be anywhere, and those whose endings are dropped are looked for by their stems.
    """

    def __init__(self, targets: set[str], language: str) -> None:
        self._language = language
        self._targets = targets - {""}
        self._matcher = Matcher(dict.fromkeys(self._targets))

    def __bool__(self) -> bool:
        return bool(self._matcher)

    def matches(self, text: str) -> bool:
        folded = bare(text)
        if self._in(folded) or (_LETTERS.search(folded) and self._in(join_initials(_NOT_WORD.sub(" ", folded)))):
            return True
        if not (self._language or has_other_letters(text)):
            return False
        return any(stemmed(word, self._language) in self._targets for word in _WORD.findall(folded))

    def _in(self, folded: str) -> bool:
        return any(
            _parted(folded[max(start - 1, 0) : start], folded[start])
            and _parted(folded[end - 1], folded[end : end + 1])
            for start, end, _ in self._matcher.occurrences(folded)
        )


def _parted(left: str, right: str) -> bool:
    """Return whether a word may end between two characters, of which either may be missing."""
    return not (left.isalnum() and right.isalnum()) or is_run(left) or is_run(right)


def _longest_word(key: str) -> str:
    return max(key.split(), key=len)


def _casing(counts: CountsByKey) -> Casing:
    lower, upper = ({word: forms.get(form, 0) for word, forms in counts.items()} for form in (_LOWER, _UPPER))
    return Casing.of(lower, upper)


def _decision(word: str, counts: Counts) -> tuple[bool, bool]:
    casing = _casing({word: counts})
    return casing.is_common(word), casing.is_no_name(word)
