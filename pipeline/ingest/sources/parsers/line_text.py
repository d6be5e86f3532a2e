"""The text of a markup file without its markup, line for line as in the file, so that lines keep their numbers."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from pipeline.ingest.sources.front_matter import split_front_matter
from pipeline.ingest.sources.metadata import flat, scalar_title
from pipeline.records import Block, BlockKind, Document, Link
from pipeline.text.outline import first_heading

MOST_WARNINGS = 20
"""Warnings of a file that are given one by one; chosen by hand."""


class LineText:
    """Builds a text; what is written is kept as it is, so whoever leaves out lines writes their line feeds.

    ``is_blank`` is whether the open block has no words yet.
    """

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.notes: list[Callable[[], None]] = []
        self.warnings: list[str] = []
        self._links: list[Link] = []
        self._pieces: list[str] = []
        self._open: list[str] = []
        self._start = self.offset = 0
        self.is_blank = True

    def write(self, words: str) -> None:
        """Add words to the open block."""
        self._open.append(words)
        self.offset += len(words)
        self.is_blank = self.is_blank and (not words or words.isspace())

    def link(self, target: str | None, start: int) -> None:
        """Record a link from ``start`` to here, if it leads to a document and has words."""
        if target and start < self.offset:
            self._links.append(Link(target, start, self.offset))

    def close(self, kind: BlockKind, level: int = 0) -> None:
        """End the open block, and write the notes that belong to it on the line where it ends."""
        self._close(kind, level)
        notes, self.notes = self.notes, []
        for write in notes:
            self.write(" ")
            write()
            self._close(BlockKind.PARAGRAPH)

    def warn(self, problem: str) -> None:
        """Say what of the file isn't read, as the rest of a sentence that begins with its name."""
        if problem not in self.warnings and len(self.warnings) < MOST_WARNINGS:
            self.warnings.append(problem)

    def document(self, document: Document, title: str, metadata: Mapping[str, object]) -> Document:
        """Return the document with this text; its own title and metadata count first, then these, then a heading."""
        self.close(BlockKind.PARAGRAPH)
        text = "".join(self._pieces)
        return replace(
            document,
            title=document.title or title or first_heading(text, self.blocks),
            text=text,
            blocks=tuple(self.blocks),
            links=tuple(self._links),
            metadata={**flat(metadata), **document.metadata},
            warnings=(*document.warnings, *self.warnings),
        )

    def _close(self, kind: BlockKind, level: int = 0) -> None:
        text = "".join(self._open)
        bare = text.strip()
        if bare:
            start = self._start + text.index(bare[0])
            self.blocks.append(Block(kind, start, start + len(bare), level))
        self._pieces.append(text)
        self._open, self._start, self.is_blank = [], self.offset, True


def without_front_matter(document: Document) -> Document:
    """Return a document without the front matter that site generators read above any markup, with its values."""
    front = split_front_matter(document.text)
    if not front.lines:
        return document
    title = scalar_title(front.mapping.pop("title", None))
    return replace(
        document,
        title=document.title or title,
        text=front.text,
        metadata={**flat(front.mapping), **document.metadata},
        line_offset=front.lines,
        warnings=(*document.warnings, *front.warnings),
    )
