"""The words of the full-text index beside the texts, and those of a question: what both have to spell alike.

Lucene splits a text into words at spaces. In scripts without spaces, and in Korean, whose particles are part of the
word, it takes a whole run for a word. As its CJKAnalyzer does, the index holds these runs as overlapping pairs. Of
ideographs and Hiragana it holds each as a word already, so that a pair of them is a phrase, which costs no room.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from pipeline.text.fold import MARKS, WRITTEN, bare, fold, has_other_letters, is_folded
from pipeline.text.scripts import HANGUL, KATAKANA, RUN, SOUTH_EAST, SYLLABLE

_ANY_RUN = re.compile(f"[{KATAKANA}{HANGUL}{SOUTH_EAST}]")
_LETTERS = re.compile(f"[\\w{MARKS}\u200c\u200d]+")
_WORDS = re.compile(r"\w+")
_LONGEST_RUN = 8  # syllables of a run that may be a word as a whole; chosen by hand


def index_words(*texts: str) -> str:
    """Return what the index holds beside texts: their words in other forms, and the pairs of their runs.

    It is empty for a text of ASCII, and for most texts that only have the signs of typography besides.
    """
    return " ".join(word for text in texts if has_other_letters(text) or not is_folded(text) for word in _words(text))


def _words(text: str) -> Iterator[str]:
    if not is_folded(text):
        changed = ((word, fold(word)) for word in WRITTEN.findall(text) if not word.isascii())
        yield from (folded for word, folded in changed if folded != word)
        text = fold(text)
    for word in _LETTERS.findall(text):
        if not word.isascii():
            yield from (form for form in _forms(word) if form != _lowered(word))
            for run in RUN.finditer(word) if _ANY_RUN.search(word) else ():
                yield from _pairs(run["joined"] or "")


def query_words(word: str) -> Iterator[str]:
    """Yield the terms of a query for a word of a question in small letters, in Lucene's syntax.

    Runs are asked for by their pairs, and a single syllable by the pairs that begin with it.
    """
    if word.isascii():
        yield word
        return
    at = 0
    for run in RUN.finditer(word):
        yield from _spelled(word[at : run.start()])
        at = run.end()
        yield from _of_ideographs(run[0]) if run["ideographs"] else _of_joined(run[0])
    yield from _spelled(word[at:])


def compared_words(text: str) -> list[str]:
    """Return the words of a text as they are compared outside the index, with repeats: bare, runs as their pairs."""
    plain = bare(text)
    if plain.isascii():
        return _WORDS.findall(plain)
    return [part for word in _LETTERS.findall(plain) for part in _parts(word)]


def _parts(word: str) -> Iterator[str]:
    at = 0
    for run in RUN.finditer(word) if not word.isascii() else ():
        yield from filter(None, (word[at : run.start()],))
        at = run.end()
        syllables = SYLLABLE.findall(run[0])
        yield from (first + second for first, second in pairwise(syllables)) if len(syllables) > 1 else syllables
    yield from filter(None, (word[at:],))


def _spelled(word: str) -> Iterator[str]:
    if word:
        yield from dict.fromkeys([word, *_forms(word)])


def _of_ideographs(run: str) -> Iterator[str]:
    yield from (f'"{first}{second}"' for first, second in pairwise(run)) if len(run) > 1 else (run,)


def _of_joined(run: str) -> Iterator[str]:
    syllables = SYLLABLE.findall(run)
    if len(syllables) == 1:
        yield f"{run}*"
        return
    if 2 < len(syllables) <= _LONGEST_RUN:
        yield run
    yield from (first + second for first, second in pairwise(syllables))


def _pairs(run: str) -> Iterator[str]:
    """Yield the overlapping pairs of a run's syllables, and its last one, with which no pair begins."""
    syllables = SYLLABLE.findall(run)
    if len(syllables) > 1:
        yield from (first + second for first, second in pairwise(syllables))
        yield syllables[-1]


def _forms(word: str) -> Iterator[str]:
    """Yield the bare form of a word, and of the parts that Persian joins without a space; none for a sign alone."""
    parts = word.split("\u200c") if "\u200c" in word else ()
    yield from filter(None, map(bare, (word, *parts)))


def _lowered(word: str) -> str:
    """Return a word as Lucene lowers it: each character by itself."""
    return "".join(small if len(small := char.lower()) == 1 else char for char in word)
