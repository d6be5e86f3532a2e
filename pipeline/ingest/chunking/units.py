"""Units of a section's body: the smallest stretches of text at which a chunk may begin or end."""

from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import NamedTuple

from pipeline.ingest.chunking.tokens import TokenMap
from pipeline.records import Block, BlockKind
from pipeline.text.sentences import sentences


class Break(IntEnum):
    """Quality of a unit's start as the start of a chunk, best first."""

    BLOCK = 0
    SENTENCE = 1
    PIECE = 2
    HEADED = 3


class Unit(NamedTuple):
    """A stretch ``text[start:end]`` that stays whole; ``carried``: it may be repeated as overlap."""

    start: int
    end: int
    before: Break
    carried: bool


def units(text: str, blocks: Sequence[Block], tokens: TokenMap, limit: int) -> list[Unit]:
    """Return the units of ``blocks`` in order, of at most ``limit`` tokens each.

    A paragraph is split into sentences. Headings, code and tables are a single unit if they fit, else they are split
    into lines. Longer units are cut between words. Paragraphs right below a heading leave room for it.
    """
    result: list[Unit] = []
    before, room = Break.BLOCK, limit
    for block in blocks:
        for start, end, rank in _parts(text, block, tokens, room if block.kind is BlockKind.PARAGRAPH else limit):
            carried = block.kind is BlockKind.PARAGRAPH and rank is not Break.PIECE
            result.append(Unit(start, end, max(before, rank), carried))
            before = Break.BLOCK
        if block.kind is BlockKind.HEADING:
            before, room = Break.HEADED, room - tokens.count(block.start, block.end)
        else:
            before, room = Break.BLOCK, limit
        room = max(room, limit // 2, 1)
    return result


def _parts(text: str, block: Block, tokens: TokenMap, limit: int) -> Iterator[tuple[int, int, Break]]:
    """Yield the parts of ``block`` as (start, end, quality of the break before it)."""
    rank = Break.BLOCK
    for start, end in _natural(text, block, tokens, limit):
        if tokens.count(start, end) <= limit:
            yield start, end, rank
        else:
            for piece in tokens.pieces(start, end, limit):
                yield *piece, rank
                rank = Break.PIECE
        rank = Break.SENTENCE if block.kind is BlockKind.PARAGRAPH else Break.PIECE


def _natural(text: str, block: Block, tokens: TokenMap, limit: int) -> Iterator[tuple[int, int]]:
    if block.kind is BlockKind.PARAGRAPH:
        yield from sentences(text, block.start, block.end)
    elif tokens.count(block.start, block.end) <= limit:
        yield block.start, block.end
    else:
        yield from _lines(text, block.start, block.end)


def _lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the nonblank lines, with their indentation and without their ends."""
    while start < end:
        newline = text.find("\n", start, end)
        stop = end if newline < 0 else newline
        if not text[start:stop].isspace() and start < stop:
            yield start, stop
        start = stop + 1
