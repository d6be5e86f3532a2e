"""Where the embedder's tokens lie in a text, so that any stretch of it can be measured without tokenising again."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence

from pipeline.text.paragraphs import trimmed

TokenOffsets = Callable[[Sequence[str]], list[list[tuple[int, int]]]]
"""For each text the (start, end) of each token in characters, in order; no special tokens, nothing truncated."""

Stretch = tuple[str, int, int]
"""A text, and the start and end of the part of it that is meant."""

# tokenizers give up on words over 100 characters or so and call them one unknown token, were they megabytes long
_LONGEST = 100
_PART = 8
_SLICE = 65_536
_GROUP = 524_288


class TokenMap:
    """The tokens of a stretch of ``text``, added slice by slice."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = array("l")
        self._ends = array("l")
        self._slices = 0
        self._divided = False

    @property
    def exact(self) -> bool:
        """Whether counting the whole stretch gives what its tokenizer would: one slice, and no word divided."""
        return self._slices < 2 and not self._divided

    @property
    def divided(self) -> bool:
        """Whether a word was so long that it counts by its length, not by what its tokenizer makes of it."""
        return self._divided

    def add(self, offset: int, tokens: Sequence[tuple[int, int]]) -> None:
        """Append the tokens of the next slice, which begins at ``offset``; theirs are counted from there."""
        self._slices += 1
        if any(end - start > _LONGEST for start, end in tokens):
            self._divided = True
            tokens = [part for token in tokens for part in _divided(*token)]
        if tokens:
            starts, ends = zip(*tokens, strict=True)
            self._starts.extend(starts if not offset else [offset + start for start in starts])
            self._ends.extend(ends if not offset else [offset + end for end in ends])

    def count(self, start: int, end: int) -> int:
        """Return how many tokens touch ``text[start:end]``."""
        return max(0, bisect_left(self._starts, end) - bisect_right(self._ends, start))

    def reach(self, start: int, limit: int) -> int:
        """Return the furthest end for which ``text[start:end]`` holds ``limit`` tokens or fewer."""
        beyond = bisect_right(self._ends, start) + limit
        return self._starts[beyond] if beyond < len(self._starts) else len(self._text)

    def pieces(self, start: int, end: int, limit: int) -> Iterator[tuple[int, int]]:
        """Cut ``text[start:end]`` into pieces of at most ``limit`` tokens and about equal size.

        Cuts fall between words, or between tokens where one word alone is longer.
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
        """Return the last gap between words in the second half of ``text[start:stop]``, else a place that moves on."""
        for at in range(stop, start + (stop - start) // 2, -1):
            if self._text[at - 1].isspace() or self._text[at : at + 1].isspace():
                return at
        return max(stop, start + 1)


def token_maps(stretches: Iterable[Stretch], token_offsets: TokenOffsets) -> list[TokenMap]:
    """Return the token map of each stretch, in order.

    Long texts are tokenised in slices, cut where lines end, and short ones together: the tokenizer is given
    about half a million characters at a time, which bounds its memory and keeps its threads busy.
    """
    maps: list[TokenMap] = []
    group: list[tuple[TokenMap, int, str]] = []
    size = 0
    for text, start, end in stretches:
        maps.append(TokenMap(text))
        for first, last in _slices(text, start, end):
            group.append((maps[-1], first, text[first:last]))
            size += last - first
            if size >= _GROUP:
                _add(group, token_offsets)
                group, size = [], 0
    _add(group, token_offsets)
    return maps


def _add(group: list[tuple[TokenMap, int, str]], token_offsets: TokenOffsets) -> None:
    found = token_offsets([piece for _, _, piece in group]) if group else []
    for (tokens, offset, _), offsets in zip(group, found, strict=True):
        tokens.add(offset, offsets)


def _divided(start: int, end: int) -> Iterator[tuple[int, int]]:
    step = _PART if end - start > _LONGEST else max(1, end - start)
    return ((at, min(at + step, end)) for at in range(start, max(end, start + 1), step))


def _slices(text: str, start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Yield the slices to tokenise one by one; a word is cut only where a whole slice has no white space."""
    while stop - start > _SLICE:
        end = start + _SLICE
        newline = text.rfind("\n", start + 1, end)
        cut = newline if newline > 0 else text.rfind(" ", start + 1, end)
        end = cut if cut > 0 else end
        yield start, end
        start = end
    yield start, stop
