"""The part of a passage that speaks to a question."""

from __future__ import annotations

import re
from functools import cache

import Stemmer

from pipeline.ingest.sentences import sentences

_WORD = re.compile(r"\w+")
_HEADING = re.compile(r"\A#{1,6} .*\n")
_ASKING = frozenset(
    "about been called could does from have into much than that their there they this were what when where which who"
    " whoever whom whose will with would".split()
)


def excerpt(passage: str, question: str, most: int = 280) -> str:
    """Return about ``most`` characters of whole sentences that share most words with the question, on one line.

    Words are compared by English stems; without a common one it is the beginning. What is left out shows as " ...".
    """
    text = _HEADING.sub("", passage.strip())
    spans = list(sentences(text, 0, len(text))) or [(0, len(text))]
    wanted = _stems(question)
    # max takes the first of equals, so the earliest
    start, end = max(_windows(spans, most), key=lambda span: len(wanted & _stems(text[slice(*span)])))
    whole = " ".join(text[start:end].split())
    shown = whole if len(whole) <= most else whole[:most].rsplit(" ", 1)[0]
    before = "... " if start > spans[0][0] else ""
    after = " ..." if end < spans[-1][1] or shown != whole else ""
    return f"{before}{shown}{after}"


def _windows(spans: list[tuple[int, int]], most: int) -> list[tuple[int, int]]:
    """Return for each sentence the stretch from it to the last that still fits."""
    return [
        (start, max((end for first, end in spans if first >= start and end - start <= most), default=one_end))
        for start, one_end in spans
    ]


def _stems(text: str) -> set[str]:
    words = {word for word in _WORD.findall(text.lower()) if len(word) > 3 and word not in _ASKING}
    return set(_stemmer().stemWords(list(words)))


@cache
def _stemmer() -> Stemmer.Stemmer:
    return Stemmer.Stemmer("english")
