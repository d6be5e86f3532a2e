"""Sync a registry: registry -> plan -> corpora renamed -> nodes and edges -> corpora dropped.

Afterwards the projects of the graph are those of the registry. Edges that it declares are marked (``DECLARED``); others
stay as long as both projects do. A declared edge keeps a learned weight until the registry declares another.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from pipeline.api import HopRank
from pipeline.db.catalogue import find_graph, list_corpora
from pipeline.domains.routing.project_graph import (
    DECLARED,
    domain_node,
    project_node,
    project_of,
    relation_edge,
    relation_id,
)
from pipeline.domains.routing.registry import Entry, Registry
from pipeline.domains.routing.schema import DOMAIN, KIND, PROJECT_TYPES, SCHEMA, Relation, RelationType
from pipeline.flows import maintain
from pipeline.knowledge import KnowledgeEdge, KnowledgeGraph, KnowledgeNode
from pipeline.knowledge.records import Json

Announce = Callable[["RegistryPlan"], None]
"""A function that is called with the plan before anything is written; it may raise to stop the sync."""


@dataclass(frozen=True, slots=True)
class RegistryPlan:
    """The changes of a sync, planned or made; false if there is none.

    Projects are ids, relations ``A TYPE B``, renames (from, to), all in order. ``corpora_left`` are the corpora of
    removed projects, which stay unless dropped; ``missing_paths`` are projects whose path doesn't exist.
    """

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    removed: tuple[str, ...] = ()
    relations_added: tuple[str, ...] = ()
    relations_changed: tuple[str, ...] = ()
    relations_removed: tuple[str, ...] = ()
    corpora_renamed: tuple[tuple[str, str], ...] = ()
    corpora_left: tuple[str, ...] = ()
    missing_paths: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return any(getattr(self, name) for name in self.__slots__ if name not in ("corpora_left", "missing_paths"))


def sync(
    hoprank: HopRank,
    name: str,
    registry: Registry,
    *,
    dry_run: bool = False,
    drop: bool = False,
    announce: Announce = lambda _: None,
) -> RegistryPlan:
    """Make the graph ``name`` hold the projects of a registry and the relations that it declares; return the changes.

    A missing graph is created. It is written in one transaction, and not at all if nothing changes or with ``dry_run``.
    ``drop`` also drops the corpora of removed projects. Raises CorpusError if the corpus of a renamed project can't be
    renamed, Busy if another process writes to a corpus.
    """
    before = _Contents.of(hoprank.graph(name, create=False)) if find_graph(hoprank.client, name) else _Contents({}, {})
    plan, after = _planned(before, registry, {corpus.name for corpus in list_corpora(hoprank.client)})
    if dry_run:
        return plan
    announce(plan)
    for old, new in plan.corpora_renamed:
        maintain.rename(hoprank.client, old, new)
    if after != before:
        # Without a date, the writer dates the nodes that change.
        nodes = (replace(node, updated_at=None) for node in after.nodes.values())
        hoprank.graph(name, kind=KIND).sync(nodes, after.edges.values(), schema=SCHEMA)
    if drop:
        for corpus in plan.corpora_left:
            maintain.drop(hoprank.client, corpus)
    return plan


@dataclass(frozen=True, slots=True)
class _Contents:
    """The nodes and edges of a graph, by id."""

    nodes: Mapping[str, KnowledgeNode]
    edges: Mapping[str, KnowledgeEdge]

    @classmethod
    def of(cls, graph: KnowledgeGraph) -> Self:
        nodes = {node.id: node for node in graph.nodes()}
        # An edge that another process adds between the two reads may lead to a node that it adds.
        edges = {edge.id: edge for edge in graph.edges() if edge.source in nodes and edge.target in nodes}
        return cls(nodes, edges)

    def corpora(self) -> dict[str, str]:
        """Return the name of each project's corpus, by the project's id."""
        return {id_: project_of(node, ()).corpus for id_, node in self.nodes.items() if node.type in PROJECT_TYPES}

    def renamed(self, ids: Mapping[str, str]) -> Self:
        """Return the contents with new ids; a node or edge that exists under its new id is kept."""
        nodes = {node.id: node for node in self.nodes.values() if node.id not in ids}
        for old, new in ids.items():
            nodes.setdefault(new, replace(self.nodes[old], id=new))
        edges = {edge.id: edge for edge in self.edges.values() if edge.source not in ids and edge.target not in ids}
        for edge in self.edges.values():
            source, target = ids.get(edge.source, edge.source), ids.get(edge.target, edge.target)
            if edge.id not in edges and source != target:
                moved = replace(edge, source=source, target=target, id="")
                edges.setdefault(moved.id, moved)
        return replace(self, nodes=nodes, edges=edges)

    def with_registry(self, registry: Registry) -> Self:
        """Return the contents with the projects and relations of a registry, and no edges of other projects."""
        stated = {entry.project.id: self._node(entry) for entry in registry.entries}
        others = {id_: node for id_, node in self.nodes.items() if node.type not in (*PROJECT_TYPES, DOMAIN)}
        declared = {relation_id(one.source, one.target, one.type): one for one in registry.relations}
        edges = {
            id_: edge
            for id_, edge in self.edges.items()
            if (DECLARED not in edge.properties or id_ in declared)
            and edge.source in stated | others
            and (edge.target in stated | others or edge.type == RelationType.DOMAIN)
        }
        edges |= {id_: _declared(relation, edges.get(id_)) for id_, relation in declared.items()}
        ends = dict.fromkeys(edge.target for edge in edges.values() if edge.type == RelationType.DOMAIN)
        domains = {id_: self.nodes.get(id_) or domain_node(id_) for id_ in ends}
        nodes = {**others, **stated, **domains}
        SCHEMA.check((*stated.values(), *domains.values()), (edges[id_] for id_ in declared))
        return replace(self, nodes=nodes, edges=edges)

    def _node(self, entry: Entry) -> KnowledgeNode:
        before = self.nodes.get(entry.project.id)
        if before is None:
            return project_node(entry.project)
        known = project_of(before, ())
        project = replace(
            entry.project,
            importance=entry.project.importance if "importance" in entry.stated else known.importance,
            # The corpus of a renamed project moves with it; another one is not indexed yet.
            last_indexed=known.last_indexed if entry.was or known.corpus == entry.project.corpus else "",
        )
        return project_node(project, before)


def _declared(relation: Relation, before: KnowledgeEdge | None) -> KnowledgeEdge:
    """Return the edge of a declared relation; one made or changed by others since is returned as it is."""
    mark: dict[str, Json] = {"weight": relation.weight, "evidence": relation.evidence}
    if before and before.properties.get(DECLARED, mark) == mark:
        return before
    edge = relation_edge(relation, before)
    return replace(edge, properties={**edge.properties, DECLARED: mark})


def _planned(before: _Contents, registry: Registry, corpora: set[str]) -> tuple[RegistryPlan, _Contents]:
    """Return the changes that make the contents those of a registry, and the contents afterwards."""
    old = before.corpora()
    renames = {one.was: one.project.id for one in registry.entries if one.was in old}
    moved = before.renamed(renames)
    after = moved.with_registry(registry)
    new = after.corpora()
    removed = old.keys() - new.keys() - renames.keys()
    kept = [id_ for id_ in after.edges if id_ in moved.edges]
    moves = [(old[was], new[name]) for was, name in sorted(renames.items())]
    plan = RegistryPlan(
        added=tuple(sorted(new.keys() - old.keys() - set(renames.values()))),
        changed=tuple(sorted(id_ for id_ in old.keys() & new.keys() if after.nodes[id_] != before.nodes[id_])),
        renamed=tuple(sorted(renames.items())),
        removed=tuple(sorted(removed)),
        relations_added=_written(after, after.edges.keys() - moved.edges.keys()),
        relations_changed=_written(after, (id_ for id_ in kept if after.edges[id_] != moved.edges[id_])),
        relations_removed=_written(moved, moved.edges.keys() - after.edges.keys()),
        corpora_renamed=tuple((one, other) for one, other in moves if one != other and one in corpora),
        corpora_left=tuple(sorted(({old[id_] for id_ in removed} - set(new.values())) & corpora)),
        missing_paths=tuple(
            f"{one.id}: {one.path}"
            for one in (entry.project for entry in registry.entries)
            if one.path and not Path(one.path).exists()
        ),
    )
    return plan, after


def _written(contents: _Contents, ids: Iterable[str]) -> tuple[str, ...]:
    edges = (contents.edges[id_] for id_ in ids)
    return tuple(sorted(f"{edge.source} {edge.type.upper()} {edge.target}" for edge in edges))
