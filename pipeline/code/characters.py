"""Convert the byte offsets of a parser to characters."""

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
        self._starts = [character + surplus for (character, _), surplus in zip(wide, self._surplus, strict=False)]
        self._ends = [start + size for start, (_, size) in zip(self._starts, wide, strict=True)]

    def at(self, offset: int) -> int:
        """Return the number of characters before the byte ``offset``; within a character, that character's."""
        passed = bisect_right(self._ends, offset)
        within = passed < len(self._starts) and self._starts[passed] < offset
        return (self._starts[passed] if within else offset) - self._surplus[passed]
