"""Text that is put together from a page or a word processor's file, with where its blocks and links lie in it."""

from __future__ import annotations

import re

from pipeline.records import Block, BlockKind, Link

_SPACES = re.compile(r"[ \t\n\r\f]+")
_BETWEEN = "\n\n"


class TextBuilder:
    """Builds a text block by block, a blank line between them, and keeps the offsets of blocks and links."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.links: list[Link] = []
        self._closed: list[str] = []
        self._base = 0
        self._open: list[str] = []
        self._open_length = 0
        self._end = 0

    @property
    def text(self) -> str:
        """All blocks that were closed."""
        return _BETWEEN.join(self._closed)

    @property
    def at(self) -> int:
        """The offset at which the next character will stand."""
        return self._base + self._open_length

    def write(self, words: str) -> None:
        """Add to the open block, any white space as one space, and as none where the block or a line of it begins."""
        collapsed = _SPACES.sub(" ", words)
        self._append(collapsed.lstrip(" ") if self._fresh() else collapsed)

    def write_verbatim(self, words: str) -> None:
        """Add to the open block as it is, but for empty lines where the block begins."""
        self._append(words if self._open else words.lstrip("\n"))

    def new_line(self) -> None:
        """End a line within the open block."""
        if self._open and not self._open[-1].endswith("\n"):
            self._append("\n")

    def link(self, target: str, start: int) -> None:
        """Note a link from ``start`` to what was written last, if that is any words."""
        if start < self._end:
            self.links.append(Link(target, start, self._end))

    def close(self, kind: BlockKind, level: int = 0) -> None:
        """End the open block; one with nothing but white space leaves no trace."""
        text = "".join(self._open).rstrip()
        self._open, self._open_length = [], 0
        if text:
            self._closed.append(text)
            self.blocks.append(Block(kind, self._base, self._base + len(text), level))
            self._base += len(text) + len(_BETWEEN)

    def _append(self, words: str) -> None:
        if words:
            bare = len(words.rstrip())
            self._end = self.at + bare if bare else self._end
            self._open.append(words)
            self._open_length += len(words)

    def _fresh(self) -> bool:
        return not self._open or self._open[-1][-1].isspace()
