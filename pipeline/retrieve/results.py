"""What a search returns, in the shape that neo4j-graphrag's users know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, TypedDict


class LegRank(TypedDict):
    """How one leg found a hit: its rank from 1, its raw score, and its share of the fused score (0 to 1)."""

    rank: int
    score: float
    share: float


@dataclass(frozen=True, slots=True)
class RetrieverResultItem:
    """One hit: the passage, and where it is from and why it is here.

    ``metadata`` holds id, score, rank, document, title, heading, path, start and end (characters), line_start and
    line_end, the document's own metadata as ``document_metadata``, and ``legs``, a LegRank for each leg that found it.
    With an explanation asked for it has ``evidence`` too: the path from a seed to the hit, from node to node.
    """

    content: str
    metadata: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RetrieverResult:
    """The hits, best first; ``metadata`` says what the question's names were and which engine walked."""

    items: tuple[RetrieverResultItem, ...]
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON values."""
        return asdict(self)
