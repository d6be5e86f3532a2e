"""The ways to rank a corpus's chunks, by name."""

from __future__ import annotations

from enum import StrEnum


class Leg(StrEnum):
    """A way to rank a corpus's chunks for a question."""

    VECTOR = "vector"
    FULLTEXT = "fulltext"
    BM25 = "bm25"
    HYBRID = "hybrid"
    HOPS = "hops"
    GRAPH = "graph"
    WHOLE = "hoprank"
