"""Records of routing: projects and the relations between them."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.domains.routing.schema import PROJECT, RelationType


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
    """A relation of a project, ``source``, to another one or a domain: a question from the first may go to the second.

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
    """A project that a traversal reached after ``hops`` relations; ``relations`` lead to it from the start, in order.

    A relation that is read against its direction, as ``sibling`` may be, is turned around.
    """

    project: Project
    hops: int
    relations: tuple[Relation, ...]
