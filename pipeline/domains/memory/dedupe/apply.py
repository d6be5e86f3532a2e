"""Apply plans of merges to a memory's graph, and undo merges: one transaction each."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import uuid4

from pipeline.domains.memory.dedupe import journal as journals
from pipeline.domains.memory.dedupe.journal import Merge, merges
from pipeline.domains.memory.dedupe.merge import Rewrite, Unmerged, merge, unmerge
from pipeline.domains.memory.dedupe.plan import Group, Plan, entity_digest
from pipeline.domains.memory.records import Entity
from pipeline.errors import GraphError
from pipeline.knowledge import KnowledgeEdge, KnowledgeGraph, KnowledgeNode
from pipeline.knowledge.clock import now
from pipeline.knowledge.edit import EdgesRead, Edits

_MAX_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Undone:
    """A merge that was undone: the entities that are there again, and notes on what isn't as it was before."""

    merge: Merge
    restored: tuple[str, ...]
    notes: tuple[str, ...]


def apply(
    graph: KnowledgeGraph, journal: KnowledgeGraph, plan: Plan, only: Collection[str] | None = None
) -> Merge | None:
    """Merge the groups of a plan in one transaction, and return the merge; None if there is nothing to merge.

    ``only`` are ids of entities: then just the groups that they are in are merged. The survivors' embeddings stay,
    though their descriptions may be the losers'. The journal gets what is needed to undo it before the graph changes.
    Raises GraphError naming entities that have changed or gone since the plan was made, and then merges nothing.
    """
    groups = _chosen(graph, plan, only)
    if not groups:
        return None
    digests = dict(plan.entities)
    written: list[Merge] = []

    def decide(nodes: Mapping[str, KnowledgeNode], edges: Sequence[KnowledgeEdge]) -> tuple[Edits, Merge]:
        _refuse_stale(groups, digests, nodes)
        rewrite = merge(groups, nodes, edges, now())
        _withdraw(journal, written)
        entry = _merge_of(plan, groups, rewrite)
        journals.write(journal, entry, rewrite)
        written.append(entry)
        return rewrite.edits(), entry

    try:
        merged = graph.edit([id_ for group in groups for id_ in group.members], decide, reads=EdgesRead.TOUCHING)
    except GraphError:
        _withdraw(journal, written)
        raise
    journals.mark(journal, merged.id, complete=True)
    return replace(merged, complete=True)


def undo(graph: KnowledgeGraph, journal: KnowledgeGraph, merge_id: str | None = None) -> Undone:
    """Undo a merge, the last one by default, in one transaction; it leaves the journal.

    The entities and their edges are as they were, but for what has changed since, which the notes name: new facts
    and mentions stay with the survivor, and what was removed since isn't restored. Raises GraphError if there is no
    such merge, or if a later one changed the same entities or edges.
    """
    undone = _wanted(journal, merge_id)
    rewrite = journals.rewrite_of(journal, undone.id)

    def decide(nodes: Mapping[str, KnowledgeNode], edges: Sequence[KnowledgeEdge]) -> tuple[Edits, Unmerged]:
        losers = rewrite.members - rewrite.survivors
        if not undone.complete and losers <= nodes.keys():
            note = "all of it was as before already: its merge, or a former undo, was interrupted"
            return Edits(), Unmerged(Edits(), (note,))
        done = unmerge(rewrite, nodes, edges)
        return done.edits, done

    # Marked first: if this is interrupted after the graph is restored, a second undo finds nothing left to do.
    journals.mark(journal, undone.id, complete=False)
    done = graph.edit(sorted(rewrite.members), decide, reads=EdgesRead.TOUCHING)
    journals.remove(journal, undone.id)
    back = {node.id for node in done.edits.nodes} - rewrite.survivors
    return Undone(undone, tuple(sorted(back)), done.notes)


def _chosen(graph: KnowledgeGraph, plan: Plan, only: Collection[str] | None) -> tuple[Group, ...]:
    if plan.graph != graph.name:
        raise GraphError(f"The plan is for {plan.graph!r}, not for {graph.name!r}.", "Make a plan for this memory.")
    if only is None:
        return plan.groups
    members = {id_ for group in plan.groups for id_ in group.members}
    if unknown := sorted(set(only) - members):
        raise GraphError(f"The plan merges no {_listed(unknown)}.", "Give ids of entities that are in its groups.")
    return tuple(group for group in plan.groups if not set(only).isdisjoint(group.members))


def _refuse_stale(groups: Sequence[Group], digests: Mapping[str, str], nodes: Mapping[str, KnowledgeNode]) -> None:
    ids = [id_ for group in groups for id_ in group.members]
    gone = [id_ for id_ in ids if id_ not in nodes]
    changed = [id_ for id_ in ids if id_ in nodes and entity_digest(Entity.of(nodes[id_])) != digests.get(id_)]
    if gone or changed:
        stale = [f"{_listed(ids)} {what}" for what, ids in (("gone", gone), ("changed", changed)) if ids]
        raise GraphError(f"The plan is stale: {'; '.join(stale)} since it was made.", "Make it anew.")


def _merge_of(plan: Plan, groups: tuple[Group, ...], rewrite: Rewrite) -> Merge:
    time = rewrite.after_nodes[0].updated_at or now()
    moved = len(rewrite.after_edges)
    return Merge(uuid4().hex[:12], time, plan.id, groups, moved, rewrite.folded, complete=False)


def _withdraw(journal: KnowledgeGraph, written: list[Merge]) -> None:
    """Remove the entries of attempts whose transaction was rolled back."""
    while written:
        journals.remove(journal, written.pop().id)


def _wanted(journal: KnowledgeGraph, merge_id: str | None) -> Merge:
    """Return the merge to undo; raise GraphError if a later one stands in its way."""
    undoable = merges(journal)
    if not undoable:
        raise GraphError(f"{journal.name!r} holds no merge to undo.", "Merge entities with dedupe apply first.")
    places = {merge.id: place for place, merge in enumerate(undoable)}
    if merge_id is not None and merge_id not in places:
        raise GraphError(f"There is no merge {merge_id[:50]!r}.", f"There are {_listed(list(places))}.")
    place = places[merge_id] if merge_id is not None else 0
    rewrite = journals.rewrite_of(journal, undoable[place].id) if place else Rewrite()
    for later in undoable[:place]:
        other = journals.rewrite_of(journal, later.id)
        if common := (rewrite.touched & other.members) | (rewrite.members & other.touched):
            raise GraphError(
                f"The merge {later.id} came later and changed {_listed(sorted(common))}, too.", "Undo it first."
            )
    return undoable[place]


def _listed(ids: Sequence[str]) -> str:
    shown = ", ".join(ids[:_MAX_SHOWN])
    return f"{shown} and {len(ids) - _MAX_SHOWN} more" if len(ids) > _MAX_SHOWN else shown
