"""PDFs made of pieces of text at places of pages, for tests."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tests.ingest.sources.hostile import pdf_of, stream

FIRST = 8  # the number of the object of the first page


@dataclass(frozen=True, slots=True)
class Piece:
    """A text at a place, in points from the left and from the top of a page; turned by 90 degrees it runs upwards."""

    text: str
    left: float
    top: float
    size: float = 10.0
    degrees: int = 0


def placed(
    *pages: Iterable[Piece],
    characters: str = "",
    width: int = 500,
    page_entries: bytes = b"",
    catalog: bytes = b"",
    more: Sequence[bytes] = (),
) -> bytes:
    """Return a PDF of these pages, 400 points wide and 600 high, in the order of the pieces.

    ``characters`` are shown by the codes from 1, each ``width``
    thousandths of an em wide. The objects ``more`` follow those of the pages.
    """
    kids = b" ".join(b"%d 0 R" % (FIRST + 2 * number) for number in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R %s >>" % catalog,
        b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, len(pages)),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /FirstChar 1 /LastChar 60 /ToUnicode 5 0 R /Widths [%s]>>"
        % (b"%d " % width * 60),
        stream(_map(characters)),
        b"null",
        b"null",
    ]
    for number, pieces in enumerate(pages):
        content = b"\n".join(_drawn(piece, characters) for piece in pieces)
        objects += [
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 600] /Contents %d 0 R %s "
            b"/Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> >>" % (FIRST + 2 * number + 1, page_entries),
            stream(content),
        ]
    return pdf_of(*objects, *more)


def column(lines: Iterable[str], left: float, top: float, size: float = 10.0) -> list[Piece]:
    """Return lines below each other."""
    return [Piece(line, left, top + number * 1.2 * size, size) for number, line in enumerate(lines)]


def across(*columns: Sequence[Piece]) -> list[Piece]:
    """Return the pieces of columns in the order of many programs: line by line over all columns."""
    return sorted((piece for pieces in columns for piece in pieces), key=lambda piece: piece.top)


def _drawn(piece: Piece, characters: str) -> bytes:
    font = b"F2" if characters and set(piece.text) <= set(characters) else b"F1"
    codes = (
        bytes(characters.index(letter) + 1 for letter in piece.text) if font == b"F2" else piece.text.encode("cp1252")
    )
    cosine, sine = math.cos(math.radians(piece.degrees)), math.sin(math.radians(piece.degrees))
    matrix = b"%.4f %.4f %.4f %.4f" % (cosine, sine, -sine, cosine)
    place = b"%s %.1f %.1f Tm" % (matrix, piece.left, 600 - piece.top)
    return b"BT /%s %.1f Tf %s <%s> Tj ET" % (font, piece.size, place, codes.hex().encode())


def _map(characters: str) -> bytes:
    pairs = b"".join(
        b"<%02x> <%s>\n" % (at, c.encode("utf-16-be").hex().encode()) for at, c in enumerate(characters, 1)
    )
    return (
        b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapType 2 def\n"
        b"1 begincodespacerange <00> <ff> endcodespacerange\n%d beginbfchar\n%sendbfchar\nendcmap end end"
        % (len(characters), pairs)
    )
