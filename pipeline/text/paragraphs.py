"""Split plain text into paragraphs at blank lines."""

from collections.abc import Iterator

from pipeline.records import Block, BlockKind


def paragraphs(text: str, start: int = 0, end: int | None = None) -> Iterator[Block]:
    """Yield the paragraphs of ``text[start:end]`` in order, without the white space around them.

    A paragraph is a run of lines that aren't blank. Every character that isn't white space lies in a paragraph.
    """
    stop = len(text) if end is None else end
    first = last = -1
    while start < stop:
        newline = text.find("\n", start, stop)
        line_end = stop if newline < 0 else newline
        line = text[start:line_end]
        if not line or line.isspace():
            if first >= 0:
                yield _paragraph(text, first, last)
            first = -1
        else:
            first, last = (start if first < 0 else first), line_end
        start = line_end + 1
    if first >= 0:
        yield _paragraph(text, first, last)


def _paragraph(text: str, start: int, end: int) -> Block:
    return Block(BlockKind.PARAGRAPH, *trimmed(text, start, end))


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Return ``start`` and ``end`` moved inwards past white space; equal if the stretch is blank."""
    stretch = text[start:end]
    start += len(stretch) - len(stretch.lstrip())
    return start, max(start, end - len(stretch) + len(stretch.rstrip()))
