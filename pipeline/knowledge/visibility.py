"""Visibility in time: which nodes and edges a read sees.

A graph keeps two times: when something holds in the world, and when the graph knew it. A read sees what holds at one
time of the world, as it was known at another (Snodgrass, Developing Time-Oriented Database Applications in SQL, 1999).
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

from pipeline.knowledge.check import canonical_time
from pipeline.knowledge.clock import now
from pipeline.knowledge.records import KnowledgeEdge, KnowledgeNode


class Moment(StrEnum):
    """The kind of a visibility."""

    NOW = "now"  # what holds and is known now
    PAST = "past"  # what holds and is known at given times
    ANY = "any"  # everything, whenever it holds and is known


@dataclass(frozen=True, slots=True)
class Visibility:
    """The visibility of nodes and edges to a read, which sees an edge only with both of its endpoints.

    ``as_of`` is a time of the world, ``known_at`` a time of the graph's knowledge, both canonical; None means now.
    """

    moment: Moment = Moment.NOW
    as_of: str | None = None
    known_at: str | None = None

    @classmethod
    def at(cls, as_of: str | None, known_at: str | None) -> Self:
        """Return the visibility at these times in ISO 8601; raises GraphError if one is no time."""
        where = "The graph at another time"
        times = canonical_time(as_of, f"{where}: as_of"), canonical_time(known_at, f"{where}: known_at")
        return cls(Moment.PAST if any(times) else Moment.NOW, *times)

    def params(self) -> dict[str, Any]:
        """Return the query parameters ``moment``, ``as_of`` and ``known_at``."""
        time = now()
        return {"moment": self.moment.value, "as_of": self.as_of or time, "known_at": self.known_at or time}

    def sees(self, record: KnowledgeNode | KnowledgeEdge) -> bool:
        """Return whether a node or an edge by itself is visible."""
        if self.moment is Moment.ANY:
            return True
        as_of, known_at = self.as_of or now(), self.known_at or now()
        holds = _within(as_of, record.valid_at, record.invalid_at)
        return holds and _within(known_at, record.created_at, record.expired_at)


NOW = Visibility()
ALL = Visibility(Moment.ANY)


def _within(time: str, start: str | None, end: str | None) -> bool:
    return (start is None or start <= time) and (end is None or time < end)
