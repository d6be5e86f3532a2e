"""Projects and relations as the nodes and edges of a knowledge graph, and back.

A project's node has the fields that somebody stated and, apart from them, those that an index found: ``found_summary``
and ``found_aliases``. Other properties of nodes and edges belong to others and are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from pipeline.domains.routing.records import Project, Relation
from pipeline.domains.routing.schema import DOMAIN, PROJECT, REFERENCE, RelationType
from pipeline.errors import GraphError
from pipeline.knowledge import KnowledgeEdge, KnowledgeNode
from pipeline.knowledge.records import edge_id

PROJECT_TYPES = (PROJECT, REFERENCE)

_PREFIX = "domain:"
_UNDIRECTED = (RelationType.SIBLING,)


def domain_id(name: str) -> str:
    """Return the id of a domain's node; an id stays as it is."""
    return name if name.startswith(_PREFIX) else f"{_PREFIX}{name}"


def domain_name(node_id: str) -> str:
    """Return the name of the domain with this node."""
    return node_id.removeprefix(_PREFIX)


def domain_node(node_id: str) -> KnowledgeNode:
    """Return the node of a domain, by its id."""
    return KnowledgeNode(node_id, DOMAIN, properties={"name": domain_name(node_id)})


def relation_id(source: str, target: str, type: RelationType) -> str:  # noqa: A002 - the field's name
    """Return the id of the edge of a relation; the ends of a ``sibling`` are interchangeable."""
    end = domain_id(target) if type is RelationType.DOMAIN else target
    return edge_id(source, end, type.value, directed=type not in _UNDIRECTED)


def project_of(node: KnowledgeNode, domains: Iterable[str]) -> Project:
    """Return the project of a node; ``domains`` are the ids of its domains."""
    values: Mapping[str, Any] = node.properties
    return Project(
        id=node.id,
        kind=node.type,
        path=str(values.get("path", "")),
        domains=tuple(sorted(map(domain_name, domains))),
        summary=str(values.get("summary") or values.get("found_summary", "")),
        aliases=tuple(dict.fromkeys([*values.get("aliases", ()), *values.get("found_aliases", ())])),
        corpus=str(values.get("corpus") or node.id),
        last_indexed=str(values.get("last_indexed", "")),
        importance=float(values.get("importance", 1.0)),
    )


def project_node(project: Project, before: KnowledgeNode | None = None) -> KnowledgeNode:
    """Return the node of a project; ``before`` is that which it replaces. Domains are edges, not properties.

    What an index found stays apart: it isn't stated by being in ``project``. Raises GraphError if the id or the kind
    can't be.
    """
    if project.id.startswith(_PREFIX):
        raise GraphError(f"A project can't be called {project.id[:80]!r}.", f"Names in {_PREFIX} are those of domains.")
    if project.kind not in PROJECT_TYPES:
        raise GraphError(
            f"The project {project.id[:80]!r} is of the kind {project.kind!r}.",
            f"Use one of {', '.join(PROJECT_TYPES)}.",
        )
    kept: dict[str, Any] = dict(before.properties) if before else {}
    found = {name: kept[name] for name in ("found_summary", "found_aliases") if name in kept}
    stated: dict[str, Any] = {
        "path": project.path,
        "summary": "" if project.summary == found.get("found_summary") else project.summary,
        "aliases": [alias for alias in project.aliases if alias not in found.get("found_aliases", ())],
        "corpus": project.corpus or project.id,
        "last_indexed": project.last_indexed,
        "importance": float(project.importance),
    }
    others = {name: value for name, value in kept.items() if name not in stated}
    properties = {**others, **{name: value for name, value in stated.items() if value not in ("", [])}}
    if before is None:
        return KnowledgeNode(project.id, project.kind, properties=properties)
    return replace(before, type=project.kind, properties=properties)


def relation_of(edge: KnowledgeEdge) -> Relation:
    """Return the relation of an edge."""
    values = edge.properties
    return Relation(
        edge.source,
        edge.target,
        RelationType(edge.type),
        edge.weight,
        str(values.get("created", "")),
        str(values.get("evidence", "")),
    )


def relation_edge(relation: Relation, before: KnowledgeEdge | None = None) -> KnowledgeEdge:
    """Return the edge of a relation; ``before`` is that which it replaces, whose time of creation it keeps.

    Raises GraphError for a relation of a project to itself, and for a weight of 0.
    """
    kind = RelationType(relation.type)
    if relation.source == relation.target:
        raise GraphError(f"{relation.source[:80]!r} would be related to itself.", "Relate two projects.")
    if relation.weight == 0:
        raise GraphError(
            f"The relation of {relation.source[:80]!r} to {relation.target[:80]!r} has the weight 0.",
            "Give a weight above 0 and at most 1, or remove the relation.",
        )
    kept = dict(before.properties) if before else {}
    properties = {
        **{name: value for name, value in kept.items() if name != "evidence"},
        "created": kept.get("created") or relation.created or now(),
        **({"evidence": relation.evidence} if relation.evidence else {}),
    }
    if before:
        return replace(before, weight=relation.weight, properties=properties)
    return KnowledgeEdge(
        relation.source,
        domain_id(relation.target) if kind is RelationType.DOMAIN else relation.target,
        kind.value,
        weight=relation.weight,
        directed=kind not in _UNDIRECTED,
        properties=properties,
    )


def now() -> str:
    """Return the time in ISO 8601 as UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
