"""Sections to chunks: a section that fits stays whole, small siblings share a chunk, a long one is packed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pipeline.ingest.chunking.pack import Packer
from pipeline.ingest.chunking.units import units
from pipeline.records import Block, BlockKind
from pipeline.text.outline import Section

_TINY = 0.15
_DEEP = 3


@dataclass(frozen=True, slots=True)
class Span:
    """A chunk ``text[start:end]``; ``level`` is that of the sections which it holds whole, 0 for a part of one."""

    start: int
    end: int
    level: int = 0


class SectionCutter:
    """Cuts a tree of sections into spans.

    Siblings share a span while it fits when their headings are of level 3 or deeper, or when one of the two is
    tiny: under 15% of the limit. Sections of level 1 and 2 otherwise keep to themselves. A heading with nothing
    directly below it goes with the first section nested in it.
    """

    def __init__(self, text: str, packer: Packer) -> None:
        self._text = text
        self._packer = packer

    def cut(self, section: Section, lead: Iterable[Block] = ()) -> list[Span]:
        """Return the spans of ``section`` in order; ``lead`` are headings just before it that it takes along."""
        body = [*lead, *section.body]
        start = body[0].start if body else section.start
        if self._fits(start, section.end):
            return [Span(start, section.end, max(1, section.level))]
        headings = [] if any(block.kind is not BlockKind.HEADING for block in body) else body
        own = [] if headings and section.children else self._packed(body)
        nested: list[Span] = []
        for child in section.children:
            found = self.cut(child, headings if child is section.children[0] else ())
            nested.extend(found if len(found) == 1 else (Span(span.start, span.end) for span in found))
        return self._introduced(own, list(self._merged(nested)))

    def _packed(self, body: list[Block]) -> list[Span]:
        packer = self._packer
        return [Span(*span) for span in packer.pack(units(self._text, body, packer.tokens, packer.limit))]

    def _merged(self, spans: list[Span]) -> Iterator[Span]:
        """Yield ``spans`` with siblings joined that may share a chunk."""
        current: Span | None = None
        for span in spans:
            if current is not None and self._may_share(current, span):
                current = Span(current.start, span.end, min(current.level, span.level))
                continue
            if current is not None:
                yield current
            current = span
        if current is not None:
            yield current

    def _may_share(self, one: Span, other: Span) -> bool:
        whole = one.level > 0 and other.level > 0
        related = min(one.level, other.level) >= _DEEP or self._tiny(one) or self._tiny(other)
        return whole and related and self._fits(one.start, other.end)

    def _introduced(self, own: list[Span], nested: list[Span]) -> list[Span]:
        """Return both in order, with a tiny introduction joined to the first nested span."""
        if len(own) == 1 and nested and self._tiny(own[0]) and self._fits(own[0].start, nested[0].end):
            return [Span(own[0].start, nested[0].end), *nested[1:]]
        return [*own, *nested]

    def _fits(self, start: int, end: int) -> bool:
        return self._packer.tokens.count(start, end) <= self._packer.limit

    def _tiny(self, span: Span) -> bool:
        return self._packer.tokens.count(span.start, span.end) < _TINY * self._packer.limit
