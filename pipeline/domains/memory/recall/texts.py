"""The level of texts: the memories by words, vectors and walk, with dates as soft evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from pipeline.domains.memory.memory import AgentMemory
from pipeline.domains.memory.recall.records import Period
from pipeline.domains.memory.records import EntityKey, When
from pipeline.domains.memory.schema import MEMORY
from pipeline.records import Hit
from pipeline.retrieve.legs import Leg
from pipeline.text.dates import TimeHint, closeness, time_hints

CANDIDATES = 100
_K = 5
"""k of the reciprocal rank that a date may double: it moves a text from the 6th place before the 1st at most. Chosen by
hand; not measured."""


def find_texts(
    memory: AgentMemory,
    question: str,
    vector: Sequence[float],
    filters: Mapping[str, Any] | None,
    now: datetime,
    leg: Leg = Leg.WHOLE,
) -> tuple[list[Hit], tuple[Period, ...]]:
    """Return the passages that answer best, at most ``CANDIDATES``, and the periods that the question speaks of.

    A memory from such a period counts up to twice its reciprocal rank; none is left out for its time.
    """
    hits = _search(memory, question, vector, filters, leg)
    hints = time_hints(question, now)
    periods = tuple(Period(hint.phrase, hint.start, hint.end) for hint in hints)
    return by_time(hits, hints), periods


def by_time(hits: Sequence[Hit], hints: Sequence[TimeHint]) -> list[Hit]:
    """Return hits in their order, those whose time is close to a hint moved up; ties stay in order."""
    if not hints:
        return list(hits)

    def score(place: int, hit: Hit) -> float:
        time = hit.document_metadata.get("time")
        close = max(closeness(str(time), hint) for hint in hints) if time else 0.0
        return (1 + close) / (_K + place)

    scored = [(score(place, hit), -place, hit) for place, hit in enumerate(hits, 1)]
    return [hit for *_, hit in sorted(scored, key=lambda item: (-item[0], -item[1]))]


def filters_of(
    memory: AgentMemory, when: When, scope: str | None, given: Mapping[str, Any] | None
) -> Mapping[str, Any] | None:
    """Return the filter of a search: the caller's, the scope, and what was said by then, as far as it was known."""
    parts: list[Mapping[str, Any]] = [given] if given else []
    if scope is not None:
        parts.append({"metadata.scope": scope})
    if when.as_of is not None:
        parts.append({"metadata.time": {"$lte": when.as_of}})
    if when.known_at is not None:
        parts.append({"document": {"$nin": _unknown(memory, when.known_at)}})
    if not parts:
        return None
    return parts[0] if len(parts) == 1 else {"$and": parts}


def _unknown(memory: AgentMemory, known_at: str) -> list[str]:
    """Return the keys of the memories that were remembered after a time; one that can't be, if there is none."""
    rows = memory.rows("memory_texts_after", label=memory.label, type=MEMORY, known_at=known_at)
    return [EntityKey.of(row["id"]).name for row in rows] or [""]


def _search(
    memory: AgentMemory, question: str, vector: Sequence[float], filters: Mapping[str, Any] | None, leg: Leg
) -> list[Hit]:
    result = memory.hoprank.search(question, vector, CANDIDATES, filters, corpus=memory.name, leg=leg)
    best: dict[str, Hit] = {}
    for hit in result.hits:
        best.setdefault(hit.document, hit)
    return list(best.values())
