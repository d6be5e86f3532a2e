"""Names in running text: how they are found by their capitals, and the key under which variants of one name meet.

Ingestion (names in chunks) and retrieval (names in questions) both read text through this module, and so agree.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from pipeline.text.identifiers import is_identifier, may_hold_identifiers

# Accents may be written apart from their letters, as they are in many PDF files.
_LETTERS = r"[\w\u0300-\u036f]+"
_WORD = re.compile(rf"{_LETTERS}(?:[’'‘\-./&]{_LETTERS})*")
_POSSESSIVE = re.compile(r"[’'‘]s?$")
_DISAMBIGUATION = re.compile(r"\s*\([^()]*\)\s*$")
_NOT_WORD = re.compile(r"[\W_]+")
_INITIALS = re.compile(r"\b[^\W\d](?: [^\W\d]\b)+")
_MIDDLE_INITIALS = re.compile(r"(?<=[^\W\d_]{2})(?: [^\W\d_]\.)+(?= [^\W\d_]{2})")
_DOTTED = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]")
_YEAR = re.compile(r"(?:1\d|20)\d\d$")
_SENTENCE_END = frozenset('.!?:;\n"“”»«(•*#|')
CONNECTORS = frozenset(
    "of the de la le les du des del della di da do dos das der den van von und y e al el bin ibn af av zu for".split()
)
"""Words in lower case that may stand inside a name."""

_HONORIFICS = frozenset("dr mr mrs ms prof professor sir lady".split())
_SHORTENED = _HONORIFICS | {"st", "mt", "ft", "jr", "sr"}
COUNTRIES = frozenset("us uk usa un eu dc".split())
"""What stands before a name without being a person's initials; and so often that it tells texts apart by nothing."""

ARTICLES = frozenset(("the", "a", "an"))
FUNCTION_WORDS = ARTICLES | frozenset(
    "who whom whose what which when where why how is are was were be been being am do does did done has have had "
    "having can could may might must shall should will would in on at of to for from by with about into onto over "
    "under after before between during through against among within without as than and or nor but not if then that "
    "this these those there here it its he him his she her hers they them their theirs we us our ours you your yours "
    "i me my mine one some any each every all both either neither no so such also only just very more most much many "
    "few other another same own up down out off again once because while until since name tell give list show "
    "find".split()
)
"""Words of grammar, and those that begin a request; what a question says with them alone names nothing (English)."""

_ARTICLE = re.compile(r"^\W*(?:the|a|an)\s+")
_LONGEST_SPAN = 8
_SHORTEST_PLURAL = 3
_PLURALS = (("ies", "y"), ("sses", "ss"), ("shes", "sh"), ("ches", "ch"), ("xes", "x"), ("s", ""))
_MOSTLY = 5


class Name(NamedTuple):
    """A name as it stands at ``text[start:end]``; its variants of case, accents and possessive have one ``key``."""

    key: str
    text: str
    start: int
    end: int


class Word(NamedTuple):
    """A word at ``text[start:end]``; ``initial`` if a sentence (or a line, quotation, list item) begins with it."""

    text: str
    start: int
    end: int
    initial: bool


@lru_cache(maxsize=200_000)
def name_key(name: str) -> str:
    """Fold a name: no accents, case, punctuation, possessive or leading article; words joined by single spaces.

    Initials in a row are one word: ``J. R. R. Tolkien`` is ``jrr tolkien``, and ``U.S.`` is ``us``.
    """
    bare = without_possessive(name.strip())
    if not bare.isascii():
        bare = "".join(char for char in unicodedata.normalize("NFKD", bare) if not unicodedata.combining(char))
    folded = bare.casefold()
    named = _ARTICLE.sub("", folded).replace("'s ", " ").replace("’s ", " ")
    return join_initials(_NOT_WORD.sub(" ", named).strip())


def join_initials(folded: str) -> str:
    """Write the initials in a row of a folded text as one word."""
    return _INITIALS.sub(lambda initials: initials.group().replace(" ", ""), folded)


def without_middle_initials(name: str) -> str:
    """Return a name without the initials between its words: ``John F. Kennedy`` is ``John Kennedy``."""
    found = _MIDDLE_INITIALS.search(name)
    return name[: found.start()] + name[found.end() :] if found else name


def singular(key: str) -> str:
    """Return a name's key with its last word in the singular, by its spelling alone; itself if it looks like one."""
    if key.endswith(("ss", "us", "is")) or len(key.rpartition(" ")[2]) <= _SHORTEST_PLURAL:
        return key
    for plural, ending in _PLURALS:
        if key.endswith(plural):
            return key.removesuffix(plural) + ending
    return key


def plurals(key: str) -> set[str]:
    """Return the keys whose :func:`singular` this one may be."""
    return {key + "s"} | {
        key.removesuffix(ending) + plural for plural, ending in _PLURALS if ending and key.endswith(ending)
    }


def without_possessive(name: str) -> str:
    """Return a name without a possessive at its end."""
    return _POSSESSIVE.sub("", name)


def without_disambiguation(title: str) -> str:
    """Return a title without its last parenthesis: ``Mercury (planet)`` is ``Mercury``."""
    return _DISAMBIGUATION.sub("", title) or title


def words(text: str) -> list[Word]:
    """Return the words of a text in order; apostrophes, hyphens, dots and slashes inside a word belong to it."""
    found = []
    previous_end = 0
    for match in _WORD.finditer(text):
        start, end = match.span()
        initial = not previous_end or not _SENTENCE_END.isdisjoint(text[previous_end:start])
        found.append(Word(match.group(), start, end, initial))
        previous_end = end
    return found


class Casing:
    """How a corpus writes its words: lower-case, or capitalised where no sentence begins."""

    def __init__(self, texts: Iterable[Sequence[Word]]) -> None:
        self._lower: Counter[str] = Counter()
        self._upper: Counter[str] = Counter()
        for text in texts:
            self._lower.update(word.text for word in text if word.text[0].islower())
            self._upper.update(word.text.lower() for word in text if not word.initial and word.text[0].isupper())

    @classmethod
    def of(cls, lower: Mapping[str, int], upper: Mapping[str, int]) -> Casing:
        """Take counts that were made before: of words in lower case, and of those with a capital inside a sentence."""
        casing = cls([])
        casing._lower.update(lower)
        casing._upper.update(upper)
        return casing

    @property
    def lower(self) -> Mapping[str, int]:
        """How often each word is written in lower case."""
        return self._lower

    @property
    def upper(self) -> Mapping[str, int]:
        """How often each word, by its lower case, has a capital where no sentence begins."""
        return self._upper

    def is_common(self, word: str) -> bool:
        """Whether the lower-case ``word`` is written so more often than with a capital inside a sentence."""
        return self._lower[word] > self._upper[word]

    def is_no_name(self, word: str) -> bool:
        """Whether the lower-case ``word`` is so mostly lower-case that alone it is no name, wherever it stands."""
        return self._lower[word] > _MOSTLY * self._upper[word]


def spans(text: str, found: Sequence[Word], casing: Casing) -> Iterator[Name]:
    """Yield the runs of capitalised words, the years and the identifiers among ``found``, the words of ``text``.

    Connectors (of, the, de, van...) may stand inside a run, figures after its first word. A sentence's first word
    that the corpus mostly writes in lower case begins no name.
    """
    run: list[Word] = []
    pending: list[Word] = []
    identifiers = may_hold_identifiers(text)
    for word in found:
        if run and not _adjoins(text, (pending or run)[-1], word):
            yield from _finish(run, text, casing)
            run, pending = [], []
        if _begins_name(word, casing) or (run and not pending and word.text[0].isdigit()):
            run = [*run, *pending, word]
            pending = []
            if len(run) >= _LONGEST_SPAN or _POSSESSIVE.search(word.text):
                yield from _finish(run, text, casing)
                run = []
        elif run and len(pending) < 2 and word.text in CONNECTORS:
            pending.append(word)
        else:
            if run:
                yield from _finish(run, text, casing)
                run, pending = [], []
            if _YEAR.match(word.text) or (identifiers and is_identifier(text, word.start, word.end)):
                yield from _alone(word)
    yield from _finish(run, text, casing)


def _alone(word: Word) -> Iterator[Name]:
    key = name_key(word.text)
    if len(key) > 1 and key not in FUNCTION_WORDS:
        yield Name(key, word.text, word.start, word.end)


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


def _finish(run: list[Word], text: str, casing: Casing) -> Iterator[Name]:
    if run and run[0].text.lower() in _HONORIFICS:
        run = run[1:]
    if not run or (len(run) == 1 and casing.is_no_name(run[0].text.lower())):
        return
    start, end = run[0].start, run[-1].end
    key = name_key(text[start:end])
    if len(key) > 1:
        yield Name(key, without_possessive(text[start:end]), start, end)
