"""The ways to rank a corpus's chunks, by name."""

from __future__ import annotations

from enum import StrEnum

from pipeline.errors import QuestionError


class Leg(StrEnum):
    """A way to rank a corpus's chunks for a question."""

    VECTOR = "vector"
    FULLTEXT = "fulltext"
    BM25 = "bm25"
    HYBRID = "hybrid"
    HOPS = "hops"
    GRAPH = "graph"
    SCORER = "scorer"
    WHOLE = "hoprank"


def leg_named(name: str) -> Leg:
    """Return the leg of that name; raises QuestionError, listing all, if there is none."""
    try:
        return Leg(name)
    except ValueError:
        raise QuestionError(f"There is no leg {name!r}.", f"Use one of {', '.join(Leg)}.") from None
