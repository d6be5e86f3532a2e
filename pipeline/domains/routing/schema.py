"""The schema of the project graph, and its records: projects, and the relations between them."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from pipeline.errors import GraphError, did_you_mean
from pipeline.ids import digest
from pipeline.knowledge.schema import EdgeType, Schema

KIND = "projects"
"""The kind of the graphs that a registry is synced to."""

PROJECT, REFERENCE, DOMAIN = "project", "reference", "domain"
PROJECT_TYPES = (PROJECT, REFERENCE)


class RelationType(StrEnum):
    """The edge types of the project graph; ``SCHEMA`` describes them."""

    USES = "uses"
    LEARNS_FROM = "learns_from"
    TESTS_WITH = "tests_with"
    SIBLING = "sibling"
    DOMAIN = "domain"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the type of that name, in any case: ``TESTS_WITH``, ``tests-with``; raises GraphError."""
        name = text.strip().lower().replace("-", "_").replace(" ", "_")
        try:
            return cls(name)
        except ValueError:
            known = ", ".join(kind.upper() for kind in cls)
            raise GraphError(
                f"There is no type of relation {text!r}.", did_you_mean(name, map(str, cls), f"Use one of {known}.")
            ) from None


def unknown_project(name: str, known: Iterable[str], fix: str = "Add it to the registry.") -> GraphError:
    """Return the error that no project has an id, with the closest of those that are ``known``."""
    return GraphError(f"There is no project {name[:80]!r}.", did_you_mean(name, known, fix))


SCHEMA = Schema(
    nodes={
        PROJECT: "a project of one's own; a corpus holds its files",
        REFERENCE: "a project of others that one reads; a corpus holds its files",
        DOMAIN: "a field or a technology that projects are about",
    },
    edges={
        RelationType.USES: EdgeType(PROJECT_TYPES, PROJECT_TYPES, "the first depends on the second, or calls it"),
        RelationType.LEARNS_FROM: EdgeType(PROJECT_TYPES, PROJECT_TYPES, "the first takes patterns from the second"),
        RelationType.TESTS_WITH: EdgeType(
            PROJECT_TYPES, PROJECT_TYPES, "the first tests or measures itself on the second"
        ),
        RelationType.SIBLING: EdgeType(
            PROJECT_TYPES, PROJECT_TYPES, "both are about the same domains, or are worked on together"
        ),
        RelationType.DOMAIN: EdgeType(PROJECT_TYPES, DOMAIN, "the project is about the domain"),
    },
)


@dataclass(frozen=True, slots=True)
class Project:
    """A project whose files a corpus holds.

    ``kind`` is ``project`` for one's own and ``reference`` for those of others. ``aliases`` are other names that
    questions use for it, such as the package that it publishes. ``last_indexed`` is a time in ISO 8601, empty before
    the first index; ``importance`` is the weight of the node.
    """

    id: str
    kind: str = PROJECT
    path: str = ""
    domains: tuple[str, ...] = ()
    summary: str = ""
    aliases: tuple[str, ...] = ()
    corpus: str = ""
    last_indexed: str = ""
    importance: float = 1.0


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation of the project ``source`` to another or to a domain: questions of the first may go to the second.

    ``weight`` is above 0 and at most 1 unless use has strengthened it; ``created`` is a time in ISO 8601.
    """

    source: str
    target: str
    type: RelationType
    weight: float = 1.0
    created: str = ""
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """A project that a traversal reached by the path ``relations``, of ``hops`` edges, from the start.

    A ``sibling`` that is followed against its direction is turned around.
    """

    project: Project
    hops: int
    relations: tuple[Relation, ...]


def relation_type(name: str) -> RelationType:
    """Return the type of that name, in any case; raises GraphError if it is unknown or DOMAIN."""
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
    def make(cls, source: str, target: str, type: RelationType) -> Self:  # noqa: A002
        """Return the key of a relation; the ends of a SIBLING, which has no direction, are sorted."""
        if type is RelationType.SIBLING and target < source:
            source, target = target, source
        return cls(source, target, type)

    @classmethod
    def of(cls, relation: Relation) -> Self:
        """Return the key of a relation."""
        return cls.make(relation.source, relation.target, relation.type)

    @classmethod
    def parse(cls, source: str, type: str, target: str) -> Self:  # noqa: A002
        """Return the key of a relation whose type is written in any case; raises GraphError on an unknown type."""
        return cls.make(source, target, relation_type(type))

    @property
    def id(self) -> str:
        """Short digest of the key, the same in every run."""
        return digest(self.source, self.type, self.target)[:8]  # to type; some hundred proposals don't collide

    def __str__(self) -> str:
        return f"{self.source} {self.type.upper()} {self.target}"
