"""Cut sections into chunks: a section that fits stays whole, small siblings share a chunk, a long section is packed."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pipeline.ingest.chunking.pack import Packer
from pipeline.ingest.chunking.units import units
from pipeline.records import Block, BlockKind
from pipeline.text.outline import Section

_TINY_SHARE = 0.15
_DEEP_LEVEL = 3


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
        return self._introduced(own, list(self._merged(nested)))

    def _packed(self, body: list[Block]) -> list[Span]:
        packer = self._packer
        return [Span(*span) for span in packer.pack(units(self._text, body, packer.tokens, packer.limit))]

    def _merged(self, spans: list[Span]) -> Iterator[Span]:
        """Yield ``spans``, with siblings that may share a chunk joined."""
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

    def _may_share(self, first: Span, second: Span) -> bool:
        whole = first.level > 0 and second.level > 0
        related = min(first.level, second.level) >= _DEEP_LEVEL or self._tiny(first) or self._tiny(second)
        return whole and related and self._fits(first.start, second.end)

    def _introduced(self, own: list[Span], nested: list[Span]) -> list[Span]:
        """Return a section's own spans and the nested ones; a tiny introduction joins the first nested span."""
        if len(own) == 1 and nested and self._tiny(own[0]) and self._fits(own[0].start, nested[0].end):
            return [Span(own[0].start, nested[0].end), *nested[1:]]
        return [*own, *nested]

    def _fits(self, start: int, end: int) -> bool:
        return self._packer.tokens.count(start, end) <= self._packer.limit

    def _tiny(self, span: Span) -> bool:
        return self._packer.tokens.count(span.start, span.end) < _TINY_SHARE * self._packer.limit
