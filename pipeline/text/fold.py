"""The one folding of text before it is compared: what doesn't show is dropped, and each character has one form.

The full-text index, vectors, names and questions all see folded text; what is stored and shown stays as it was written.
Full text compares :func:`bare` words too: those without the marks that many writers leave out.
"""

import re
import unicodedata
from collections.abc import Sequence

_INVISIBLE = (
    "\u00ad\u034f\u061c\u180b-\u180e\u200e\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e01ef"
)
"""Soft hyphens, word joiners, byte order marks, marks of direction, and selectors of a character's variants."""

_ALPHABETS = "0-9A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u052f"
"""Latin, Greek and Cyrillic, in whose words zero-width spaces and joiners mean nothing.

Elsewhere they do: joiners shape Persian, the scripts of India and emoji, and zero-width spaces part words of Khmer.
"""

_DROPPED = re.compile(f"[{_INVISIBLE}]+")
_JOINERS = re.compile(f"(?<=[{_ALPHABETS}])[\u200b-\u200d]+(?=[{_ALPHABETS}])")
_FORMS = (
    "\u00b5\u017f\u0132\u0133\u01c4-\u01cc\u1d62-\u1d6a\u2080-\u209c\u2160-\u217f\u2f00-\u2fdf\u3300-\u3357\uf900-\ufaff"
    "\ufb00-\ufdff\ufe70-\ufefc\uff01-\uffef\U0001d400-\U0001d7ff\U0002f800-\U0002fa1f"
)
"""Letters to which NFKC gives another form of the same word; not ², ½, ™ or ①, which it would glue to a word.

They are ligatures, forms of Arabic, full and half width, Roman numbers, letters of mathematics, and words in a square.
"""

_OTHER_FORMS = re.compile(f"[{_FORMS}]+")
_HYPHENS = str.maketrans("\u2010\u2011", "--")
_ANY = re.compile(f"[\u200b-\u200d\u2010\u2011{_INVISIBLE}{_FORMS}]")
MARKS = "".join(
    chr(code)
    for block in (range(0x300, 0x1D00), range(0x1DC0, 0x1E00), range(0xA66F, 0xAC00))
    for code in block
    if unicodedata.category(chr(code)).startswith("M")
)
"""Signs that belong to the letter before them, of all the scripts that are in use."""

_SIGNS = f"\\w\u200b-\u200d{_INVISIBLE}{MARKS}"
_WITHOUT_SPACES = "\u0e00-\u109f\u1780-\u19df\u2e80-\ud7a3\uf900-\ufaff\uff66-\uff9d\U00020000-\U0003ffff"
_PIECE = re.compile(
    f"[{_WITHOUT_SPACES}][{MARKS}{_INVISIBLE}\uff9e\uff9f]*"  # a letter: in these scripts words end anywhere
    f"|(?:(?![{_WITHOUT_SPACES}])[{_SIGNS}])+|[^{_SIGNS}]+"
)
WRITTEN = re.compile(f"[{_SIGNS}]+(?:[’'‘\\-./&\u2010\u2011][{_SIGNS}]+)*")
"""A word as it is written, with what folding drops from it."""

_ARABIC = "\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed"
_HEBREW = "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
_SIGNS_AFTER = re.compile(f"[\u0300-\u036f\u200c\u200d{_ARABIC}{_HEBREW}]+")
_ACCENT = re.compile("[\u0300-\u036f]")
_ACCENTED = re.compile("[A-Za-z\u0391-\u03a9\u03b1-\u03c9]")  # Latin and Greek
_STRESSED = frozenset("аеиоуыэюяі")
_PLAIN = (
    {"ı": "i", "đ": "d", "ł": "l", "ø": "o", "æ": "ae", "œ": "oe", "ς": "σ"}
    | dict.fromkeys("أإآٱ", "ا")
    | dict.fromkeys("ʼʻ", "'")
    | {"ى": "ي", "ی": "ي", "ک": "ك", "ة": "ه"}
)
_WRITTEN_PLAINLY = re.compile(f"[{''.join(_PLAIN)}]")
"""Letters that are written plainly where a keyboard, a habit or a language lacks them.

Those of Arabic and Persian are of Lucene's ArabicNormalizer and PersianNormalizer, others of its ASCIIFoldingFilter.
"""

_FIGURE = re.compile(r"[^\D0-9]")
_MAY_BE_BARED = re.compile("[\u00c0-\u08ff\u1e00-\u1fff\u200c\u200d]|[^\\D0-9]")
_OF_OTHER_LETTERS = re.compile("[^\x00-\xbf\u2000-\u2bff]")


def is_folded(text: str) -> bool:
    """Return whether a text is the same when it is folded, as far as a cheap test tells; most are."""
    return text.isascii() or (_ANY.search(text) is None and unicodedata.is_normalized("NFC", text))


def has_other_letters(text: str) -> bool:
    """Return whether a text has letters beyond ASCII; one with only dashes, quotation marks or signs has none."""
    return not text.isascii() and _OF_OTHER_LETTERS.search(text) is not None


def fold(text: str) -> str:
    """Return a text in the form in which it is compared; one of ASCII is returned as it is."""
    if is_folded(text):
        return text
    shown = unicodedata.normalize("NFC", _DROPPED.sub("", text).translate(_HYPHENS))
    formed = _OTHER_FORMS.sub(lambda match: unicodedata.normalize("NFKC", match.group()), shown)
    return _JOINERS.sub("", unicodedata.normalize("NFC", formed))


def fold_with_places(text: str) -> tuple[str, Sequence[int], Sequence[int]]:
    """Return a text folded, and where each character of it begins and ends in the text as written.

    Places within a word that folding changes are about right; those where words begin and end are exact.
    """
    if is_folded(text):
        return text, range(len(text)), range(1, len(text) + 1)
    parts, starts, ends = list[str](), list[int](), list[int]()
    for match in _PIECE.finditer(text):
        if part := fold(match.group()):
            parts.append(part)
            begin, end = match.span()
            starts += (min(begin + at, end - 1) for at in range(len(part)))
            ends += (min(begin + at, end) for at in range(1, len(part)))
            ends.append(end)
    return "".join(parts), starts, ends


def bare(text: str) -> str:
    """Return a text folded, in small letters, and without the marks that many writers leave out.

    These are accents of Latin and Greek, the stress of Russian, the vowels of Arabic and Hebrew, and joiners. Marks
    that make another letter stay: those of Kana, of the scripts of India, of й. Figures of all scripts become ASCII's.
    """
    text = fold(text)
    if text.isascii() or _MAY_BE_BARED.search(text) is None:
        return text.lower()
    small = _WRITTEN_PLAINLY.sub(lambda match: _PLAIN[match.group()], unicodedata.normalize("NFC", text.casefold()))
    parts = _SIGNS_AFTER.sub(_kept_signs, unicodedata.normalize("NFD", small))
    return _FIGURE.sub(lambda match: str(unicodedata.decimal(match.group())), unicodedata.normalize("NFC", parts))


def _kept_signs(signs: re.Match[str]) -> str:
    """Return those of the signs after a letter that make it another one, as in й and ї."""
    letter, accents = signs.string[max(0, signs.start() - 1) : signs.start()], "".join(_ACCENT.findall(signs.group()))
    if _ACCENTED.match(letter):
        return ""
    if letter in _STRESSED:
        accents = accents.replace("\u0300", "").replace("\u0301", "")
    return accents.replace("\u0308", "") if letter == "е" else accents
