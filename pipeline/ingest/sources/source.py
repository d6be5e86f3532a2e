"""A source file, and what its parsers share: errors, and the text that they build of its elements."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from pipeline.files import DEFAULT_LIMITS, Limits, Unreadable
from pipeline.records import Block, BlockKind, Document, Link
from pipeline.text.outline import first_heading

_SPACES = re.compile(r"[ \t\n\r\f]+")
_SEPARATOR = "\n\n"


@contextmanager
def parser_errors(kind: str) -> Iterator[None]:
    """Turn any exception but MemoryError of a library that parses a file of format ``kind`` into Unreadable."""
    try:
        yield
    except (Unreadable, MemoryError):
        raise
    except RecursionError as error:
        raise Unreadable("is nested too deeply", "Flatten it, or leave it out.") from error
    # broad: on damaged files parsers raise nearly anything, such as KeyError, zlib.error
    except Exception as error:
        problem = str(error).strip().split("\n")[0][:200]
        raise Unreadable(
            f"isn't well-formed {kind} ({type(error).__name__}: {problem})", "Open and save it again, or leave it out."
        ) from error


@dataclass(frozen=True, slots=True)
class Source:
    """A file's bytes; ``key`` is the document's key in its corpus, ``path`` the file's path."""

    key: str
    path: str
    data: bytes
    limits: Limits = DEFAULT_LIMITS

    @property
    def stem(self) -> str:
        """The file's name without suffix, with spaces for dashes and underscores: the title if there is no other."""
        return PurePosixPath(self.key).stem.replace("-", " ").replace("_", " ").strip() or self.key


Parse = Callable[[Source], Document]
"""Parser of a format; raises Unreadable."""


class TextBuilder:
    """Builds a text from blocks separated by blank lines; records the offsets of blocks and links."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.links: list[Link] = []
        self._closed: list[str] = []
        self._base = 0
        self._open: list[str] = []
        self._open_length = 0
        self._end = 0

    def document(self, source: Source, title: str, fix: str) -> Document:
        """Return the document of all closed blocks; raises Unreadable with ``fix`` if there are none.

        Without a title, its first heading of level 1 is the title, else the file's stem.
        """
        if not self.blocks:
            raise Unreadable("has no text", fix)
        text = _SEPARATOR.join(self._closed)
        title = title or first_heading(text, self.blocks) or source.stem
        return Document(source.key, title, text, tuple(self.blocks), tuple(self.links), path=source.path)

    @property
    def offset(self) -> int:
        """Offset of the next character."""
        return self._base + self._open_length

    @property
    def last(self) -> str:
        """The last character of the open block; empty if there is none."""
        return self._open[-1][-1] if self._open else ""

    def write(self, words: str) -> None:
        """Add words to the open block; collapse white space to a space, and to nothing at the start of a line."""
        collapsed = _SPACES.sub(" ", words)
        fresh = not self._open or self._open[-1][-1].isspace()
        self._append(collapsed.lstrip(" ") if fresh else collapsed)

    def write_verbatim(self, words: str) -> None:
        """Add text to the open block unchanged, except for empty lines at the block's start."""
        self._append(words if self._open else words.lstrip("\n"))

    def new_line(self) -> None:
        """End the current line of the open block."""
        if self._open and not self._open[-1].endswith("\n"):
            self._append("\n")

    def link(self, target: str | None, start: int) -> None:
        """Record a link from ``start`` to the last character written, if it leads to a document and has words."""
        if target and start < self._end:
            self.links.append(Link(target, start, self._end))

    def close(self, kind: BlockKind, level: int = 0) -> None:
        """End the open block, and drop it if it is blank."""
        text = "".join(self._open).rstrip()
        self._open, self._open_length = [], 0
        if text:
            self._closed.append(text)
            self.blocks.append(Block(kind, self._base, self._base + len(text), level))
            self._base += len(text) + len(_SEPARATOR)

    def _append(self, words: str) -> None:
        if words:
            bare = len(words.rstrip())
            self._end = self.offset + bare if bare else self._end
            self._open.append(words)
            self._open_length += len(words)


def join(parts: Sequence[Document]) -> Document:
    """Return the first document with the text, blocks and links of all, those without blocks left out."""
    filled = [part for part in parts if part.blocks]
    blocks: list[Block] = []
    links: list[Link] = []
    at = 0
    for part in filled:
        blocks += (replace(block, start=at + block.start, end=at + block.end) for block in part.blocks)
        links += (replace(link, start=at + link.start, end=at + link.end) for link in part.links)
        at += len(part.text) + len(_SEPARATOR)
    text = _SEPARATOR.join(part.text for part in filled)
    return replace(parts[0], text=text, blocks=tuple(blocks), links=tuple(links))
