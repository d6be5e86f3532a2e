"""Records of a memory: entities, facts with their times, and the texts that speak of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

from pipeline.domains.memory.schema import MEMORY
from pipeline.errors import GraphError
from pipeline.ids import digest
from pipeline.knowledge.check import canonical_time
from pipeline.knowledge.records import Json, KnowledgeEdge, KnowledgeNode

TEXT = "text"
"""The metadata of an entity that has a text of its own, such as the summary of a source file."""

ORIGIN = "origin"
"""The metadata of a fact that only a scan or the reading of a text brought: :data:`SCANNED` or :data:`READ`."""

SCANNED, READ = "scan", "text"

_SEPARATOR = "|"
_OWN = ("name", "scope", "description", "aliases", "mention_count", "confidence")
_OWN_OF_FACTS = ("confidence", "scope", "evidence", "ended", "retracted")
_TIMES = ("valid_at", "invalid_at", "created_at", "expired_at")


FIELDS = ("time", "speaker", "session", "conversation", "turn", "scope")
"""The metadata that every memory's document has, as far as it is known; a filter may name it."""


class EntityKey(NamedTuple):
    """The identity of an entity: within a scope, a type has each name once."""

    scope: str
    type: str
    name: str

    @property
    def id(self) -> str:
        """The id of the entity's node."""
        return _SEPARATOR.join(self)

    @classmethod
    def of(cls, id_: str) -> Self:
        """Return the key that an id stands for."""
        return cls(*id_.split(_SEPARATOR, 2))


@dataclass(frozen=True, slots=True)
class Entity:
    """An entity: a thing that has a name and a type.

    ``mention_count`` is how often scans and memories mention it; ``confidence`` is from 0 to 1. ``aliases`` are
    other names that lead to it. ``metadata`` is the caller's. Times are None until it is stored.
    """

    name: str
    type: str
    scope: str = "default"
    description: str = ""
    aliases: tuple[str, ...] = ()
    mention_count: int = 1
    confidence: float = 0.7  # chosen by hand, not measured
    metadata: Mapping[str, Json] = field(default_factory=dict)
    created_at: str | None = None
    updated_at: str | None = None

    def __post_init__(self) -> None:
        for label, value in (("scope", self.scope), ("type", self.type)):
            if not value or _SEPARATOR in value:
                raise GraphError(f"The entity {self.name[:50]!r}: its {label} is {value!r}.", "Use no | in it.")
        if not 0 <= self.confidence <= 1:
            raise GraphError(f"The entity {self.name[:50]!r}: its confidence is {self.confidence}.", "Give 0 to 1.")

    @property
    def key(self) -> EntityKey:
        """The identity of the entity."""
        return EntityKey(self.scope, self.type, self.name)

    @property
    def id(self) -> str:
        """The id of the entity's node."""
        return self.key.id

    @property
    def text(self) -> str:
        """The text that the entity is embedded by: that of its metadata, else its name and description."""
        return str(self.metadata.get(TEXT) or f"{self.name}\n{self.description}".strip())

    def to_node(self, embedding: Sequence[float] | None = None) -> KnowledgeNode:
        """Return the entity as a node; metadata under a name of the entity's own fields is refused."""
        if taken := self.metadata.keys() & _OWN:
            raise GraphError(f"The entity {self.name[:50]!r} has metadata named {min(taken)}.", "Use another name.")
        return KnowledgeNode(
            self.id,
            self.type,
            properties={**{name: getattr(self, name) for name in _OWN}, **self.metadata},
            embedding=embedding,
            created_at=self.created_at,
            updated_at=self.updated_at,
        )

    @classmethod
    def of(cls, node: KnowledgeNode) -> Self:
        """Return the entity that a node holds."""
        stored = node.properties
        return cls(
            name=str(stored["name"]),
            type=node.type,
            scope=str(stored["scope"]),
            description=str(stored["description"]),
            aliases=tuple(map(str, stored["aliases"])),  # type: ignore[arg-type]  # a list, as to_node wrote it
            mention_count=int(stored["mention_count"]),  # type: ignore[arg-type]
            confidence=float(stored["confidence"]),  # type: ignore[arg-type]
            metadata={name: value for name, value in stored.items() if name not in _OWN},
            created_at=node.created_at,
            updated_at=node.updated_at,
        )


@dataclass(frozen=True, slots=True)
class Fact:
    """A version of a fact: a relation between two entities, given by their ids, over a period.

    It holds in the world from ``valid_at`` until ``invalid_at``, and is known from ``created_at`` until ``expired_at``;
    None leaves a period open. ``evidence`` says why it is believed, ``ended`` why it ended, ``retracted`` why it was
    withdrawn. A version never changes but for its ``expired_at`` and ``retracted``: what is learned makes a new one.
    The defaults of its weight and confidence are chosen by hand; not measured.
    """

    source: str
    type: str
    target: str
    valid_at: str | None = None
    invalid_at: str | None = None
    weight: float = 0.5
    confidence: float = 0.7
    scope: str = "default"
    evidence: tuple[str, ...] = ()
    ended: str = ""
    retracted: str = ""
    metadata: Mapping[str, Json] = field(default_factory=dict)
    created_at: str | None = None
    expired_at: str | None = None

    def __post_init__(self) -> None:
        where = f"The fact {self.source[:50]!r} {self.type} {self.target[:50]!r}"
        for name in _TIMES:
            object.__setattr__(self, name, canonical_time(getattr(self, name), f"{where}: {name}"))
        if not 0 <= self.confidence <= 1:
            raise GraphError(f"{where}: its confidence is {self.confidence}.", "Give 0 to 1.")

    @property
    def triple(self) -> tuple[str, str, str]:
        """Source, type and target: what all versions of a fact share."""
        return self.source, self.type, self.target

    @property
    def id(self) -> str:
        """The id of the version's edge."""
        times = (self.valid_at or "", self.invalid_at or "", self.created_at or "")
        return digest("fact", *self.triple, *times)

    def to_json(self) -> dict[str, Any]:
        """Return the fields with the id."""
        return {"id": self.id, **{name: getattr(self, name) for name in self.__slots__}}

    def to_edge(self) -> KnowledgeEdge:
        """Return the version as an edge."""
        optional = {name: value for name in ("evidence", "ended", "retracted") if (value := getattr(self, name))}
        return KnowledgeEdge(
            self.source,
            self.target,
            self.type,
            self.id,
            weight=self.weight,
            properties={"confidence": self.confidence, "scope": self.scope, **optional, **self.metadata},
            **{name: getattr(self, name) for name in _TIMES},
        )

    @classmethod
    def of(cls, edge: KnowledgeEdge) -> Self:
        """Return the version that an edge holds."""
        stored = edge.properties
        return cls(
            edge.source,
            edge.type,
            edge.target,
            weight=edge.weight,
            confidence=float(stored.get("confidence", 0.7)),  # type: ignore[arg-type]
            scope=str(stored.get("scope", "default")),
            evidence=tuple(map(str, stored.get("evidence", ()))),  # type: ignore[arg-type]
            ended=str(stored.get("ended", "")),
            retracted=str(stored.get("retracted", "")),
            metadata={name: value for name, value in stored.items() if name not in _OWN_OF_FACTS},
            **{name: getattr(edge, name) for name in _TIMES},
        )


@dataclass(frozen=True, slots=True)
class Memory:
    """A text that is remembered as it was said or written.

    ``key`` identifies it; ``time`` is when it was said, ISO 8601 in UTC; ``session`` and ``conversation`` say where,
    and ``turn`` its place in the session, from 1.
    """

    key: str
    text: str
    time: str
    speaker: str = ""
    session: str = ""
    conversation: str = ""
    turn: int = 0
    scope: str = "default"
    title: str = ""
    metadata: Mapping[str, Json] = field(default_factory=dict)

    @property
    def node_id(self) -> str:
        """The id of the node that stands for it."""
        return EntityKey(self.scope, MEMORY, self.key).id


class When(NamedTuple):
    """The time of a question: what held at ``as_of``, as it was known at ``known_at``; None means now."""

    as_of: str | None = None
    known_at: str | None = None


NOW = When()
