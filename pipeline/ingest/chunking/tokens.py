"""Offsets of the embedder's tokens in a text, which measure any stretch of it without tokenising again."""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence

from pipeline.text.prose import trimmed

TokenOffsets = Callable[[Sequence[str]], list[list[tuple[int, int]]]]
"""Returns for each text the (start, end) of its tokens in characters, in order; no special tokens, no truncation."""

Stretch = tuple[str, int, int]
"""A text, and the start and end of the relevant part."""

# tokenizers turn a word of over about 100 characters into a single unknown token, even if it has megabytes; the other
# sizes are chosen by hand, to bound memory
_LONGEST_WORD = 100
_CHARACTERS_PER_PART = 8
_SLICE_CHARACTERS = 65_536
_GROUP_CHARACTERS = 524_288


class TokenMap:
    """The tokens of a stretch of ``text``, added slice by slice.

    ``divided``: a word is so long that it is counted by its length, not by its tokens.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = array("l")
        self._ends = array("l")
        self._slices = 0
        self.divided = False

    @property
    def exact(self) -> bool:
        """Return whether the count of the whole stretch is the tokenizer's: a single slice, and no word divided."""
        return self._slices < 2 and not self.divided

    def add(self, offset: int, tokens: Sequence[tuple[int, int]]) -> None:
        """Append the tokens of the next slice, which begins at ``offset``; tokens are relative to that."""
        self._slices += 1
        if any(end - start > _LONGEST_WORD for start, end in tokens):
            self.divided = True
            tokens = [part for token in tokens for part in _divided(*token)]
        if tokens:
            starts, ends = zip(*tokens, strict=True)
            self._starts.extend(starts if not offset else [offset + start for start in starts])
            self._ends.extend(ends if not offset else [offset + end for end in ends])

    def count(self, start: int, end: int) -> int:
        """Return the number of tokens that overlap ``text[start:end]``."""
        return max(0, bisect_left(self._starts, end) - bisect_right(self._ends, start))

    def reach(self, start: int, limit: int) -> int:
        """Return the largest end for which ``text[start:end]`` holds at most ``limit`` tokens."""
        beyond = bisect_right(self._ends, start) + limit
        return self._starts[beyond] if beyond < len(self._starts) else len(self._text)

    def pieces(self, start: int, end: int, limit: int) -> Iterator[tuple[int, int]]:
        """Cut ``text[start:end]`` into pieces of at most ``limit`` tokens and about equal size.

        Cuts fall between words, or between tokens inside a word that is longer than the limit.
        """
        while start < end:
            left = self.count(start, end)
            stop = end
            if left > limit:
                even = -(-left // -(-left // limit))
                stop = self._cut(start, min(end, self.reach(start, even)))
            piece = trimmed(self._text, start, stop)
            if piece[0] < piece[1]:
                yield piece
            start = stop

    def _cut(self, start: int, stop: int) -> int:
        """Return the last gap between words in the second half of ``text[start:stop]``, else an offset past start."""
        for at in range(stop, start + (stop - start) // 2, -1):
            if self._text[at - 1].isspace() or self._text[at : at + 1].isspace():
                return at
        return max(stop, start + 1)


def token_maps(stretches: Iterable[Stretch], token_offsets: TokenOffsets) -> list[TokenMap]:
    """Return the token map of each stretch, in order.

    Long texts are tokenised in slices that end at line ends, short texts in groups. The tokenizer gets about half a
    million characters at a time, which bounds its memory and keeps its threads busy.
    """
    maps: list[TokenMap] = []
    group: list[tuple[TokenMap, int, str]] = []
    size = 0
    for text, start, end in stretches:
        maps.append(TokenMap(text))
        for first, last in _slices(text, start, end):
            group.append((maps[-1], first, text[first:last]))
            size += last - first
            if size >= _GROUP_CHARACTERS:
                _add(group, token_offsets)
                group, size = [], 0
    _add(group, token_offsets)
    return maps


def _add(group: list[tuple[TokenMap, int, str]], token_offsets: TokenOffsets) -> None:
    offsets = token_offsets([part for _, _, part in group]) if group else []
    for (tokens, start, _), part_offsets in zip(group, offsets, strict=True):
        tokens.add(start, part_offsets)


def _divided(start: int, end: int) -> Iterator[tuple[int, int]]:
    step = _CHARACTERS_PER_PART if end - start > _LONGEST_WORD else max(1, end - start)
    return ((at, min(at + step, end)) for at in range(start, max(end, start + 1), step))


def _slices(text: str, start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Yield the slices to tokenise separately; a word is cut only if a whole slice has no white space."""
    while stop - start > _SLICE_CHARACTERS:
        end = start + _SLICE_CHARACTERS
        newline = text.rfind("\n", start + 1, end)
        cut = newline if newline > 0 else text.rfind(" ", start + 1, end)
        end = cut if cut > 0 else end
        yield start, end
        start = end
    yield start, stop
