"""The graph of projects on a knowledge graph: nodes are projects and domains, edges the relations between them.

A project's node keeps what somebody stated apart from what an index found: ``found_summary`` and ``found_aliases``.
Unknown properties of nodes and edges are kept.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

from pipeline.api import HopRank
from pipeline.domains.routing.schema import DOMAIN, KIND, PROJECT_TYPES, Project, Relation, RelationType, Step
from pipeline.errors import GraphError, did_you_mean
from pipeline.grouping import grouped
from pipeline.knowledge import KnowledgeEdge, KnowledgeGraph, KnowledgeNode
from pipeline.knowledge.clock import now
from pipeline.knowledge.records import edge_id

DECLARED = "declared"
"""The property of an edge that a registry declares: the weight and the evidence that it states."""

_PREFIX = "domain:"


class ProjectGraph:
    """A graph of projects.

    A relation leads from the project that asks to one that may answer; only ``sibling`` is read both ways. The domains
    of a project are relations of the type ``domain``. Lists are read whole, since there are few projects.
    """

    def __init__(self, graph: KnowledgeGraph) -> None:
        self.graph = graph

    @classmethod
    def open(cls, hoprank: HopRank, name: str = "projects", *, create: bool = True) -> Self:
        """Open the graph of that name; create it if it is missing, or raise GraphError with ``create=False``."""
        return cls(hoprank.graph(name, create=create, kind=KIND if create else ""))

    def add_node(self, project: Project) -> None:
        """Add a project with its domains; raises GraphError if it exists already."""
        self.graph.add_node(project_node(project))
        self._set_domains(project)

    def get_node(self, project: str) -> Project | None:
        """Return the project with this id, or None."""
        node = self.graph.get_node(project)
        if node is None or node.type not in PROJECT_TYPES:
            return None
        return project_of(node, [info.id for info in self.graph.get_neighbor_info(project, RelationType.DOMAIN.value)])

    def list_nodes(self) -> list[Project]:
        """Return the projects, by id."""
        edges = self.graph.get_edges_by_type(RelationType.DOMAIN.value)
        domains = grouped((edge.source, edge.target) for edge in edges)
        nodes = (node for node in self.graph.nodes() if node.type in PROJECT_TYPES)
        return sorted((project_of(node, domains[node.id]) for node in nodes), key=lambda project: project.id)

    def update_node(self, project: Project) -> None:
        """Replace the fields and the domains of a project; its relations stay. Raises GraphError if it is unknown."""
        before = self.graph.get_node(project.id)
        if before is None or before.type not in PROJECT_TYPES:
            raise self.unknown(project.id)
        self.graph.add_nodes([project_node(project, before)], replace=True)
        self._set_domains(project)

    def mark_indexed(self, project: str, summary: str = "", aliases: Sequence[str] = ()) -> None:
        """Note that a project's corpus is up to date, and what its files say of it; raises GraphError."""
        found: dict[str, Any] = {"found_summary": summary, "found_aliases": list(aliases)}
        filled = {name: value for name, value in found.items() if value}
        self.graph.update_node(
            project,
            remove_properties=sorted(found.keys() - filled.keys()),
            properties={"last_indexed": now(whole_seconds=True), **filled},
        )

    def add_edge(self, relation: Relation) -> None:
        """Add one relation; see :meth:`add_edges`."""
        self.add_edges([relation])

    def add_edges(self, relations: Iterable[Relation]) -> None:
        """Add relations, all or none; those that exist get the new weight and evidence, and keep the rest.

        They no longer belong to the registry, if it declared them: a sync leaves them as they are. The target of a
        ``domain`` is the domain's name or id; its node is made if it is missing. Raises GraphError if a project is
        unknown, or related to itself.
        """
        edges = [relation_edge(one, self._edge(one.source, one.target, one.type)) for one in relations]
        domains = {edge.target for edge in edges if edge.type == RelationType.DOMAIN}
        self._require(*dict.fromkeys(end for edge in edges for end in (edge.source, edge.target) if end not in domains))
        stored = {node.id for node in self.graph.get_nodes(sorted(domains))}
        if missing := sorted(domains - stored):
            self.graph.add_nodes([domain_node(node_id) for node_id in missing])
        self.graph.add_edges(edges, replace=True)

    def remove_edge(self, source: str, target: str, type: RelationType) -> None:  # noqa: A002 - the field's name
        """Remove a relation; raises GraphError naming the project or the relation that is missing."""
        if self._edge(source, target, type) is None:
            self._require(source, *([target] if type is not RelationType.DOMAIN else []))
            raise GraphError(
                f"There is no relation {source} {type.upper()} {target}.",
                f"`hoprank graph edges {self.graph.name}` lists the relations.",
            )
        self.graph.remove_edge(relation_id(source, target, type))
        if type is RelationType.DOMAIN:
            self._remove_unused_domains()

    def get_edge(self, source: str, target: str, type: RelationType) -> Relation | None:  # noqa: A002
        """Return a relation, or None."""
        edge = self._edge(source, target, type)
        return relation_of(edge) if edge else None

    def get_edges(self) -> list[Relation]:
        """Return the relations, by source, type and target."""
        known = set(RelationType)
        relations = (relation_of(edge) for edge in self.graph.edges() if edge.type in known)
        return sorted(relations, key=lambda one: (one.source, one.type, one.target))

    def get_related(self, project: str, types: Sequence[RelationType] = ()) -> list[tuple[Project, Relation]]:
        """Return the relations of a project to others, of all ``types`` by default: the strongest first, then by id.

        Raises GraphError if the project is unknown.
        """
        projects, leaving = self._read(project, types)
        return [(projects[relation.target], relation) for relation in leaving[project]]

    def traverse(self, start: str, depth: int = 2, types: Sequence[RelationType] = ()) -> list[Step]:
        """Return the projects within ``depth`` relations of a project, each once: nearest first, then strongest.

        The start itself is left out. A project is reached over the fewest relations; of several such ways, over that
        with the greatest product of weights. Raises GraphError if the project is unknown or ``depth`` is below 0.
        """
        if depth < 0:
            raise GraphError(f"depth is {depth}.", "Give 0 or more.")
        projects, leaving = self._read(start, types)
        nearest = {start: Step(projects[start], 0, ())}
        level = list(nearest.values())
        for hops in range(1, depth + 1):
            further = [
                Step(projects[relation.target], hops, (*step.relations, relation))
                for step in level
                for relation in leaving[step.project.id]
                if relation.target not in nearest
            ]
            level = [step for step in sorted(further, key=_order) if nearest.setdefault(step.project.id, step) is step]
        return list(nearest.values())[1:]

    def _read(
        self, start: str, types: Sequence[RelationType]
    ) -> tuple[dict[str, Project], Mapping[str, list[Relation]]]:
        """Return the projects by id, ``start`` among them, and the relations that leave each, strongest first."""
        projects = {project.id: project for project in self.list_nodes()}
        if start not in projects:
            raise self.unknown(start)
        relations = self.get_edges()
        siblings = (one for one in relations if one.type is RelationType.SIBLING)
        relations += [replace(one, source=one.target, target=one.source) for one in siblings]
        followed = (one for one in relations if one.target in projects and (not types or one.type in types))
        strongest_first = sorted(followed, key=lambda one: (-one.weight, one.target, one.type))
        return projects, grouped((one.source, one) for one in strongest_first)

    def _edge(self, source: str, target: str, type: RelationType) -> KnowledgeEdge | None:  # noqa: A002
        return self.graph.get_edge(relation_id(source, target, type))

    def _set_domains(self, project: Project) -> None:
        kind, wanted = RelationType.DOMAIN, {domain_id(name) for name in project.domains}
        before = {info.id: info.edge_id for info in self.graph.get_neighbor_info(project.id, kind.value)}
        if removed := [edge for node_id, edge in before.items() if node_id not in wanted]:
            self.graph.remove_edges(removed)
        self.add_edges(Relation(project.id, node_id, kind) for node_id in sorted(wanted - before.keys()))
        self._remove_unused_domains()

    def _remove_unused_domains(self) -> None:
        used = {edge.target for edge in self.graph.get_edges_by_type(RelationType.DOMAIN.value)}
        if unused := [node.id for node in self.graph.find_nodes_by_type(DOMAIN) if node.id not in used]:
            self.graph.remove_nodes(unused)

    def _require(self, *projects: str) -> None:
        known = {node.id for node in self.graph.get_nodes(projects) if node.type in PROJECT_TYPES}
        for project in projects:
            if project not in known:
                raise self.unknown(project)

    def unknown(self, project: str) -> GraphError:
        """Return the error that there is no such project, with the closest id."""
        known = [one.id for one in self.list_nodes()]
        return GraphError(
            f"The graph {self.graph.name!r} has no project {project[:80]!r}.",
            did_you_mean(project, known, "Write it into the registry, then: hoprank route sync REGISTRY."),
        )


def _order(step: Step) -> tuple[float, str, tuple[str, ...]]:
    strength = math.prod(relation.weight for relation in step.relations)
    return -strength, step.project.id, tuple(f"{one.source} {one.type}" for one in step.relations)


def domain_id(name: str) -> str:
    """Return the id of a domain's node; an id is returned unchanged."""
    return name if name.startswith(_PREFIX) else f"{_PREFIX}{name}"


def domain_name(node_id: str) -> str:
    """Return the name of a domain from the id of its node."""
    return node_id.removeprefix(_PREFIX)


def domain_node(node_id: str) -> KnowledgeNode:
    """Return the node of a domain with this id."""
    return KnowledgeNode(node_id, DOMAIN, properties={"name": domain_name(node_id)})


def relation_id(source: str, target: str, type: RelationType) -> str:  # noqa: A002 - the field's name
    """Return the id of the edge of a relation; the ends of a ``sibling`` are interchangeable."""
    end = domain_id(target) if type is RelationType.DOMAIN else target
    return edge_id(source, end, type.value, directed=type is not RelationType.SIBLING)


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
    """Return the node of a project, which replaces ``before``. Domains are edges, not properties.

    Raises GraphError if the id or the kind is invalid.
    """
    if project.id.startswith(_PREFIX):
        raise GraphError(f"A project can't be called {project.id[:80]!r}.", f"Names in {_PREFIX} are those of domains.")
    if project.kind not in PROJECT_TYPES:
        raise GraphError(
            f"The project {project.id[:80]!r} is of the kind {project.kind!r}.",
            f"Use one of {', '.join(PROJECT_TYPES)}.",
        )
    kept: dict[str, Any] = dict(before.properties) if before else {}
    stated: dict[str, Any] = {
        "path": project.path,
        "summary": "" if project.summary == kept.get("found_summary") else project.summary,
        "aliases": [alias for alias in project.aliases if alias not in kept.get("found_aliases", ())],
        "corpus": project.corpus or project.id,
        "last_indexed": project.last_indexed,
        "importance": float(project.importance),
    }
    properties = {name: value for name, value in (kept | stated).items() if name not in stated or value not in ("", [])}
    if before is None:
        return KnowledgeNode(project.id, project.kind, properties=properties)
    return replace(before, type=project.kind, properties=properties)


def relation_of(edge: KnowledgeEdge) -> Relation:
    """Return the relation of an edge."""
    values = {name: str(edge.properties.get(name, "")) for name in ("created", "evidence")}
    return Relation(edge.source, edge.target, RelationType(edge.type), edge.weight, **values)


def relation_edge(relation: Relation, before: KnowledgeEdge | None = None) -> KnowledgeEdge:
    """Return the edge of a relation, which replaces ``before`` and keeps its time of creation, but not ``DECLARED``.

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
    stored = before.properties.items() if before else ()
    kept = {name: value for name, value in stored if name not in ("evidence", DECLARED)}
    kept["created"] = kept.get("created") or relation.created or now(whole_seconds=True)
    if relation.evidence:
        kept["evidence"] = relation.evidence
    if before:
        return replace(before, weight=relation.weight, properties=kept)
    return KnowledgeEdge(
        relation.source,
        domain_id(relation.target) if kind is RelationType.DOMAIN else relation.target,
        kind.value,
        weight=relation.weight,
        directed=kind is not RelationType.SIBLING,
        properties=kept,
    )
