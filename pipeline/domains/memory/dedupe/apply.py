"""Apply plans of merges to a memory's graph, and undo merges: one transaction each.

The journal, a graph beside the memory's, has a node for each merge, and nodes of bounded size with pieces of its groups
and its rewrite, as compressed JSON: all that is needed to undo it.
"""

import base64
import json
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

from pydantic import TypeAdapter

from pipeline.domains.memory.dedupe.merge import Rewrite, Unmerged, merge, unmerge
from pipeline.domains.memory.dedupe.plan import Group, Plan, entity_digest
from pipeline.domains.memory.records import Entity
from pipeline.errors import GraphError
from pipeline.grouping import grouped
from pipeline.json_values import plain
from pipeline.knowledge import KnowledgeEdge, KnowledgeGraph, KnowledgeNode
from pipeline.knowledge.clock import now
from pipeline.knowledge.edit import EdgesRead, Edits

MERGE, GROUPS, UNDO = "merge", "groups", "undo"
_STORED = ("time", "plan", "moved", "folded", "complete")  # fields of a merge that its node has as properties
_MAX_SHOWN = 5  # ids that an error names: as many as fit a line or two; chosen by hand, not measured

_PIECE = 200_000  # characters of a node of the journal; chosen by hand


@dataclass(frozen=True, slots=True)
class Merge:
    """A merge that was made: its groups with their evidence, and how many edges moved or were folded.

    Folded edges went into another, or were between two entities that became one. ``plan`` is the id of its plan. A
    merge that isn't ``complete`` was interrupted; undoing it is safe.
    """

    id: str
    time: str
    plan: str
    groups: tuple[Group, ...]
    moved: int
    folded: int
    complete: bool


_GROUPS = TypeAdapter(tuple[Group, ...])


@dataclass(frozen=True, slots=True)
class Undone:
    """A merge that was undone: the restored entities, and notes on what differs from before."""

    merge: Merge
    restored: tuple[str, ...]
    notes: tuple[str, ...]


def apply(graph: KnowledgeGraph, journal: KnowledgeGraph, plan: Plan) -> Merge | None:
    """Merge the groups of a plan in one transaction, and return the merge; None if there is nothing to merge.

    The survivors' embeddings stay, though their descriptions may be the losers'. The journal gets what is needed to
    undo it before the graph changes. Raises GraphError naming entities that have changed or gone since the plan was
    made, and then merges nothing.
    """
    if plan.graph != graph.name:
        raise GraphError(f"The plan is for {plan.graph!r}, not for {graph.name!r}.", "Make a plan for this memory.")
    if not (groups := plan.groups):
        return None
    digests = dict(plan.entities)
    written: list[Merge] = []
    interrupted = [one for one in merges(journal) if not one.complete]

    def decide(nodes: Mapping[str, KnowledgeNode], edges: Sequence[KnowledgeEdge]) -> tuple[Edits, Merge]:
        for one in [*interrupted]:
            if all(nodes.keys() >= {*group.members} for group in one.groups):  # killed before the graph changed
                interrupted.remove(one)
                written.append(one)
            elif one.plan == plan.id:  # killed after it
                return Edits(), one
        _refuse_stale(groups, digests, nodes)
        time = now()
        rewrite = merge(groups, nodes, edges, time)
        _withdraw(journal, written)
        moved = len(rewrite.after_edges)
        folded = len(rewrite.before_edges) - moved
        entry = Merge(uuid4().hex[:12], time, plan.id, groups, moved, folded, complete=False)
        _write(journal, entry, rewrite)
        written.append(entry)
        return rewrite.edits(), entry

    try:
        merged = graph.edit([id_ for group in groups for id_ in group.members], decide, reads=EdgesRead.TOUCHING)
    except GraphError:
        _withdraw(journal, written)
        raise
    mark(journal, merged.id, complete=True)
    return replace(merged, complete=True)


def undo(graph: KnowledgeGraph, journal: KnowledgeGraph, merge_id: str | None = None) -> Undone:
    """Undo a merge, the last one by default, in one transaction; it leaves the journal.

    The entities and their edges are as they were, but for what has changed since, which the notes name: new facts
    and mentions stay with the survivor, and what was removed since isn't restored. Raises GraphError if there is no
    such merge, or if a later one changed the same entities or edges.
    """
    undone = _wanted(journal, merge_id)
    rewrite = _rewrite_of(journal, undone.id)

    def decide(nodes: Mapping[str, KnowledgeNode], edges: Sequence[KnowledgeEdge]) -> tuple[Edits, Unmerged]:
        losers = rewrite.members - rewrite.survivors
        if not undone.complete and losers <= nodes.keys():
            note = "all of it was as before already: its merge, or a former undo, was interrupted"
            return Edits(), Unmerged(Edits(), (note,))
        done = unmerge(rewrite, nodes, edges)
        return done.edits, done

    # Marked first: if this is interrupted after the graph is restored, a second undo finds nothing left to do.
    mark(journal, undone.id, complete=False)
    done = graph.edit(sorted(rewrite.members), decide, reads=EdgesRead.TOUCHING)
    _remove(journal, undone.id)
    back = {node.id for node in done.edits.nodes} - rewrite.survivors
    return Undone(undone, tuple(sorted(back)), done.notes)


def merges(journal: KnowledgeGraph) -> list[Merge]:
    """Return the merges that can be undone, the newest first."""
    groups = _contents(journal.find_nodes_by_type(GROUPS))
    made = []
    for node in journal.find_nodes_by_type(MERGE):
        stored: dict[str, Any] = {name: node.properties[name] for name in _STORED}
        made.append(Merge(node.id, groups=_GROUPS.validate_python(groups[node.id]), **stored))
    return sorted(made, key=lambda merge: (merge.time, merge.id), reverse=True)


def mark(journal: KnowledgeGraph, merge_id: str, *, complete: bool) -> None:
    """Record whether the memory's graph holds all of a merge for certain."""
    journal.update_node(merge_id, properties={"complete": complete})


def discard(journal: KnowledgeGraph, entity_ids: Collection[str]) -> list[Merge]:
    """Remove the merges of these entities, and return them: what is to be forgotten must not stay in the journal."""
    rewrites = _contents(journal.find_nodes_by_type(UNDO))
    forgotten = {id_ for id_, kept in rewrites.items() if not Rewrite.of(kept).touched.isdisjoint(entity_ids)}
    concerned = [one for one in merges(journal) if one.id in forgotten]
    for entry in concerned:
        _remove(journal, entry.id)
    return concerned


def _write(journal: KnowledgeGraph, merge: Merge, rewrite: Rewrite) -> None:
    pieces = [*_pieces(merge.id, GROUPS, plain(merge.groups)), *_pieces(merge.id, UNDO, rewrite.to_json())]
    properties = {name: getattr(merge, name) for name in _STORED}
    node = KnowledgeNode(merge.id, MERGE, properties={**properties, "parts": [piece.id for piece in pieces]})
    journal.add_nodes([node, *pieces])


def _pieces(merge_id: str, kind: str, content: object) -> Iterator[KnowledgeNode]:
    packed = base64.b64encode(zlib.compress(json.dumps(content).encode())).decode()
    for at in range(0, len(packed), _PIECE):
        properties = {"merge": merge_id, "content": packed[at : at + _PIECE]}
        yield KnowledgeNode(f"{merge_id}/{kind}/{at:012}", kind, properties=properties)


def _contents(pieces: Iterable[KnowledgeNode]) -> dict[str, Any]:
    """Return what pieces of one kind hold, by the ids of their merges."""
    in_order = sorted(pieces, key=lambda piece: piece.id)
    packed = grouped((str(piece.properties["merge"]), str(piece.properties["content"])) for piece in in_order)
    return {id_: json.loads(zlib.decompress(base64.b64decode("".join(parts)))) for id_, parts in packed.items()}


def _rewrite_of(journal: KnowledgeGraph, merge_id: str) -> Rewrite:
    """Return the rewrite of a merge; raises GraphError if the journal lacks it."""
    pieces = journal.get_nodes(_part_ids(journal, merge_id))
    return Rewrite.of(_contents(piece for piece in pieces if piece.type == UNDO)[merge_id])


def _remove(journal: KnowledgeGraph, merge_id: str) -> None:
    """Remove a merge, which can't be undone any more; raises GraphError if the journal lacks it."""
    journal.remove_nodes([merge_id, *_part_ids(journal, merge_id)])


def _part_ids(journal: KnowledgeGraph, merge_id: str) -> list[str]:
    node = journal.get_node(merge_id)
    if node is None or node.type != MERGE:
        raise GraphError(f"There is no merge {merge_id[:50]!r}.", "hoprank memory dedupe list lists them.")
    parts: Any = node.properties["parts"]
    return list(parts)


def _refuse_stale(groups: Sequence[Group], digests: Mapping[str, str], nodes: Mapping[str, KnowledgeNode]) -> None:
    ids = [id_ for group in groups for id_ in group.members]
    gone = [id_ for id_ in ids if id_ not in nodes]
    changed = [id_ for id_ in ids if id_ in nodes and entity_digest(Entity.of(nodes[id_])) != digests.get(id_)]
    if gone or changed:
        stale = [f"{_listed(ids)} {what}" for what, ids in (("gone", gone), ("changed", changed)) if ids]
        raise GraphError(f"The plan is stale: {'; '.join(stale)} since it was made.", "Make it anew.")


def _withdraw(journal: KnowledgeGraph, written: list[Merge]) -> None:
    """Remove the entries of attempts whose transaction was rolled back."""
    while written:
        _remove(journal, written.pop().id)


def _wanted(journal: KnowledgeGraph, merge_id: str | None) -> Merge:
    """Return the merge to undo; raise GraphError if a later one stands in its way."""
    undoable = merges(journal)
    if not undoable:
        raise GraphError("There is no merge to undo.", "hoprank memory dedupe apply merges entities.")
    places = {merge.id: place for place, merge in enumerate(undoable)}
    if merge_id is not None and merge_id not in places:
        raise GraphError(f"There is no merge {merge_id[:50]!r}.", f"There are {_listed(list(places))}.")
    place = places[merge_id] if merge_id is not None else 0
    rewrite = _rewrite_of(journal, undoable[place].id) if place else Rewrite()
    for later in undoable[:place]:
        other = _rewrite_of(journal, later.id)
        if common := (rewrite.touched & other.members) | (rewrite.members & other.touched):
            message = f"The merge {later.id} came later and changed {_listed(sorted(common))}, too."
            raise GraphError(message, "Undo it first.")
    return undoable[place]


def _listed(ids: Sequence[str]) -> str:
    shown = ", ".join(ids[:_MAX_SHOWN])
    return f"{shown} and {len(ids) - _MAX_SHOWN} more" if len(ids) > _MAX_SHOWN else shown
