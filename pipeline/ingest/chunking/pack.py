"""Pack a section's units into chunks of about equal size, with a preference for cuts at natural breaks."""

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.ingest.chunking.tokens import TokenMap
from pipeline.ingest.chunking.units import Break, Unit

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
            if self.tokens.count(start, units[first - 1].end) > self.overlap:
                break
            if self.tokens.count(start, units[first].end) > self.limit:
                break
            begin -= 1
        return begin

    def _stop(self, units: Sequence[Unit], begin: int, first: int) -> int:
        """Return the end, as a unit's index, of the chunk that repeats units from ``begin`` and adds from ``first``."""
        start = units[begin].start
        sizes = [self.tokens.count(start, units[first].end)]
        for unit in units[first + 1 :] if first + 1 < len(units) else ():
            size = self.tokens.count(start, unit.end)
            if size > self.limit:
                break
            sizes.append(size)
        if first + len(sizes) == len(units):
            return len(units)
        ideal = self._ideal(self.tokens.count(start, units[-1].end))
        costs = [_COST[units[first + i + 1].before] + abs(size - ideal) / ideal for i, size in enumerate(sizes)]
        best = min(range(len(sizes)), key=lambda i: (costs[i], -i))
        return first + best + 1

    def _ideal(self, left: int) -> float:
        """Return the size that divides ``left`` remaining tokens into equal chunks, so that the last isn't tiny."""
        chunks = max(2, -(-(left - self.overlap) // (self.limit - self.overlap)))
        return max(1.0, (left + (chunks - 1) * self.overlap) / chunks)
