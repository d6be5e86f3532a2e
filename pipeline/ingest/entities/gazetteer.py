"""The gazetteer: a corpus's titles, headings, and the names that its texts define, recognised in any text.

Texts define aliases: acronyms beside their long forms, and "X, also known as Y". A definition is local evidence: a
corpus accepts an alias only if its definitions agree on it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest
from typing import NamedTuple

from pipeline.text import names as naming
from pipeline.text.names import CONNECTORS, COUNTRIES, FUNCTION_WORDS, Casing, Matcher, Name, Word, entity_key, name_key
from pipeline.text.scripts import AT_RUNS, has_runs, is_run

_PARENTHESIS = re.compile(r"\(([^()\n]{2,80})\)")
_CAPITALS = "A-ZΑ-ΩА-ЯЁІЇЄҐ"
_ACRONYM = re.compile(
    rf"(?=(?:[^{_CAPITALS}]{{0,9}}[{_CAPITALS}]){{2}})[{_CAPITALS}a-zα-ωа-яёіїєґ0-9][{_CAPITALS}a-zα-ωа-яёіїєґ0-9&\-]{{1,9}}"
)
_ALSO_KNOWN_AS = re.compile(
    r"(?:,|\(|(?<!\s)\s++(?:\(|is|was)?)\s*+"  # a run of white space is tried once
    r"(?:or\s++simply|a\.?k\.?a\.?|née|born|formerly\s++called|also\s++(?:called|named|written|spelled|spelt)"
    r"|(?:(?:also|better|best|simply|formerly|previously|originally|otherwise|\w+ly)\s++){0,2}known\s++(?:\w+ly\s++)?as)"
    r"\s++(?=[\"“'‘]?[^\W\d_])"
)
_SHORT = re.compile(
    r"(?:^|(?<=[\s。！？，、；：]))(?P<long>[^\W\d_a-zA-Z][\w·・ー]{2,24})[（(](?:以下)?"
    r"(?:简称|簡稱|又称|又名|亦称|亦稱|别称|別稱|別名|通称|通稱|略称|旧称|舊稱|俗称)[为為はを：:、]?\s*[“「『\"]?"
    r"(?P<short>[^“”「」『』\"（）()，,、。；;]{2,15})[”」』\"]?[）)，,、；;]",
    re.MULTILINE,
)
"""A name at the beginning of a clause with its short or other name, as Chinese and Japanese introduce it."""

_HINTS = ("known", "born", "née", "or simply", "a.k.a", "aka", "formerly called", "also ")
_BIRTH_VERBS = ("born", "née")
_MONTHS = frozenset("january february march april may june july august september october november december".split())
_WINDOW = 120  # window in characters, on each side of a definition, for the two names
_MAX_WORDS = 8  # of a name that gets aliases: longer ones are phrases
_MAX_ALIASES = 4  # the most frequent; both chosen by hand, not measured
_STOPS = tuple(",;:.!?)”\"’'")
_QUOTES = "\"“”'‘’"
_INITIAL = 2  # characters: a letter and a full stop, which ends no sentence

DefinitionCounts = Mapping[str, int]
"""Number of a name's definitions by form; a form is the name and its alias as spelled, separated by a tab."""

LONGEST_TITLE = 12
"""Limit in words; a longer title is a sentence, which other texts don't repeat."""

_DOT_AND_SPACE_LENGTH = 2
_LONG_HEADING = 4  # letters of a heading without spaces that names something; chosen by hand, not measured

Heading = tuple[str, str, str]
"""A document's key, its title, and the path of headings of one of its chunks."""


class Alias(NamedTuple):
    """An alias. ``spellings`` limits it to these spellings of the source name; empty means all."""

    key: str
    name: str
    spellings: tuple[str, ...]


def definitions(text: str, language: str = "") -> Iterator[tuple[str, str]]:
    """Yield (name key, form) for each pair of names that the text defines, in both directions.

    A single word that is no acronym gets no alias, because elsewhere it may have other meanings.
    """
    for pair in (*_acronyms(text), *_also_known_as(text), *_short_names(text)):
        for name, other in (pair, pair[::-1]) if pair[0].lower() not in COUNTRIES else ():
            key = entity_key(name, language)
            fits = len(key) > 1 and key != entity_key(other, language) and key.count(" ") < _MAX_WORDS
            if fits and (_is_long(key) or _ACRONYM.fullmatch(name)):
                yield key, f"{name}\t{other}"


def agreed_aliases(key: str, forms: DefinitionCounts, language: str = "") -> tuple[Alias, ...]:
    """Return the aliases on which the definitions of a name agree.

    A name of several words may have several aliases. An acronym has a single alias, or none if fewer than three in four
    definitions agree.
    """
    counts: Counter[str] = Counter()
    spellings: dict[str, set[str]] = defaultdict(set)
    most_frequent: dict[str, tuple[int, str]] = {}
    for form, count in sorted(forms.items()):
        name, other = form.split("\t")
        other_key = entity_key(other, language)
        counts[other_key] += count
        spellings[other_key].add(name)
        most_frequent[other_key] = min(most_frequent.get(other_key, (0, other)), (-count, other))
    ranked = sorted(counts, key=lambda other: (-counts[other], other))
    if not _is_long(key):
        ranked = [other for other in ranked[:1] if 4 * counts[other] >= 3 * counts.total()]  # chosen by hand
    return tuple(
        Alias(other, most_frequent[other][1], () if _is_long(key) else tuple(sorted(spellings[other])))
        for other in ranked[:_MAX_ALIASES]
    )


def _is_long(key: str) -> bool:
    """Return whether a name says enough to have other names: several words, or a script that doesn't part them."""
    return " " in key or is_run(key)


def bare_acronym(name: str) -> str:
    """Return an acronym without dots, possessive and plural s; "" if ``name`` is no acronym."""
    bare = naming.without_possessive(name).replace(".", "")
    if bare[-1:] == "s" and bare[:-1].isupper():
        bare = bare[:-1]
    return bare if _ACRONYM.fullmatch(bare) else ""


class Aliases:
    """The aliases of a corpus's names."""

    def __init__(self, definitions: Iterable[tuple[str, DefinitionCounts]], language: str = "") -> None:
        agreed = ((key, agreed_aliases(key, counts, language)) for key, counts in definitions)
        self.by_key = {key: aliases for key, aliases in agreed if aliases}
        self._plurals: dict[str, str] = {}
        for key in self.by_key:
            forms = [one for one in naming.plurals(key) if naming.singular(one) == key] if " " in key else [key + "s"]
            self._plurals |= dict.fromkeys(forms, key)

    def changed_keys(self, other: Aliases) -> set[str]:
        """Return the keys of the names whose aliases differ in ``other``."""
        return {key for key in self.by_key | other.by_key if self.by_key.get(key) != other.by_key.get(key)}

    def leading_to(self, keys: Container[str]) -> set[str]:
        """Return the keys of the names that have one of ``keys`` as an alias."""
        return {key for key, aliases in self.by_key.items() if any(alias.key in keys for alias in aliases)}

    def of(self, key: str, text: str) -> list[tuple[str, str]]:
        """Return the (key, spelling) of the aliases of a name, singular or plural, that is written as ``text``."""
        singular_key = key if key in self.by_key else self._plurals.get(key, "")
        aliases = [
            (alias.key, alias.name)
            for alias in self.by_key.get(singular_key, ())
            if not alias.spellings or bare_acronym(text) in alias.spellings
        ]
        if singular_key != key and aliases:
            aliases.append((singular_key, bare_acronym(text) or naming.singular(text)))
        return aliases


def _acronyms(text: str) -> Iterator[tuple[str, str]]:
    for match in _PARENTHESIS.finditer(text):
        inner = re.split("[;,]", match.group(1))[0].strip().strip(_QUOTES)
        before = re.split(r"[;:!?\n(]|(?<![A-Z])\. ", text[max(0, match.start() - _WINDOW) : match.start()])[-1].split()
        if not before:
            continue
        last = before[-1].strip(_QUOTES)
        if short := bare_acronym(inner):
            most = min(len(short) + 5, 2 * len(short))  # Schwartz and Hearst, 2003
            if long := stands_for(short, " ".join(before[-most:])):
                yield _in_singular(inner, short, long)
        elif inner and (short := bare_acronym(last)) and stands_for(short, inner) == inner:
            yield _in_singular(last, short, inner)


def stands_for(short: str, text: str) -> str:
    """Return the end of ``text`` that the acronym ``short`` abbreviates; "" if there is none.

    The long form holds each letter of the acronym in order, and the first letter begins a word: Schwartz and Hearst, A
    Simple Algorithm for Identifying Abbreviation Definitions in Biomedical Text (2003).
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
    plausible = 1 < len(words) <= len(short) + 2 and words[0].lower() not in FUNCTION_WORDS and words[0][0].isalpha()
    return long if plausible and short not in words else ""


def _short_names(text: str) -> Iterator[tuple[str, str]]:
    if has_runs(text):
        yield from ((match["long"], match["short"].strip()) for match in _SHORT.finditer(text))


def _in_singular(written: str, short: str, long: str) -> tuple[str, str]:
    if written.replace(".", "") != short and naming.singular(name_key(long)) != name_key(long):
        stem, _, last = long.rpartition(" ")
        return short, f"{stem} {naming.singular(last)}"
    return short, long


def _also_known_as(text: str) -> Iterator[tuple[str, str]]:
    # Far cheaper than the pattern; few texts hold a hint.
    if not any(hint in text for hint in _HINTS):
        return
    for match in _ALSO_KNOWN_AS.finditer(text):
        before = re.sub(r"\s*\([^()]*\)?$", "", text[max(0, match.start() - _WINDOW) : match.start()])
        after = text[match.end() : match.end() + _WINDOW]
        name = " ".join(reversed(_capitalised(reversed(before.split()), backwards=True))).strip(_QUOTES + ",")
        other = re.split("[,;:)]", " ".join(_capitalised(after.split(), backwards=False)))[0].strip(_QUOTES + ".!?")
        of_birth = match.group().split()[-1].strip(",(") in _BIRTH_VERBS
        if name and other and not (of_birth and (" " not in other or other.split()[0].lower() in _MONTHS)):
            yield name, other


def _capitalised(words: Iterable[str], *, backwards: bool) -> list[str]:
    """Return the run of capitalised words of one sentence that ``words`` begin with, from its end if ``backwards``."""
    taken: list[str] = []
    for word in words:
        ends = word.endswith(_STOPS) and len(word) > _INITIAL
        if (backwards and taken and ends) or not (_capital(word) or (taken and word in CONNECTORS)):
            break
        taken.append(word)
        if ends and not backwards:
            break
    while taken and not (_capital(taken[-1]) and not (backwards and taken[-1].lower() in FUNCTION_WORDS)):
        taken.pop()
    return taken


def _capital(word: str) -> bool:
    return word.lstrip(_QUOTES)[:1].isupper()


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


class Lexicon:
    """The known names of a corpus: its gazetteer, and its aliases.

    ``definitions`` are by name key, ``language`` is the corpus's. A title or heading that more than ``shared_by``
    documents share names nothing.
    """

    def __init__(
        self,
        headings: Iterable[Heading],
        definitions: Iterable[tuple[str, DefinitionCounts]],
        shared_by: int,
        language: str = "",
    ) -> None:
        self._language = language
        self.aliases = Aliases(definitions, language)
        entries = {**_alias_entries(self.aliases), **_entries(headings, shared_by, language)}
        self.gazetteer = Gazetteer(entries, language)

    def key(self, name: str) -> str:
        """Return the key of the entity with this name."""
        return entity_key(name, self._language)


def _entries(headings: Iterable[Heading], shared_by: int, language: str) -> dict[str, Entry]:
    """Return the entries of titles and headings, by key, independent of their order.

    A title or heading that more than ``shared_by`` documents share names nothing (Introduction, Usage) and is left out.
    """
    documents: dict[str, set[str]] = defaultdict(set)
    holders: dict[str, set[str]] = defaultdict(set)
    spelling: dict[str, str] = {}
    for title, document_key, is_title in _titles(headings):
        key = entity_key(title, language)
        holders[key].add(document_key)
        spelling[key] = min(title, spelling.get(key, title))
        if is_title:
            documents[key].add(document_key)
    return {
        key: Entry(key, tuple(sorted(documents[key])), _any_case(spelling[key], length), length)
        for key, sharing in holders.items()
        if len(key) > 1 and len(sharing) <= shared_by and (length := key.count(" ") + 1) <= LONGEST_TITLE
    }


def last_heading(headings: str) -> str:
    """Return the innermost heading of a chunk's path of headings."""
    return headings.rsplit(" > ", 1)[-1]


def _alias_entries(aliases: Aliases) -> dict[str, Entry]:
    """Return the entries of acronyms and their long forms, by key."""
    result = {}
    for source_key, names in aliases.by_key.items():
        if names[0].spellings:
            result[source_key] = Entry(source_key, (), False, 1, names[0].spellings)
        for alias in names:
            length = alias.key.count(" ") + 1
            if _is_long(alias.key):
                any_case = _any_case(alias.name, length)
                keys = {alias.key, *naming.plurals(alias.key)} if any_case else {alias.key}
                result.update({key: Entry(key, (), any_case, length) for key in keys})
    return result


class Gazetteer:
    """The known names of a corpus, matched with Aho-Corasick, leftmost and longest first."""

    def __init__(self, entries_by_key: Mapping[str, Entry], language: str = "") -> None:
        self._entries = entries_by_key
        self._language = language
        self._matcher = Matcher({_pattern(key): entry for key, entry in entries_by_key.items()})

    def occurs_in(self, words: Sequence[Word]) -> bool:
        """Return whether any entry occurs in a text's ``words``, written as a name or not."""
        return (
            bool(self._matcher) and next(self._matcher.occurrences(_fold(words, self._language)[0]), None) is not None
        )

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
        folded, starts, ends = _fold(words, self._language)
        free_from = 0
        for start, end, entry in self._matcher.leftmost_longest(folded):
            start += folded[start] == " "
            end -= folded[end - 1] == " "
            first, last = starts.get(start), ends.get(end)
            if first is None or last is None or start < free_from or not _written_as_name(words[first], entry, casing):
                continue
            free_from = end
            begin, stop = words[first].start, words[last].end
            yield entry, Name(entry.key, text[begin:stop], begin, stop)


def _titles(headings: Iterable[Heading]) -> Iterator[tuple[str, str, bool]]:
    """Yield (name, document key, whether it is a title) for the titles, their short forms, and long headings."""
    for document_key, title, path in headings:
        bare = naming.without_disambiguation(title)
        for name in {title, bare, naming.without_middle_initials(bare)} - {""}:
            yield name, document_key, True
        heading = last_heading(path)
        if " " in heading or (len(heading) >= _LONG_HEADING and is_run(heading)):
            yield heading, document_key, False


def _pattern(key: str) -> str:
    """Return what :func:`_fold` makes of a text that is this key: words of a script without spaces end anywhere."""
    if not has_runs(key):
        return f" {key} "
    spaced = AT_RUNS.sub(" ", f" {key} ")
    return spaced[is_run(key) : len(spaced) - is_run(key[-1])]


def _fold(words: Sequence[Word], language: str) -> tuple[str, dict[int, int], dict[int, int]]:
    """Join the words' keys, one of initials in a row, with spaces; map offsets of starts and ends to words' indexes.

    Syllables of a script without spaces follow each other without one.
    """
    keyed = [(key, index, index) for index, word in enumerate(words) if (key := entity_key(word.text, language))]
    single = [position for position, (key, _, _) in enumerate(keyed) if len(key) == 1 and not is_run(key)]
    # From the end, so that earlier positions stay valid.
    for position, following in reversed(list(pairwise(single))):
        if following == position + 1 and _is_next_initial(words[keyed[position][2]], words[keyed[following][1]]):
            (key, first, _), (more, _, last) = keyed[position : following + 1]
            keyed[position : following + 1] = [(key + more, first, last)]
    starts: dict[int, int] = {}
    ends: dict[int, int] = {}
    parts = [" "]
    at = 1
    for (key, first, last), after in zip_longest(keyed, keyed[1:]):
        starts[at] = first
        ends[at + len(key)] = last
        joined = after and words[last].end == words[after[1]].start and is_run(key) and is_run(after[0])
        parts.append(key if joined else f"{key} ")
        at += len(parts[-1])
    return "".join(parts) if keyed else "  ", starts, ends


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
    common = entry.words == 1 and first.initial and casing.is_common(first.text.lower())
    letter = first.text[0]
    return not common and (letter.isupper() or letter.isdigit() or (letter.isalpha() and letter.swapcase() == letter))
