"""Inflection: the stems of words in languages that inflect names, so that each form of a name has one key.

A script tells its language, or one with like endings. In Latin script it takes the language of the corpus: without it,
an ending is as often a part of a name. The algorithms are Snowball's (snowballstem.org), which take small letters.
"""

import re
from collections.abc import Sequence

import Stemmer

_ALGORITHMS = (
    ("russian", "\u0400-\u052f"),  # its endings are also those of most other languages in Cyrillic
    ("greek", "\u0370-\u03ff\u1f00-\u1fff"),
    ("arabic", "\u0620-\u064a"),
    ("hindi", "\u0900-\u097f"),
)
_OF = re.compile("|".join(f"(?P<{name}>[{letters}])" for name, letters in _ALGORITHMS))
_HEBREW = re.compile("[\u05d0-\u05ea]+")
_PREFIXED = frozenset("ובהכלמש")
"""Conjunction, article and prepositions that Hebrew writes at the beginning of a word."""

LANGUAGES = frozenset("czech danish finnish german hungarian norwegian romanian swedish turkish".split())
"""Languages in Latin script that inflect names, by their names among full-text analysers and stemmers."""

_ARTICLES = {
    "german": frozenset("der die das des dem den ein eine eines einem einen einer".split()),
    "hungarian": frozenset("a az egy".split()),
    **dict.fromkeys(("danish", "norwegian", "swedish"), frozenset("den det de en ett et".split())),
}

_SHORTEST = 3  # letters of a word that stays as it is, as acronyms do; chosen by hand, not measured
_TIMES = 4  # stems of stems that are taken at most; chosen by hand, not measured


def language_of(analyzer: str) -> str:
    """Return the language of a corpus with this full-text analyser, if names in Latin script are inflected there."""
    return analyzer if analyzer in LANGUAGES else ""


def without_article(words: Sequence[str], language: str) -> Sequence[str]:
    """Return the bare words of a name without an article at the beginning; a name that is an article keeps it."""
    return words[1:] if words[1:] and words[0] in _ARTICLES.get(language, ()) else words


def stemmed(word: str, language: str = "") -> str:
    """Return the stem of a bare word, by its script or else in the language of its corpus; without one, the word."""
    script = None if word.isascii() else _OF.match(word)
    if algorithm := script.lastgroup if script else language:
        return _stem(word, algorithm) if len(word) > _SHORTEST or algorithm == "hindi" else word
    if _HEBREW.fullmatch(word):
        # As far as it goes: a prefix can't be told from a first letter, but a name and its forms end alike.
        while len(word) > _SHORTEST and word[0] in _PREFIXED:
            word = word[1:]
    return word


def snowball(word: str, algorithm: str = "english") -> str:
    """Return the stem of a word in small letters by one of Snowball's algorithms."""
    # A stemmer isn't safe to share between threads, and is made in a microsecond.
    stem: str = Stemmer.Stemmer(algorithm).stemWord(word)
    return stem


def _stem(word: str, algorithm: str) -> str:
    """Return the stem of the stem, and so on: that of Рогожникова is Рогожников, with the ending of another."""
    for _ in range(_TIMES):
        stem = snowball(word, algorithm)
        if stem in (word, ""):
            break
        word = stem
    return word
