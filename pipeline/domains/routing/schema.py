"""The schema of the project graph: its node types and its edge types."""

from __future__ import annotations

from enum import StrEnum

from pipeline.errors import GraphError, did_you_mean
from pipeline.knowledge.schema import EdgeType, Schema

PROJECT, REFERENCE, DOMAIN = "project", "reference", "domain"


class RelationType(StrEnum):
    """The edge types of the project graph; ``SCHEMA`` describes them."""

    USES = "uses"
    LEARNS_FROM = "learns_from"
    TESTS_WITH = "tests_with"
    SIBLING = "sibling"
    DOMAIN = "domain"

    @classmethod
    def parse(cls, text: str) -> RelationType:
        """Return the type of that name, in any case: ``TESTS_WITH``, ``tests-with``; raises GraphError."""
        name = text.strip().lower().replace("-", "_").replace(" ", "_")
        try:
            return cls(name)
        except ValueError:
            known = ", ".join(kind.upper() for kind in cls)
            raise GraphError(
                f"There is no type of relation {text!r}.", did_you_mean(name, map(str, cls), f"Use one of {known}.")
            ) from None


_ANY = (PROJECT, REFERENCE)

SCHEMA = Schema(
    nodes={
        PROJECT: "a project of one's own; a corpus holds its files",
        REFERENCE: "a project of others that one reads; a corpus holds its files",
        DOMAIN: "a field or a technology that projects are about",
    },
    edges={
        RelationType.USES: EdgeType(_ANY, _ANY, "the first depends on the second, or calls it"),
        RelationType.LEARNS_FROM: EdgeType(_ANY, _ANY, "the first takes patterns from the second"),
        RelationType.TESTS_WITH: EdgeType(_ANY, _ANY, "the first tests or measures itself on the second"),
        RelationType.SIBLING: EdgeType(_ANY, _ANY, "both are about the same domains"),
        RelationType.DOMAIN: EdgeType(_ANY, DOMAIN, "the project is about the domain"),
    },
)
