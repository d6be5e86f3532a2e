"""The words of a PDF's page and their places, as PDFium finds them, with what is filled into its forms."""

import math
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing
from ctypes import Array, c_ushort, sizeof
from itertools import pairwise

import pypdfium2
from pypdfium2 import raw

from pipeline.files import well_formed
from pipeline.ingest.sources.parsers.pdf_layout import Word

_MIDDLE = 0.45  # of a font's height: the middle of its small letters, over the lowest
_SPACE = 0.15
"""A share of a font's height: letters further apart are of two words, where PDFium finds no space, as between most
words of bash.pdf. Nothing else changes between 0.12 and 0.18 in ten manuals of Debian packages."""

_TOUCH, _ALIKE = 0.05, 0.8
"""As ``_SPACE``, where PDFium finds a space or the end of a line that isn't in the file, for which it takes kerned and
slanted letters; and the heights of letters of one word then, at least. Chosen by hand; not measured."""

_UNSPACED, _APART = "\u2e80", 1.0  # from here on scripts are set without spaces
_RAISED = (0.8, 0.15)  # a number above a word: its size at most, and how far it is raised, by the word's
_STRAIGHT, _ASLANT = 0.1, 4  # quarter turns; the direction of what is between
_HYPHEN = 2  # PDFium's character for a hyphen at the end of a line
_SOFT_HYPHEN = "\N{SOFT HYPHEN}"
_VISIBLE = 0.1  # of the font's height; soft hyphens that fonts draw are hyphens
_VALUE_SIZE = 12.0  # points: the height of a line in a form, at most
_FOLDED = [(0xFB00, 0xFB4F), (0xFB50, 0xFDFF), (0xFE70, 0xFEFC)]
"""Ligatures and presentation forms: shapes of letters, which a text has as letters. NFKC of others loses meaning."""

_ACCENTS = dict(
    zip(
        "´`¨ˆ^˜~¸ˇ¯˘˙˚˝",
        "\u0301\u0300\u0308\u0302\u0302\u0303\u0303\u0327\u030c\u0304\u0306\u0307\u030a\u030b",
        strict=True,
    )
)
"""Accents that TeX draws over letters of fonts that have none with accents."""

_DOTTED = {"ı": "i", "ȷ": "j"}

Box = tuple[float, float, float, float]
Turned = dict[int, list[Word]]
"""Words by the quarter turns, clockwise, of the lines in which they stand."""


def words_of(page: pypdfium2.PdfPage) -> Turned:
    """Return the words of a page in the order of the file, those of each direction with coordinates of its own."""
    turned: Turned = defaultdict(list)
    with closing(page.get_textpage()) as text:
        for turn, word in _words(text):
            turned[turn].append(word)
    turned[0] += _values(page)
    return turned


def _words(text: pypdfium2.PdfTextPage) -> Iterator[tuple[int, Word]]:
    """Yield words and their quarter turns."""
    word, turn, is_parted = _Letters(), 0, False
    for at in range(text.count_chars()):
        code = raw.FPDFText_GetUnicode(text, at)
        letter = "-" if code == _HYPHEN else chr(code)
        box = None if letter.isspace() or letter < "!" else _turned(text, at, turn)
        if box is None and word.text and raw.FPDFText_IsGenerated(text, at) == 1:
            is_parted = True
            continue
        if word.text and (box is None or word.is_apart(letter, box, is_parted=is_parted)):
            yield turn, word.word()
            word = _Letters()
        if box is not None and not word.text:
            turn = _turn(raw.FPDFText_GetCharAngle(text, at))
            box = _turned(text, at, turn)
        if box is not None:
            word.add(letter, box)
        is_parted = False
    if word.text:
        yield turn, word.word()


_RECT = raw.FS_RECTF()


def _turn(angle: float) -> int:
    """Return an angle in quarter turns, or _ASLANT."""
    turns = angle / (math.pi / 2)
    return round(turns) % 4 if abs(turns - round(turns)) < _STRAIGHT else _ASLANT


def _turned(text: pypdfium2.PdfTextPage, at: int, turn: int) -> Box:
    """Return left, top, right and bottom of a character, downwards, as if its line ran from left to right.

    Text aslant, such as a watermark, has no places: it is one line, in the order of the file.
    """
    if turn == _ASLANT:
        return at, 0.0, at + 1.0, 1.0
    raw.FPDFText_GetLooseCharBox(text, at, _RECT)
    left, bottom, right, top = _RECT.left, _RECT.bottom, _RECT.right, _RECT.top
    if turn == 0:
        return left, -top, right, -bottom
    if turn == 1:
        return -top, -right, -bottom, -left
    return (-right, bottom, -left, top) if turn == 2 else (bottom, left, top, right)


class _Letters:
    """The letters of a word, and their boxes; the highest one tells the word's size: that of a hyphen may be flat."""

    def __init__(self) -> None:
        self.text = ""
        self._boxes: list[Box] = []
        self._highest: Box = (0.0, 0.0, 0.0, 0.0)

    def add(self, letter: str, box: Box) -> None:
        folded = _folded(letter, box)
        if self.text[-1:] in _ACCENTS and letter.isalpha() and self._is_over(box):
            folded = unicodedata.normalize("NFC", _DOTTED.get(letter, letter) + _ACCENTS[self.text[-1]])
            self.text, self._boxes = self.text[:-1], self._boxes[:-1]
        self.text += folded
        self._boxes += [box] * len(folded)
        if len(self._boxes) < 2 or box[3] - box[1] > self._height:
            self._highest = box

    def _is_over(self, box: Box) -> bool:
        """Return whether the last character, an accent, stands over the box of the next."""
        return box[0] < (self._boxes[-1][0] + self._boxes[-1][2]) / 2 < box[2]

    @property
    def _height(self) -> float:
        return self._highest[3] - self._highest[1]

    def is_apart(self, letter: str, box: Box, *, is_parted: bool) -> bool:
        """Return whether a character begins a new word: in another place, or as the raised number of a footnote.

        ``is_parted``: PDFium finds a space or the end of a line before it, which isn't in the file.
        """
        space, height = _TOUCH if is_parted else _SPACE, box[3] - box[1]
        if is_parted and not _ALIKE < height / max(self._height, _ALIKE) < 1 / _ALIKE:
            return True
        left, _, right, _ = self._boxes[-1]
        _, top, _, bottom = self._highest
        if max(box[0] - right, left - box[2]) > (space if letter < _UNSPACED else _APART) * self._height:
            return True
        if min(bottom, box[3]) - max(top, box[1]) < min(self._height, box[3] - box[1]) / 2:
            return True
        is_raised = box[3] - box[1] < _RAISED[0] * self._height and bottom - box[3] > _RAISED[1] * self._height
        return is_raised and letter.isdecimal() and self.text[-1:].isalpha()

    def word(self) -> Word:
        _, top, _, bottom = self._highest
        size = bottom - top
        left, right = min(box[0] for box in self._boxes), max(box[2] for box in self._boxes)
        return Word(_whole(self._ordered(size)), left, right, bottom - _MIDDLE * size, size)

    def _ordered(self, size: float) -> str:
        """Return the letters in order: PDFium turns runs of letters and numbers amid a script that runs to the left."""
        if self.text.isascii() and any(b[0] < a[0] - size / 4 for a, b in pairwise(self._boxes)):
            return "".join(letter for _, letter in sorted(zip(self._boxes, self.text, strict=True), key=_left))
        return self.text


def _whole(text: str) -> str:
    """Return a text with its characters whole that PDFium gives as two halves."""
    if text.isascii():
        return text
    return well_formed(text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"))


def _left(placed: tuple[Box, str]) -> float:
    return placed[0][0]


def _folded(letter: str, box: Box) -> str:
    if letter.isascii():
        return letter
    if letter == _SOFT_HYPHEN:
        return "-" if box[2] - box[0] > _VISIBLE * (box[3] - box[1]) else ""
    code = ord(letter)
    return unicodedata.normalize("NFKC", letter) if any(low <= code <= high for low, high in _FOLDED) else letter


def _values(page: pypdfium2.PdfPage) -> Iterator[Word]:
    """Yield the values of the form fields on a page, and the text that was typed onto it, each in its place."""
    for at in range(raw.FPDFPage_GetAnnotCount(page)):
        note = raw.FPDFPage_GetAnnot(page, at)
        try:
            raw.FPDFAnnot_GetRect(note, _RECT)
            yield from _placed(_value(page, note), (_RECT.left, -_RECT.top, _RECT.right, -_RECT.bottom))
        finally:
            raw.FPDFPage_CloseAnnot(note)


def _value(page: pypdfium2.PdfPage, note: raw.FPDF_ANNOTATION) -> str:
    kind = raw.FPDFAnnot_GetSubtype(note)
    if kind == raw.FPDF_ANNOT_FREETEXT:
        return _string(lambda buffer, size: raw.FPDFAnnot_GetStringValue(note, b"Contents", buffer, size))
    if kind != raw.FPDF_ANNOT_WIDGET or not page.formenv:
        return ""
    field = raw.FPDFAnnot_GetFormFieldType(page.formenv, note)
    if field in (raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON):
        return "[x]" if raw.FPDFAnnot_IsChecked(page.formenv, note) else "[ ]"
    if field not in (raw.FPDF_FORMFIELD_TEXTFIELD, raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX):
        return ""
    return _string(lambda buffer, size: raw.FPDFAnnot_GetFormFieldValue(page.formenv, note, buffer, size))


def _placed(value: str, box: Box) -> Iterator[Word]:
    """Yield the lines of a value, evenly spaced."""
    lines = value.splitlines()
    step = (box[3] - box[1]) / max(1, len(lines))
    for number, line in enumerate(lines):
        text = " ".join(well_formed(line).split())
        if text:
            yield Word(text, box[0], box[2], box[1] + (number + 0.5) * step, min(_VALUE_SIZE, step))


def _string(read: Callable[[Array[c_ushort] | None, int], int]) -> str:
    """Return a string that PDFium writes as UTF-16 into a buffer of the size that it says first."""
    size = read(None, 0)
    if size <= sizeof(c_ushort):
        return ""
    buffer = (c_ushort * (size // sizeof(c_ushort)))()
    read(buffer, size)
    return bytes(buffer).decode("utf-16-le", "replace").rstrip("\0")
