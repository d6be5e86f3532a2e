"""Records of a knowledge graph: typed nodes and edges, checked on construction."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

import numpy as np

from pipeline.errors import GraphError
from pipeline.ids import digest
from pipeline.knowledge.check import canonical_time, check_period, check_properties, check_text

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
"""A property's value: any JSON value."""

MAX_ID_LENGTH = 10_000  # characters; chosen by hand: a longer one is a text, no id
MAX_NAME_LENGTH = 1_000
"""Characters of a type, a label or a property's name."""


class SupportedEdgeType(StrEnum):
    """The kind of relationship behind an edge, independent of the edge's own type."""

    SEMANTIC = "semantic"  # similar meaning
    STRUCTURAL = "structural"  # structure of a document or a hierarchy
    TEMPORAL = "temporal"  # order in time
    CAUSAL = "causal"  # cause and effect


class Direction(StrEnum):
    """The direction in which directed edges are followed; undirected edges are always followed both ways."""

    OUT = "out"
    IN = "in"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class KnowledgeNode:
    """A node. ``id`` is unique within its graph; ``type``, ``labels`` and ``properties`` are data, never code.

    ``embedding`` is stored as 32-bit floats. ``child_ids`` are sorted. A hierarchy may be declared by the child
    (``parent_id``) or by the parent (``child_ids``). Times are as those of :class:`KnowledgeEdge`. Raises GraphError on
    a value that can't be stored.
    """

    id: str
    type: str
    labels: Sequence[str] = ()
    properties: Mapping[str, Json] = field(default_factory=dict)
    embedding: Sequence[float] | None = None
    created_at: str | None = None
    updated_at: str | None = None
    parent_id: str | None = None
    child_ids: Sequence[str] = ()
    valid_at: str | None = None
    invalid_at: str | None = None
    expired_at: str | None = None

    def __post_init__(self) -> None:
        check_text(self.id, "A node's id", MAX_ID_LENGTH)
        where = f"The node {self.id[:50]!r}"
        check_text(self.type, f"{where}: its type", MAX_NAME_LENGTH)
        for name in ("labels", "child_ids"):
            object.__setattr__(self, name, _texts(getattr(self, name), f"{where}: {name}"))
        object.__setattr__(self, "child_ids", tuple(sorted(set(self.child_ids))))
        object.__setattr__(self, "updated_at", canonical_time(self.updated_at, where))
        _check_times(self, where)
        if self.parent_id is not None:
            check_text(self.parent_id, f"{where}: parent_id", MAX_ID_LENGTH)
        if self.id == self.parent_id or self.id in self.child_ids:
            raise GraphError(f"{where} is its own parent.", "Leave itself out of parent_id and child_ids.")
        object.__setattr__(self, "properties", check_properties(self.properties, where, MAX_NAME_LENGTH))
        if self.embedding is not None:
            object.__setattr__(self, "embedding", _embedding(self.embedding, where))


@dataclass(frozen=True, slots=True)
class KnowledgeEdge:
    """An edge between two node ids; without ``directed`` source and target are interchangeable.

    ``weight`` is the strength of the relationship, 0 or more. A missing ``id`` is derived from the endpoints, the type
    and ``directed``. Raises GraphError on a value that can't be stored.

    An edge holds in the world from ``valid_at`` until ``invalid_at``, and is known to the graph from ``created_at``
    until ``expired_at``; None leaves a period open. Times are ISO 8601, kept as UTC; one without an offset is UTC.
    """

    source: str
    target: str
    type: str
    id: str = ""
    supported_edge_type: SupportedEdgeType | None = None
    weight: float = 1.0
    directed: bool = True
    properties: Mapping[str, Json] = field(default_factory=dict)
    created_at: str | None = None
    valid_at: str | None = None
    invalid_at: str | None = None
    expired_at: str | None = None

    def __post_init__(self) -> None:
        check_text(self.source, "An edge's source", MAX_ID_LENGTH)
        check_text(self.target, "An edge's target", MAX_ID_LENGTH)
        check_text(self.type, "An edge's type", MAX_NAME_LENGTH)
        if not self.id:
            object.__setattr__(self, "id", edge_id(self.source, self.target, self.type, directed=self.directed))
        check_text(self.id, "An edge's id", MAX_ID_LENGTH)
        where = f"The edge {self.id[:50]!r}"
        if (kind := self.supported_edge_type) is not None:
            if kind not in (kinds := list(SupportedEdgeType)):
                fix = f"Use one of {', '.join(kinds)}, or None."
                raise GraphError(f"{where}: its supported_edge_type is {kind!r}.", fix)
            object.__setattr__(self, "supported_edge_type", SupportedEdgeType(kind))
        # Python's bool is a subclass of int, but True is no weight.
        weight = self.weight
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 <= weight <= sys.float_info.max:
            raise GraphError(f"{where}: its weight is {weight!r}.", "Give a finite number of 0 or more.")
        object.__setattr__(self, "weight", float(weight))
        if type(self.directed) is not bool:
            raise GraphError(f"{where}: directed is {self.directed!r}.", "Give True or False.")
        if self.properties or not isinstance(self.properties, Mapping):
            object.__setattr__(self, "properties", check_properties(self.properties, where, MAX_NAME_LENGTH))
        if any(time is not None for time in (self.created_at, self.valid_at, self.invalid_at, self.expired_at)):
            _check_times(self, where)

    def other(self, node_id: str) -> str:
        """Return the endpoint that isn't ``node_id``; for a self-loop, the node itself."""
        return self.target if self.source == node_id else self.source


@dataclass(frozen=True, slots=True)
class NeighborInfo:
    """A neighbour's ``id``, and the edge that leads to it."""

    id: str
    weight: float
    edge_id: str
    edge_type: str
    supported_edge_type: SupportedEdgeType | None


@dataclass(frozen=True, slots=True)
class Reached:
    """A node reached by a traversal, after ``hops`` edges.

    ``score`` is that of the strongest path: the product of its edges' weights (capped at 1), each times the decay.
    """

    node: KnowledgeNode
    hops: int
    score: float


@dataclass(frozen=True, slots=True)
class RankedNode:
    """A node with its ``score`` in a ranking, and its raw score in each part of the ranking that has it."""

    node: KnowledgeNode
    score: float
    parts: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class GraphSize:
    """Number of nodes and edges of a graph."""

    nodes: int
    edges: int


def edge_id(source: str, target: str, edge_type: str, *, directed: bool) -> str:
    """Return the derived id of an edge: a hash of its endpoints, type and direction."""
    ends = (source, target) if directed else tuple(sorted((source, target)))
    return digest("edge", edge_type, str(directed), *ends)


def _check_times(record: KnowledgeNode | KnowledgeEdge, where: str) -> None:
    for name in ("created_at", "valid_at", "invalid_at", "expired_at"):
        object.__setattr__(record, name, canonical_time(getattr(record, name), f"{where}: {name}"))
    check_period(record.valid_at, record.invalid_at, "valid_at and invalid_at", where)
    check_period(record.created_at, record.expired_at, "created_at and expired_at", where)


def _texts(values: Sequence[str], what: str) -> tuple[str, ...]:
    if isinstance(values, str | Mapping) or not isinstance(values, Iterable):
        raise GraphError(f"{what} is {str(values)[:50]!r}.", "Give a list of texts.")
    for value in values:
        check_text(value, what, MAX_ID_LENGTH if what.endswith("child_ids") else MAX_NAME_LENGTH)
    return tuple(values)


def _embedding(values: Sequence[float], where: str) -> tuple[float, ...]:
    try:
        vector = np.asarray(values, dtype=np.float64).astype(np.float32)
    except (TypeError, ValueError, OverflowError):
        vector = np.zeros(0, dtype=np.float32)
    if vector.ndim != 1 or not vector.size or not np.isfinite(vector).all() or not vector.any():
        raise GraphError(
            f"{where}: its embedding isn't a list of finite numbers that are not all 0.",
            "Give the embedder's numbers, or None.",
        )
    return tuple(vector.tolist())
