"""Undoing of merges, over records: what was before, with what has changed since."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from pipeline.domains.memory.dedupe.merge import Rewrite
from pipeline.knowledge import KnowledgeEdge, KnowledgeNode
from pipeline.knowledge.edit import Edits
from pipeline.knowledge.records import Json

_CARRIED = ("weight", "valid_at", "invalid_at", "expired_at")


class Unmerged(NamedTuple):
    """The edits that undo a rewrite, and notes on what isn't as it was before."""

    edits: Edits
    notes: tuple[str, ...]


def unmerge(rewrite: Rewrite, nodes: Mapping[str, KnowledgeNode], edges: Iterable[KnowledgeEdge]) -> Unmerged:
    """Return how to undo a rewrite; ``nodes`` and ``edges`` are its members and their edges as they are now.

    What has come to a survivor since stays with it. A change of an edge since is made to the edges that it came from.
    What was removed since isn't restored.
    """
    stored = {edge.id: edge for edge in edges}
    lost = _lost(rewrite, nodes)
    restored = _nodes(rewrite, nodes, lost)
    present = restored.keys() | nodes.keys()
    notes = [f"{id_} was removed since: it isn't restored" for id_ in sorted(lost & rewrite.survivors)]
    back, changed = _edges(rewrite, stored, present)
    after = {edge.id for edge in rewrite.after_edges}
    notes += changed
    notes += _later(rewrite, stored, nodes)
    edits = Edits(
        nodes=list(restored.values()),
        edges=back,
        removed_edges=sorted((after & stored.keys()) - {edge.id for edge in back}),
    )
    return Unmerged(edits, tuple(notes))


def _lost(rewrite: Rewrite, nodes: Mapping[str, KnowledgeNode]) -> frozenset[str]:
    """Return the members of groups whose survivor is gone."""
    gone, lost, survivor = rewrite.survivors - nodes.keys(), set(), ""
    for node in rewrite.before_nodes:  # in order of the groups, each survivor before its losers
        survivor = node.id if node.id in rewrite.survivors else survivor
        if survivor in gone:
            lost.add(node.id)
    return frozenset(lost)


def _nodes(rewrite: Rewrite, nodes: Mapping[str, KnowledgeNode], lost: frozenset[str]) -> dict[str, KnowledgeNode]:
    after = {node.id: node for node in rewrite.after_nodes}
    restored = {}
    for before in rewrite.before_nodes:
        if before.id in lost:
            continue
        now = nodes.get(before.id)
        if now is None:
            restored[before.id] = before
        elif before.id in after:
            restored[before.id] = _without_merge(before, after[before.id], now)
        else:
            restored[before.id] = _met_again(before, now)
    return restored


def _without_merge(before: KnowledgeNode, after: KnowledgeNode, now: KnowledgeNode) -> KnowledgeNode:
    """Return a survivor as it was before, with what changed since the merge."""
    if now == after:
        return before
    properties = _reverted(before.properties, after.properties, now.properties)
    counts = [int(node.properties["mention_count"]) for node in (before, after, now)]  # type: ignore[arg-type]
    properties["mention_count"] = max(0, counts[0] + counts[2] - counts[1])
    own, merged, present = (_texts(node.properties["aliases"]) for node in (before, after, now))
    properties["aliases"] = [alias for alias in present if alias in own or alias not in merged]
    same_text = properties["description"] == before.properties["description"]
    return replace(
        now,
        labels=before.labels if now.labels == after.labels else now.labels,
        properties=properties,
        embedding=before.embedding if same_text or now.embedding == after.embedding else now.embedding,
        created_at=before.created_at,
        updated_at=before.updated_at if now.updated_at == after.updated_at else now.updated_at,
    )


def _met_again(before: KnowledgeNode, now: KnowledgeNode) -> KnowledgeNode:
    """Return a loser that was written anew since the merge: as it was, met as often again."""
    count = int(before.properties["mention_count"]) + int(now.properties["mention_count"])  # type: ignore[arg-type]
    return replace(before, properties={**before.properties, "mention_count": count}, updated_at=now.updated_at)


def _edges(
    rewrite: Rewrite, stored: Mapping[str, KnowledgeEdge], present: Iterable[str]
) -> tuple[list[KnowledgeEdge], list[str]]:
    """Return the edges to restore, and notes on those that changed or went since."""
    ends, sources = frozenset(present), rewrite.sources or {}
    before = {edge.id: edge for edge in rewrite.before_edges}
    loose = before.keys() - {id_ for ids in sources.values() for id_ in ids}
    back = [before[id_] for id_ in sorted(loose) if {before[id_].source, before[id_].target} <= ends]
    changed = gone = 0
    for after in rewrite.after_edges:
        now = stored.get(after.id)
        if now is None:
            gone += 1
            continue
        changed += now != after
        back += [_carried(before[id_], after, now) for id_ in sources[after.id]]
    notes = [f"{changed} edges changed since: they keep the change"] if changed else []
    return back, [*notes, *([f"{gone} edges were removed since: they aren't restored"] if gone else [])]


def _carried(before: KnowledgeEdge, after: KnowledgeEdge, now: KnowledgeEdge) -> KnowledgeEdge:
    """Return an edge as it was before, with the changes that were made since to the one that it went into."""
    if now == after:
        return before
    fields: dict[str, Any] = {
        name: getattr(now, name) for name in _CARRIED if getattr(now, name) != getattr(after, name)
    }
    properties = _reverted(before.properties, after.properties, now.properties)
    return replace(before, properties=properties, **fields)


def _reverted(before: Mapping[str, Json], after: Mapping[str, Json], now: Mapping[str, Json]) -> dict[str, Json]:
    """Return the properties of now, but those of before where nothing has changed since the merge."""
    changed = {name: value for name, value in now.items() if name not in after or after[name] != value}
    removed = after.keys() - now.keys()
    return {**{name: value for name, value in before.items() if name not in removed}, **changed}


def _later(rewrite: Rewrite, stored: Mapping[str, KnowledgeEdge], nodes: Mapping[str, KnowledgeNode]) -> list[str]:
    known = {*rewrite.kept_edges, *(edge.id for edge in rewrite.after_edges)}
    since: Counter[str] = Counter()
    for edge in stored.values():
        if edge.id not in known:
            since.update({edge.source, edge.target} & rewrite.members & nodes.keys())
    return [f"{count} facts or mentions that came since stay with {id_}" for id_, count in sorted(since.items())]


def _texts(value: Json) -> Sequence[str]:
    return [str(item) for item in value] if isinstance(value, list) else []
