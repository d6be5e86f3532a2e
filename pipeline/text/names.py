"""Names in running text, recognised by capitals, as identifiers of code or from a list, and the key of their variants.

Ingestion (names in chunks) and search (names in questions) both use this module, so that they agree.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Generic, NamedTuple, TypeVar

import ahocorasick

from pipeline.resources import word_lists
from pipeline.text.cached import cached
from pipeline.text.fold import MARKS, WRITTEN, bare, fold, is_folded
from pipeline.text.inflection import snowball, stemmed, without_article
from pipeline.text.scripts import KATAKANA, RUN, RUN_LETTERS, SYLLABLE, has_runs

_IDENTIFIER = re.compile(
    r"[^\W\d_]\w*_\w|_+[^\W\d_]\w*_|__[^\W\d_]"  # snake_case
    r"|[a-z][a-z0-9]*[A-Z]"  # camelCase
    r"|(?:(?:[A-Za-z_]\w+\.)+[A-Za-z_]\w+|[a-z]+\d[a-z0-9]*|v\d+(?:\.\d+)*|\d+(?:\.\d+){2,})\Z"  # dotted.name, utf8, v1
)
_FILE = re.compile(r"[\w./\-]*\w\.[a-z][a-z0-9]{0,4}")
_ANY = re.compile(r"[`_]|--[A-Za-z]|\w\.[A-Za-z_]\w|[a-z][A-Z\d]|/\w|\d\.\d+\.\d")
_MARKS = ("`", "-")
_LONGEST = 80  # characters of an identifier; chosen by hand, as the next, not measured
_LONGEST_TARGET = 200  # characters of a hyperlink before the words at hand
_Value = TypeVar("_Value")

# Signs of letters: many PDF files hold accents as characters of their own, and the scripts of India have vowels so.
_LETTERS = f"\\w[\\w{MARKS}\u200c\u200d]*"
_WORD = re.compile(rf"{_LETTERS}(?:[’'‘\-./&]{_LETTERS})*")
_POSSESSIVE = re.compile(r"[’'‘]s?$")
_NOT_WORD = re.compile(f"(?:_|[^\\w{MARKS}])+")
_INITIALS = re.compile(r"\b[^\W\d](?: [^\W\d]\b)+")
_MIDDLE_INITIALS = re.compile(r"(?<=[^\W\d_]{2})(?: [^\W\d_]\.)+(?= [^\W\d_]{2})")
_PARENTHESES = str.maketrans("（）", "()")
_DOTTED = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]")
_YEAR = re.compile(r"(?:1\d|20)\d\d$")
_SENTENCE_END = frozenset('.!?:;\n"“”»«(•*#|。！？؟।')
_QUOTED = re.compile(
    # Longer ones are speech; chosen by hand, not measured.
    f"[《〈「『](?P<quoted>[{RUN_LETTERS}{MARKS}・·]{{2,20}})[》〉」』]"
    f"|(?P<foreign>[{KATAKANA}]+(?:[・＝=][{KATAKANA}]+)+)"
)
"""Names in scripts without capitals: titles in quotation marks of theirs, and foreign names in Katakana."""

_WORDS = word_lists(__file__)
CONNECTORS = frozenset(_WORDS["connectors"].split())
"""Lower-case words that may stand inside a name."""

_HONORIFICS = frozenset("dr mr mrs ms prof professor sir lady".split())
_SHORTENED = _HONORIFICS | {"st", "mt", "ft", "jr", "sr"}

COUNTRIES = frozenset("us uk usa un eu dc".split())
"""Country abbreviations: not a person's initials, and too frequent to be useful as entities."""

ARTICLES = frozenset(("the", "a", "an"))

FUNCTION_WORDS = ARTICLES | frozenset(_WORDS["function_words"].split())
"""English function words and words that begin a request. A phrase of these words alone names nothing."""

_VERBS = frozenset(_WORDS["verbs"].split())
_OPENERS = frozenset(_WORDS["openers"].split())
_INFLECTED = re.compile(r"[a-z]+(?:s|ed|ing)")

_ARTICLE = re.compile(r"^\W*(?:the|a|an)\s+")
_LONGEST_SPAN = 8  # words; longer runs are headlines. These three are chosen by hand, not measured
_SHORTEST_PLURAL = 3  # letters that are no plural: gas, bus, AWS
_PLURALS = (("ies", "y"), ("sses", "ss"), ("shes", "sh"), ("ches", "ch"), ("xes", "x"), ("s", ""))
_COMMON_RATIO = 5  # above 1, since headings and emphasis capitalise common words, too


def may_hold_identifiers(text: str) -> bool:
    """Return whether a text may hold identifiers: a cheap test, which most prose fails."""
    return _ANY.search(text) is not None


def is_identifier(text: str, start: int, end: int) -> bool:
    """Return whether the word ``text[start:end]`` is an identifier.

    Identifiers are snake_case, camelCase, a dotted.name, a --flag, a path, a version, a word with a digit (utf8), and
    any single word in backticks. CamelCase with a capital first letter is a name already. A word or path in the target
    of a Markdown link becomes an edge instead.
    """
    word, before = text[start:end], text[max(0, start - 1) : start]
    if end - start > _LONGEST or (before not in _MARKS and word.isalpha() and word.islower()):
        return False
    if before == "`":
        return text[end : end + 1] == "`"
    if before == "-":
        # an option (--flag), not a part of a sentence between dashes
        dashes, opening = text[max(0, start - 2) : start], text[max(0, start - 3) : max(0, start - 2)]
        return dashes == "--" and opening in ("", *" \n`[(\"'|") and text[start].isalpha()
    if not (before == "/" or _FILE.fullmatch(word) if "/" in word else _IDENTIFIER.match(word)):
        return False
    link = text.rfind("](", max(0, start - _LONGEST_TARGET), start)
    return link < 0 or ")" in text[link:start]


class Matcher(Generic[_Value]):
    """Finds texts, each with a value, in other texts by Aho-Corasick: in one pass, however many there are."""

    def __init__(self, values: Mapping[str, _Value]) -> None:
        self._automaton = ahocorasick.Automaton()
        for text, value in values.items():
            self._automaton.add_word(text, (len(text), value))
        self._automaton.make_automaton()

    def __bool__(self) -> bool:
        return len(self._automaton) > 0

    def occurrences(self, text: str) -> Iterator[tuple[int, int, _Value]]:
        """Yield the start and end of every occurrence in ``text``, and its value, by their ends."""
        for last, (length, value) in self._automaton.iter(text) if self else ():
            yield last - length + 1, last + 1, value

    def leftmost_longest(self, text: str) -> list[tuple[int, int, _Value]]:
        """Return the occurrences in the order in which to take them: by their starts, the longest first.

        They may overlap: the caller takes one if it begins after the last that was taken and stands there as a name.
        """
        return sorted(self.occurrences(text), key=lambda match: (match[0], -match[1]))


def lowered(text: str) -> str:
    """Return a text in small letters, each character in its place: those that would become several stay as they are."""
    small = text.lower()
    return small if len(small) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


class Name(NamedTuple):
    """A name at ``text[start:end]``. Variants in case, accents and possessive share its ``key``."""

    key: str
    text: str
    start: int
    end: int


class Word(NamedTuple):
    """A word at ``text[start:end]``. ``initial``: a sentence, line, quotation or list item begins with it."""

    text: str
    start: int
    end: int
    initial: bool


def folded(name: str, *, spaces: str = "") -> str:
    """Return the form in which to compare names that people give: one case, one normal form, single spaces.

    The characters in ``spaces`` count as spaces. Names in running text have :func:`name_key`, which drops accents.
    """
    normal = unicodedata.normalize("NFC", fold(name).casefold())
    return " ".join(normal.translate(dict.fromkeys(map(ord, spaces), " ")).split())


@cached(200_000)  # chosen by hand, to bound memory
def name_key(name: str) -> str:
    """Return a name's key: no accents, case, punctuation, possessive or leading article; single spaces between words.

    Consecutive initials make a single word: ``J. R. R. Tolkien`` gives ``jrr tolkien``, and ``U.S.`` gives ``us``.
    """
    folded = bare(without_possessive(fold(name.strip())))
    named = _ARTICLE.sub("", folded).replace("'s ", " ").replace("’s ", " ")
    return join_initials(_NOT_WORD.sub(" ", named).strip())


@cached(200_000)  # as above
def entity_key(name: str, language: str = "") -> str:
    """Return the key of the entity with this name: its :func:`name_key`, of stems where names are inflected.

    ``language`` is that of the corpus, as :func:`pipeline.text.inflection.language_of` tells it.
    """
    key = name_key(name)
    if key.isascii() and not language:
        return key
    return " ".join(stemmed(word, language) for word in without_article(key.split(), language))


def join_initials(folded: str) -> str:
    """Join consecutive initials of a folded text into a single word."""
    return _INITIALS.sub(lambda initials: initials.group().replace(" ", ""), folded)


def without_middle_initials(name: str) -> str:
    """Return a name without the initials between its words: ``John F. Kennedy`` gives ``John Kennedy``."""
    initials = _MIDDLE_INITIALS.search(name)
    return name[: initials.start()] + name[initials.end() :] if initials else name


def singular(key: str) -> str:
    """Return a name's key with its last word in the singular, judged by spelling alone; unchanged if singular."""
    if key.endswith(("ss", "us", "is")) or len(key.rpartition(" ")[2]) <= _SHORTEST_PLURAL:
        return key
    for plural, ending in _PLURALS:
        if key.endswith(plural):
            return key.removesuffix(plural) + ending
    return key


def plurals(key: str) -> set[str]:
    """Return the keys of which ``key`` may be the :func:`singular`."""
    return {key + "s"} | {
        key.removesuffix(ending) + plural for plural, ending in _PLURALS if ending and key.endswith(ending)
    }


def most_frequent(counts: Mapping[str, int]) -> str:
    """Return the most frequent spelling; of equally frequent ones the first in alphabetical order."""
    return min(counts, key=lambda spelling: (-counts[spelling], spelling))


def without_possessive(name: str) -> str:
    """Return a name without the possessive at its end."""
    return _POSSESSIVE.sub("", name)


def without_disambiguation(title: str) -> str:
    """Return a title without its last parenthesis: ``Mercury (planet)`` gives ``Mercury``."""
    before, parenthesis, inside = title.rstrip().translate(_PARENTHESES).rpartition("(")
    ends = parenthesis and inside.find(")") == len(inside) - 1
    return (ends and before.rstrip()) or title


def words(text: str) -> list[Word]:
    """Return the words of a text in order, folded; apostrophes, hyphens, dots and slashes inside belong to them.

    In a script without spaces between words each syllable comes as a word: names begin and end at any of them.
    """
    as_folded, split = is_folded(text), has_runs(text)
    result: list[Word] = []
    previous_end = 0
    for match in (_WORD if as_folded else WRITTEN).finditer(text):
        start, end = match.span()
        word = match.group() if as_folded else fold(match.group())
        if as_folded or _WORD.match(word):
            initial = not previous_end or not _SENTENCE_END.isdisjoint(text[previous_end:start])
            if split and has_runs(word):
                result += _syllables(text, start, end, initial=initial)
            else:
                result.append(Word(word, start, end, initial))
            previous_end = end
    return result


def _syllables(text: str, start: int, end: int, *, initial: bool) -> Iterator[Word]:
    """Yield the syllables of the runs in ``text[start:end]``, and the words between them."""
    at = start
    for run in (*RUN.finditer(text, start, end), None):
        between = _WORD.finditer(text, at, run.start() if run else end)
        for match in chain(between, SYLLABLE.finditer(text, *run.span()) if run else ()):
            yield Word(fold(match.group()), *match.span(), initial and match.start() == start)
        at = run.end() if run else end


class Casing:
    """Counts of how a corpus writes its words: in lower case, and capitalised inside a sentence; both by lower case."""

    def __init__(self, texts: Iterable[Sequence[Word]]) -> None:
        self.lower: Counter[str] = Counter()
        self.upper: Counter[str] = Counter()
        for text in texts:
            self.lower.update(word.text for word in text if word.text[0].islower())
            self.upper.update(word.text.lower() for word in text if not word.initial and word.text[0].isupper())

    @classmethod
    def of(cls, lower: Mapping[str, int], upper: Mapping[str, int]) -> Casing:
        """Make the casing from existing counts: of words in lower case, and capitalised inside a sentence."""
        casing = cls([])
        casing.lower.update(lower)
        casing.upper.update(upper)
        return casing

    def is_common(self, word: str) -> bool:
        """Return whether ``word``, given in lower case, is more often lower-case than capitalised in a sentence.

        A form of an English verb and an English opener count as if they were lower-case once more: a corpus may have
        them at the beginnings of sentences alone.
        """
        return self.lower[word] + (word in _OPENERS or _is_inflected(word)) > self.upper[word]

    def is_no_name(self, word: str) -> bool:
        """Return whether ``word``, given in lower case, is lower-case so often that alone it is never a name."""
        ordinary = word in _VERBS or word in _OPENERS or _is_inflected(word)
        return self.lower[word] + ordinary > _COMMON_RATIO * self.upper[word]


@cached(200_000)  # chosen by hand, to bound memory
def _is_inflected(word: str) -> bool:
    """Return whether a word in lower case is an inflected form of one of the listed verbs."""
    return word not in _VERBS and _INFLECTED.fullmatch(word) is not None and snowball(word) in _stems()


@cache
def _stems() -> frozenset[str]:
    return frozenset(map(snowball, _VERBS))


def spans(text: str, text_words: Sequence[Word], casing: Casing, language: str = "") -> Iterator[Name]:
    """Yield the runs of capitalised words, the years and the identifiers of a text with the words ``text_words``.

    Of scripts without capitals it yields what stands in quotation marks of titles, and foreign names in Katakana.

    Connectors (of, the, de, van...) may stand inside a run, numbers after its first word. The first word of a sentence
    begins no name if the corpus mostly writes it in lower case.
    """
    run: list[Word] = []
    pending: list[Word] = []
    identifiers = may_hold_identifiers(text)
    for word in text_words:
        if run and not _adjoins(text, (pending or run)[-1], word):
            yield from _finish(run, text, casing, language)
            run, pending = [], []
        if _begins_name(word, casing) or (run and not pending and word.text[0].isdigit()):
            run = [*run, *pending, word]
            pending = []
            if len(run) >= _LONGEST_SPAN or _POSSESSIVE.search(word.text):
                yield from _finish(run, text, casing, language)
                run = []
        elif run and len(pending) < 2 and word.text in CONNECTORS:
            pending.append(word)
        else:
            yield from _finish(run, text, casing, language)
            run, pending = [], []
            if _YEAR.match(word.text) or (identifiers and is_identifier(text, word.start, word.end)):
                key = entity_key(word.text, language)
                if len(key) > 1 and key not in FUNCTION_WORDS:
                    yield Name(key, word.text, word.start, word.end)
    yield from _finish(run, text, casing, language)
    if has_runs(text):
        yield from _quoted(text, language)


def _quoted(text: str, language: str) -> Iterator[Name]:
    for match in _QUOTED.finditer(text):
        start, end = match.span(str(match.lastgroup))
        key = entity_key(text[start:end], language)
        if len(key) > 1:
            yield Name(key, fold(text[start:end]), start, end)


def _begins_name(word: Word, casing: Casing) -> bool:
    if not word.text[0].isupper():
        return False
    lower = word.text.lower()
    return not ((word.initial or lower in CONNECTORS) and casing.is_common(lower))


def _adjoins(text: str, before: Word, word: Word) -> bool:
    gap = text[before.end : word.start]
    if gap in (" ", "\u00a0", "\n", " & "):
        return True
    if gap not in (". ", ".") or not before.text[0].isupper():
        return False
    lower = before.text.lower()
    return lower in _SHORTENED or bool(_DOTTED.fullmatch(before.text) and lower.replace(".", "") not in COUNTRIES)


def _finish(run: list[Word], text: str, casing: Casing, language: str) -> Iterator[Name]:
    if run and run[0].text.lower() in _HONORIFICS:
        run = run[1:]
    if not run or (len(run) == 1 and casing.is_no_name(run[0].text.lower())):
        return
    start, end = run[0].start, run[-1].end
    key = entity_key(text[start:end], language)
    if len(key) > 1:
        yield Name(key, without_possessive(fold(text[start:end])), start, end)
