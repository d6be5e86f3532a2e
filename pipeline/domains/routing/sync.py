"""Sync a registry: registry -> plan -> corpora renamed -> nodes and edges -> corpora dropped.

Afterwards the projects of the graph are those of the registry. Edges that it declares are marked (``DECLARED``); others
stay as long as both projects do. A declared edge keeps a learned weight until the registry declares another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from pipeline.api import HopRank
from pipeline.db.catalogue import find_graph, list_corpora
from pipeline.domains.routing.project_graph import (
    DECLARED,
    PROJECT_TYPES,
    domain_node,
    project_node,
    project_of,
    relation_edge,
    relation_id,
)
from pipeline.domains.routing.registry import Entry, Registry
from pipeline.domains.routing.schema import DOMAIN, SCHEMA, Relation, RelationType
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
    after = before.renamed(registry.entries).with_registry(registry)
    plan = _plan(before, after, registry, {corpus.name for corpus in list_corpora(hoprank.client)})
    if dry_run:
        return plan
    announce(plan)
    for old, new in plan.corpora_renamed:
        maintain.rename(hoprank.client, old, new)
    if after != before:
        # Without a date, the writer dates the nodes that change.
        nodes = (replace(node, updated_at=None) for node in after.nodes.values())
        hoprank.graph(name).sync(nodes, after.edges.values())
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
    def of(cls, graph: KnowledgeGraph) -> _Contents:
        nodes = {node.id: node for node in graph.nodes()}
        # An edge that another process adds between the two reads may lead to a node that it adds.
        edges = {edge.id: edge for edge in graph.edges() if edge.source in nodes and edge.target in nodes}
        return cls(nodes, edges)

    def project_ids(self) -> set[str]:
        return {node.id for node in self.nodes.values() if node.type in PROJECT_TYPES}

    def corpora(self) -> dict[str, str]:
        return {id_: project_of(self.nodes[id_], ()).corpus for id_ in self.project_ids()}

    def renames(self, entries: Iterable[Entry]) -> dict[str, str]:
        projects = self.project_ids()
        return {entry.was: entry.project.id for entry in entries if entry.was in projects}

    def renamed(self, entries: Iterable[Entry]) -> _Contents:
        """Return the contents with new ids; a node or edge that exists under its new id is kept."""
        ids = self.renames(entries)
        nodes = {node.id: node for node in self.nodes.values() if node.id not in ids}
        for old, new in ids.items():
            nodes.setdefault(new, replace(self.nodes[old], id=new))
        edges = {edge.id: edge for edge in self.edges.values() if edge.source not in ids and edge.target not in ids}
        for edge in self.edges.values():
            source, target = ids.get(edge.source, edge.source), ids.get(edge.target, edge.target)
            if edge.id not in edges and source != target:
                moved = replace(edge, source=source, target=target, id="")
                edges.setdefault(moved.id, moved)
        return _Contents(nodes, edges)

    def with_registry(self, registry: Registry) -> _Contents:
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
        return _Contents(nodes, edges)

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


def _plan(before: _Contents, after: _Contents, registry: Registry, corpora: set[str]) -> RegistryPlan:
    renames = before.renames(registry.entries)
    old, new = before.project_ids(), after.project_ids()
    removed = old - new - renames.keys()
    added = new - old - set(renames.values())
    names_before, names_after = before.corpora(), after.corpora()
    moved = [(names_before[was], names_after[name]) for was, name in sorted(renames.items())]
    edges = before.renamed(registry.entries).edges
    return RegistryPlan(
        added=tuple(sorted(added)),
        changed=tuple(sorted(id_ for id_ in old & new if after.nodes[id_] != before.nodes[id_])),
        renamed=tuple(sorted(renames.items())),
        removed=tuple(sorted(removed)),
        relations_added=_written(after.edges[id_] for id_ in after.edges.keys() - edges.keys()),
        relations_changed=_written(
            after.edges[id_] for id_ in after.edges.keys() & edges.keys() if after.edges[id_] != edges[id_]
        ),
        relations_removed=_written(edges[id_] for id_ in edges.keys() - after.edges.keys()),
        corpora_renamed=tuple((one, other) for one, other in moved if one != other and one in corpora),
        corpora_left=tuple(sorted(({names_before[id_] for id_ in removed} - set(names_after.values())) & corpora)),
        missing_paths=tuple(
            f"{entry.project.id}: {entry.project.path}"
            for entry in registry.entries
            if entry.project.path and not Path(entry.project.path).exists()
        ),
    )


def _written(edges: Iterable[KnowledgeEdge]) -> tuple[str, ...]:
    return tuple(sorted(f"{edge.source} {edge.type.upper()} {edge.target}" for edge in edges))
