"""Citations in a text that arrives in pieces: found in any of the forms that models write, and checked."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_MOST_OF_RANGE = 50
"""Citations that a range such as [1-3] stands for; of a longer one only its ends count. Chosen by hand."""

_NUMBER = r"\^?\d{1,3}"  # of more digits it is a year, or another number of the text
_CITATION = (
    r"[\[【［]\s{0,2}(?:(?:passage|source)s?\s{1,2})?"
    rf"(?P<numbers>{_NUMBER}(?:\s{{0,2}}[,;&–—-]\s{{0,2}}{_NUMBER}){{0,30}})\s{{0,2}}"
    r"(?:[:†][^\]】］\n]{0,60})?[\]】］]"
)
_MARK = re.compile(rf"(?P<ticks>`+|~~~+)|(?P<blank>\n[ \t]*\n)|{_CITATION}(?P<link>\()?", re.IGNORECASE)
_UNFINISHED = re.compile(
    r"[\[【［]\s{0,2}[a-z]{0,8}\s{0,2}[\^\d\s,;&–—-]{0,300}(?:[:†][^\]】］\n]{0,60})?[\]】］]?\Z", re.IGNORECASE
)
"""The end of a text that may become a citation, of the longest that is one, by what follows."""

_LONGEST_HELD = 400
"""Characters that are held back at most: more than a citation has. A longer run of marks counts as it was cut."""

_RANGE = re.compile(r"(\d+)(?:\s*[–—-]\s*\^?(\d+))?")


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of an answer: text, or with ``citation`` the citation of that number.

    A citation's ``text`` is its number in brackets, followed by a question mark in them unless it is ``known``: a
    passage of the context has this number. All pieces' texts, joined, are the answer.
    """

    text: str
    citation: int | None = None
    known: bool = True


class CitationReader:
    """Splits a text into pieces as it arrives; ``count`` passages can be cited, from 1.

    Citations are ``[1]``, ``[1, 3]``, ``[1-3]``, ``[^1]``, ``【1】`` and the like. Numbers in code, the text of
    Markdown links, and an index ``a[0]`` are none. What may become a citation is held back until it is known.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._held = ""
        self._before = ""  # the last character that was read
        self._code = ""  # the marks that opened the code in which the text is

    def feed(self, text: str) -> list[Piece]:
        """Return the pieces that are complete with more of the text."""
        self._held += text
        return self._take(_settled(self._held))

    def end(self) -> list[Piece]:
        """Return the pieces of what is held back: the text has ended."""
        return self._take(len(self._held))

    def _take(self, end: int) -> list[Piece]:
        text, self._held = self._held[:end], self._held[end:]
        pieces = [piece for piece in self._read(text) if piece.text]
        self._before = text[-1:] or self._before
        return pieces

    def _read(self, text: str) -> Iterator[Piece]:
        done = 0
        for mark in _MARK.finditer(text):
            if mark["numbers"] and self._cites(mark, text):
                yield Piece(text[done : mark.start()])
                yield from map(self._piece, _numbers(mark["numbers"]))
                done = mark.end()
            self._pass(mark)
        yield Piece(text[done:])

    def _cites(self, mark: re.Match[str], text: str) -> bool:
        before = text[mark.start() - 1] if mark.start() else self._before
        is_index = mark["numbers"].strip("^0") == "" and (before.isalnum() or before in tuple("_)]"))
        return not (self._code or mark["link"] or is_index)

    def _pass(self, mark: re.Match[str]) -> None:
        """Enter or leave code: of a line, which an empty line ends too, or of a block, by three marks or more."""
        marks = mark["ticks"]
        if mark["blank"] and len(self._code) < 3:
            self._code = ""
        elif marks and not self._code:
            self._code = marks
        elif marks and marks[0] == self._code[0] and _closes(marks, self._code):
            self._code = ""

    def _piece(self, number: int) -> Piece:
        known = 1 <= number <= self._count
        return Piece(f"[{number}]" if known else f"[{number}?]", number, known)


def _settled(text: str) -> int:
    """Return how much of a text is settled: its end may become a mark, or another mark, by what follows."""
    end = text[-_LONGEST_HELD:]
    unfinished, empty = _UNFINISHED.search(end), end.find("\n", len(end.rstrip("\n \t")))
    # Not by patterns, which try a long run of marks from each of them.
    places = [len(end.rstrip("`~")), *([empty] if empty >= 0 else []), *([unfinished.start()] if unfinished else [])]
    return len(text) - len(end) + min(places)


def _closes(marks: str, opened: str) -> bool:
    return len(marks) >= len(opened) if len(opened) >= 3 else marks == opened


def _numbers(text: str) -> Iterator[int]:
    """Yield the numbers of a citation, each once."""
    found: dict[int, None] = {}
    for first, last in _RANGE.findall(text):
        start, end = int(first), int(last or first)
        is_short = 0 <= end - start < _MOST_OF_RANGE
        found |= dict.fromkeys(range(start, end + 1) if is_short else (start, end))
    yield from found
