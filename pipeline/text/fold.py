"""The one folding of text before it is compared: what doesn't show is dropped, and each character has one form.

The full-text index, vectors, names and questions all see folded text; what is stored and shown stays as it was written.
"""

import re
import unicodedata
from collections.abc import Iterator

_INVISIBLE = "\u00ad\u061c\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff"
"""Soft hyphens, word joiners, byte order marks, and marks of direction."""

_ALPHABETS = "0-9A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u052f"
"""Latin, Greek and Cyrillic, in whose words zero-width spaces and joiners mean nothing.

Elsewhere they do: joiners shape Persian, the scripts of India and emoji, and zero-width spaces part words of Khmer.
"""

_DROPPED = re.compile(f"[{_INVISIBLE}]+|(?<=[{_ALPHABETS}])[\u200b-\u200d]+(?=[{_ALPHABETS}])")
_OTHER_FORMS = re.compile(
    "[\u017f\u0132\u0133\u01c4-\u01cc\u1d62-\u1d6a\u2080-\u209c\u2f00-\u2fdf\uf900-\ufaff\ufb00-\ufdff\ufe70-\ufefc\uff01-\uffef"
    "\U0001d400-\U0001d7ff\U0002f800-\U0002fa1f]+"  # ligatures, forms of Arabic, full width, letters of mathematics
    "|\\w[\u0300-\u036f\u0653-\u0655\u3099\u309a]+|[\u1100-\u11ff]+"  # accents, Kana's marks and Hangul in pieces
)
"""Letters to which NFKC gives another form of the same word; not ², ½, ™ or ①, which it would glue to a word."""

_HYPHENS = str.maketrans("\u2010\u2011", "--")
_ANY = re.compile(f"[\u2010\u2011]|[\u200b-\u200d]|[{_INVISIBLE}]|{_OTHER_FORMS.pattern}")
_LETTERS = f"[\\w\u0300-\u036f\u200b-\u200d{_INVISIBLE}]+"
WORD = re.compile(f"{_LETTERS}(?:[’'‘\\-./&\u2010\u2011]{_LETTERS})*")
"""A word as it is written, with what folding drops from it."""


def is_folded(text: str) -> bool:
    """Return whether a text is the same when it is folded, as far as a cheap test tells; most are."""
    return text.isascii() or _ANY.search(text) is None


def fold(text: str) -> str:
    """Return a text in the form in which it is compared; one of ASCII is returned as it is."""
    if is_folded(text):
        return text
    shown = _DROPPED.sub("", text).translate(_HYPHENS)
    return _OTHER_FORMS.sub(lambda match: unicodedata.normalize("NFKC", match.group()), shown)


def folded_words(*texts: str) -> str:
    """Return the words in texts that folding changes, folded, so that an index holds them beside the texts."""
    return " ".join(word for text in texts if not is_folded(text) for word in _changed(text))


def _changed(text: str) -> Iterator[str]:
    words = ((match.group(), fold(match.group())) for match in WORD.finditer(text))
    return (folded for word, folded in words if folded != word)
