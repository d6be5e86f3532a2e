"""Convert the byte offsets of a parser to characters."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate

_WIDE = re.compile(r"[^\x00-\x7f]")


def encoded(text: str) -> bytes:
    """Return ``text`` as UTF-8. A lone surrogate, which UTF-8 excludes, becomes three bytes, so that nothing raises."""
    return text.encode("utf-8", "surrogatepass")


class Characters:
    """Converts offsets in the UTF-8 of a text to characters."""

    def __init__(self, text: str) -> None:
        wide = (
            [] if text.isascii() else [(match.start(), len(encoded(match.group()))) for match in _WIDE.finditer(text)]
        )
        self._surplus = [0, *accumulate(size - 1 for _, size in wide)]
        ends = zip(wide, self._surplus[1:], strict=True)
        self._ends = [character + 1 + surplus for (character, _), surplus in ends]

    def at(self, offset: int) -> int:
        """Return the number of characters before the byte ``offset``; within a character, that character's."""
        return offset - self._surplus[bisect_right(self._ends, offset)]
