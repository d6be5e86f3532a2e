"""Cut sections into spans: small siblings share one; a long section is packed from units, its smallest stretches."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from pipeline.ingest.chunking.tokens import TokenMap
from pipeline.records import Block, BlockKind
from pipeline.text.outline import Section
from pipeline.text.prose import sentences

_TINY_SHARE = 0.15  # share of the limit below which a section joins its neighbour
_DEEP_LEVEL = 3  # from this level on, any siblings that fit; both chosen by hand, not measured


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
    natural: Iterable[tuple[int, int]] = ((block.start, block.end),)
    if block.kind is BlockKind.PARAGRAPH:
        natural = sentences(text, block.start, block.end)
    elif tokens.count(block.start, block.end) > limit:
        natural = _lines(text, block.start, block.end)
    rank = Break.BLOCK
    for start, end in natural:
        if tokens.count(start, end) <= limit:
            yield start, end, rank
        else:
            for piece in tokens.pieces(start, end, limit):
                yield *piece, rank
                rank = Break.PIECE
        rank = Break.SENTENCE if block.kind is BlockKind.PARAGRAPH else Break.PIECE


def _lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the nonblank lines, with their indentation and without their ends."""
    while start < end:
        newline = text.find("\n", start, end)
        stop = end if newline < 0 else newline
        if not text[start:stop].isspace() and start < stop:
            yield start, stop
        start = stop + 1


# Deviation from the ideal size, as a share of it, that a chunk accepts in order to begin at a better kind of break.
_COST = {Break.BLOCK: 0.0, Break.SENTENCE: 0.3, Break.PIECE: 0.8, Break.HEADED: 2.0}


@dataclass(frozen=True, slots=True)
class Packer:
    """Packs units into chunks of at most ``limit`` tokens; each repeats up to ``overlap`` tokens of its predecessor."""

    tokens: TokenMap
    limit: int
    overlap: int

    def pack(self, units: Sequence[Unit]) -> list[tuple[int, int]]:
        """Return chunks as (start, end), in order; they cover every unit, and repeat only whole carried units."""
        chunks: list[tuple[int, int]] = []
        begin = first = 0
        while first < len(units):
            begin = self._carried_from(units, begin, first) if chunks else first
            stop = self._stop(units, begin, first)
            chunks.append((units[begin].start, units[stop - 1].end))
            first = stop
        return chunks

    def _carried_from(self, units: Sequence[Unit], before: int, first: int) -> int:
        """Return the first unit of the overlap with the chunk that began at ``before``; ``first`` for no overlap."""
        begin = first
        while begin - 1 > before and units[begin - 1].carried:
            start = units[begin - 1].start
            overlap, size = (self.tokens.count(start, units[last].end) for last in (first - 1, first))
            if overlap > self.overlap or size > self.limit:
                break
            begin -= 1
        return begin

    def _stop(self, units: Sequence[Unit], begin: int, first: int) -> int:
        """Return the end, as a unit's index, of the chunk that repeats units from ``begin`` and adds from ``first``."""
        start = units[begin].start
        sizes = [self.tokens.count(start, units[first].end)]
        # by place: a slice would copy all that is left for each chunk
        for place in range(first + 1, len(units)):
            size = self.tokens.count(start, units[place].end)
            if size > self.limit:
                break
            sizes.append(size)
        if first + len(sizes) == len(units):
            return len(units)
        # the size that divides the remaining tokens into equal chunks, so that the last isn't tiny
        left = self.tokens.count(start, units[-1].end)
        chunks = max(2, -(-(left - self.overlap) // (self.limit - self.overlap)))
        ideal = max(1.0, (left + (chunks - 1) * self.overlap) / chunks)
        costs = [_COST[units[first + i + 1].before] + abs(size - ideal) / ideal for i, size in enumerate(sizes)]
        best = min(range(len(sizes)), key=lambda i: (costs[i], -i))
        return first + best + 1


@dataclass(frozen=True, slots=True)
class Span:
    """A chunk ``text[start:end]``; ``level`` is the level of the whole sections in it, 0 for a part of a section."""

    start: int
    end: int
    level: int = 0


class SectionCutter:
    """Cuts a tree of sections into spans.

    Siblings that fit share a span if their headings are of level 3 or deeper, or if either is tiny: under 15% of the
    limit. Other sections of level 1 and 2 get spans of their own. A heading with nothing directly below it joins the
    first section nested in it.
    """

    def __init__(self, text: str, packer: Packer) -> None:
        self._text = text
        self._packer = packer

    def cut(self, section: Section, lead: Iterable[Block] = ()) -> list[Span]:
        """Return the spans of ``section`` in order; ``lead`` are headings right before it that join its first span."""
        body = [*lead, *section.body]
        start = body[0].start if body else section.start
        if self._fits(start, section.end):
            return [Span(start, section.end, max(1, section.level))]
        headings = [] if any(block.kind is not BlockKind.HEADING for block in body) else body
        own = [] if headings and section.children else self._packed(body)
        nested: list[Span] = []
        for child in section.children:
            spans = self.cut(child, headings if child is section.children[0] else ())
            nested.extend(spans if len(spans) == 1 else (Span(span.start, span.end) for span in spans))
        nested = self._merged(nested)
        # a tiny introduction joins the first nested span
        if len(own) == 1 and nested and self._tiny(own[0]) and self._fits(own[0].start, nested[0].end):
            return [Span(own[0].start, nested[0].end), *nested[1:]]
        return [*own, *nested]

    def _packed(self, body: list[Block]) -> list[Span]:
        packer = self._packer
        return [Span(*span) for span in packer.pack(units(self._text, body, packer.tokens, packer.limit))]

    def _merged(self, spans: list[Span]) -> list[Span]:
        """Return ``spans``, with siblings that may share a chunk joined."""
        merged: list[Span] = []
        for span in spans:
            if merged and self._may_share(merged[-1], span):
                first = merged.pop()
                span = Span(first.start, span.end, min(first.level, span.level))
            merged.append(span)
        return merged

    def _may_share(self, first: Span, second: Span) -> bool:
        whole = first.level > 0 and second.level > 0
        related = min(first.level, second.level) >= _DEEP_LEVEL or self._tiny(first) or self._tiny(second)
        return whole and related and self._fits(first.start, second.end)

    def _fits(self, start: int, end: int) -> bool:
        return self._packer.tokens.count(start, end) <= self._packer.limit

    def _tiny(self, span: Span) -> bool:
        return self._packer.tokens.count(span.start, span.end) < _TINY_SHARE * self._packer.limit
