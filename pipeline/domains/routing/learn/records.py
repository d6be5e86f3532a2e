"""Records of learning: proposed relations, uses of answers, and the weights that follow from them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from pipeline.domains.routing.records import Relation
from pipeline.domains.routing.schema import RelationType
from pipeline.errors import GraphError
from pipeline.ids import digest

_ID_LENGTH = 8


def relation_type(name: str) -> RelationType:
    """Return the type of relations between projects of that name, in any case; raises GraphError if there is none."""
    found = RelationType.parse(name)
    if found is RelationType.DOMAIN:
        raise GraphError("DOMAIN relates no two projects.", "Name a relation that leads to a project, such as USES.")
    return found


@dataclass(frozen=True, slots=True)
class EdgeKey:
    """The identity of a relation: its two projects and its type."""

    source: str
    target: str
    type: RelationType

    @classmethod
    def make(cls, source: str, target: str, type: RelationType) -> EdgeKey:  # noqa: A002  # the usual name
        """Return the key of a relation; the ends of a SIBLING, which has no direction, are sorted."""
        if type is RelationType.SIBLING and target < source:
            source, target = target, source
        return cls(source, target, type)

    @classmethod
    def of(cls, relation: Relation) -> EdgeKey:
        """Return the key of a relation."""
        return cls.make(relation.source, relation.target, relation.type)

    @classmethod
    def parse(cls, source: str, type: str, target: str) -> EdgeKey:  # noqa: A002  # the usual name
        """Return the key of a relation whose type is written in any case; raises GraphError on an unknown type."""
        return cls.make(source, target, relation_type(type))

    @property
    def id(self) -> str:
        """Short digest of the key, the same in every run."""
        return digest(self.source, self.type, self.target)[:_ID_LENGTH]

    def __str__(self) -> str:
        return f"{self.source} {self.type.upper()} {self.target}"


@dataclass(frozen=True, slots=True)
class Proposal:
    """A relation that files speak for, with the probability that it is right.

    ``evidence`` are places and what stands there, ``file:line: text``, the strongest first. ``detector`` names the kind
    of evidence: ``imports``, ``mentions``, ``commands`` or ``domains``.
    """

    relation: Relation
    confidence: float
    evidence: tuple[str, ...]
    detector: str

    @property
    def id(self) -> str:
        """Short digest of the relation's projects and type, by which it is accepted or rejected."""
        return EdgeKey.of(self.relation).id


@dataclass(frozen=True, slots=True)
class EdgeUsage:
    """A judgement on an answer that came over an edge: whether it was of use, at which rank (1 is the first), when."""

    edge: EdgeKey
    query: str
    rank: int
    useful: bool
    time: datetime


@dataclass(frozen=True, slots=True)
class UsedAnswer:
    """An answer that somebody judged: its project, its rank, and the type of the edge that led there, None for any."""

    project: str
    rank: int
    useful: bool = True
    type: RelationType | None = None


@dataclass(frozen=True, slots=True)
class LearnedWeight:
    """A weight and its explanation: ``weight`` is ``base`` times ``factor``.

    ``useful`` and ``useless`` are the decayed and corrected counts of judgements, ``share`` is the estimate of the
    share of useful answers, 0.5 without judgements. ``events`` are the judgements that count, newest first.
    """

    edge: EdgeKey
    base: float
    useful: float
    useless: float
    share: float
    factor: float
    weight: float
    events: tuple[EdgeUsage, ...]
