"""Scripts: those that put no spaces between words, or join particles to them, and the units of their words."""

import re

from pipeline.text.fold import MARKS

IDEOGRAPHS = (
    "\u2e80-\u2fd5\u3005\u3007\u3021-\u3029\u3038-\u303b\u3041-\u3096\u309d-\u309f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
"""Ideographs and Hiragana."""

KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
HANGUL = "\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7fb"
_LEADING = "\u0e40-\u0e44\u0ec0-\u0ec4"
"""Vowels of Thai and Lao that are written before their consonant."""

_FOLLOWING = "\u0e30\u0e32\u0e33\u0e45\u0eb0\u0eb2\u0eb3\u0ebd"
_STACKED = "\u17d2\u1039\u1a60\u1b44\ua9c0"
"""Signs of Khmer, Burmese and others that put the next consonant below the last."""

SOUTH_EAST = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecd\u0edc-\u0edf"  # Thai, Lao
    "\u1000-\u103f\u1050-\u109f\ua9e0-\ua9fe\uaa60-\uaa7f"  # Burmese
    "\u1780-\u17d3\u17dd\u1950-\u19c9\u1a20-\u1a7f\u1b00-\u1b4b\ua980-\ua9c0\uaa80-\uaadf"  # Khmer and neighbours
)
RUN = re.compile(
    f"(?P<ideographs>[{IDEOGRAPHS}][{IDEOGRAPHS}ー]*)|(?P<joined>[{KATAKANA}]+|[{HANGUL}]+|[{SOUTH_EAST}]+)"
)
"""Letters of one such script that follow each other."""

SYLLABLE = re.compile(f"[{_LEADING}]?[^{_LEADING}](?:[{_STACKED}][^{MARKS}]|[{MARKS}{_FOLLOWING}])*|.")
"""A letter with its signs: words of these scripts begin and end where one does."""

RUN_LETTERS = f"{IDEOGRAPHS}{KATAKANA}{HANGUL}{SOUTH_EAST}"
"""All letters of such scripts, without their signs."""

_LETTER = re.compile(f"[{RUN_LETTERS}]")
AT_RUNS = re.compile(
    f"(?<=[{RUN_LETTERS}{MARKS}])(?=[^{RUN_LETTERS}{MARKS} ])|(?<=[^{RUN_LETTERS}{MARKS} ])(?=[{RUN_LETTERS}])"
)
"""The places where letters of such a script adjoin others."""


def is_run(word: str) -> bool:
    """Return whether a word is of a script that has no spaces between words, or joins particles to them."""
    return _LETTER.match(word) is not None


def has_runs(text: str) -> bool:
    """Return whether a text has letters of such a script."""
    return not text.isascii() and _LETTER.search(text) is not None
