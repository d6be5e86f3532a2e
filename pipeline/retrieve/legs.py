"""The legs: a table of the ways to rank a corpus's chunks for a question.

A new leg takes a function ``(reader, trace) -> trace`` in :mod:`pipeline.retrieve.rankers` and a row here. Searches,
evaluations, reports and the command line read the table.
"""

from enum import IntEnum, StrEnum
from typing import Self

from pipeline.errors import QuestionError


class Needs(IntEnum):
    """The last step of a search before a leg ranks; each step includes those before it."""

    TEXT = 0  # the question's text
    VECTOR = 1  # its embedding
    CANDIDATES = 2  # the candidates of vector and full text, fused
    SEEDS = 3  # the question's names, the seeds, and the expansion around them
    SCORES = 4  # the walk from the seeds, and the scores of candidates; a question without names is not expanded


class LegRow(StrEnum):
    """A row of the table: the leg's name, what it needs, and its function, as ``module:function``.

    The function is imported when the leg is first searched by, since the command line lists legs without numpy.
    """

    needs: Needs
    function: str

    def __new__(cls, name: str, needs: Needs, function: str) -> Self:
        """Make a member whose value is its name."""
        row = str.__new__(cls, name)
        row._value_ = name
        row.needs = needs
        row.function = function
        return row


class Leg(LegRow):
    """A way to rank a corpus's chunks for a question."""

    VECTOR = "vector", Needs.VECTOR, "pipeline.retrieve.rankers.basic:vector"
    FULLTEXT = "fulltext", Needs.TEXT, "pipeline.retrieve.rankers.basic:fulltext"
    BM25 = "bm25", Needs.TEXT, "pipeline.retrieve.rankers.bm25:rank"
    HYBRID = "hybrid", Needs.CANDIDATES, "pipeline.retrieve.rankers.basic:hybrid"
    HOPS = "hops", Needs.SEEDS, "pipeline.retrieve.rankers.hops:rank"
    GRAPH = "graph", Needs.SEEDS, "pipeline.retrieve.rankers.basic:graph"
    SCORER = "scorer", Needs.SCORES, "pipeline.retrieve.rankers.basic:scorer"
    WHOLE = "hoprank", Needs.SCORES, "pipeline.retrieve.rankers.basic:whole"


def leg_named(name: str) -> LegRow:
    """Return the leg of that name, or the row itself; raises QuestionError, listing all, if there is none."""
    if isinstance(name, LegRow):
        return name
    rows = {leg.value: leg for leg in Leg}
    if name not in rows:
        raise QuestionError(f"There is no leg {name!r}.", f"Use one of {', '.join(Leg)}.")
    return rows[name]
