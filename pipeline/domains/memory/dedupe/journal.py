"""The journal of merges: a graph beside the memory's, with all that is needed to undo each of them.

A merge is a node of type ``merge``; further nodes hold its groups and its rewrite as JSON, in parts of bounded size.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

from pipeline.db.client import batches
from pipeline.db.vectors import from_bytes, to_bytes
from pipeline.domains.memory.dedupe.merge import Rewrite
from pipeline.domains.memory.dedupe.plan import Group
from pipeline.errors import GraphError
from pipeline.knowledge import KnowledgeGraph, KnowledgeNode
from pipeline.knowledge.exchange.plain import edge_mapping, edge_of, node_mapping, node_of

MERGE, GROUPS, UNDO = "merge", "groups", "undo"
_PART = 200
"""Groups, nodes or edges of a part: some hundred kilobytes with their embeddings. Chosen by hand."""


@dataclass(frozen=True, slots=True)
class Merge:
    """A merge that was made: its groups with their evidence, and how many edges moved or were folded.

    ``plan`` is the id of its plan. A merge that isn't ``complete`` was interrupted; undoing it is safe.
    """

    id: str
    time: str
    plan: str
    groups: tuple[Group, ...]
    moved: int
    folded: int
    complete: bool

    def to_json(self) -> dict[str, Any]:
        """Return the merge as plain JSON values."""
        values: dict[str, Any] = _MERGES.dump_python(self, mode="json")
        return values


_MERGES = TypeAdapter(Merge)
_GROUPS = TypeAdapter(dict[str, tuple[Group, ...]])


def merges(journal: KnowledgeGraph) -> list[Merge]:
    """Return the merges that can be undone, the newest first."""
    parts: dict[str, list[KnowledgeNode]] = {}
    for node in journal.find_nodes_by_type(GROUPS):
        parts.setdefault(str(node.properties["merge"]), []).append(node)
    made = [_merge(node, parts.get(node.id, ())) for node in journal.find_nodes_by_type(MERGE)]
    return sorted(made, key=lambda merge: (merge.time, merge.id), reverse=True)


def write(journal: KnowledgeGraph, merge: Merge, rewrite: Rewrite) -> None:
    """Write a merge, all of it or nothing."""
    parts = [*_parts(merge.id, GROUPS, _chunks("groups", merge.to_json()["groups"]))]
    parts += _parts(merge.id, UNDO, _rewrite_chunks(rewrite))
    properties = {name: getattr(merge, name) for name in ("time", "plan", "moved", "folded", "complete")}
    node = KnowledgeNode(merge.id, MERGE, properties={**properties, "parts": [part.id for part in parts]})
    journal.add_nodes([node, *parts])


def mark(journal: KnowledgeGraph, merge_id: str, *, complete: bool) -> None:
    """Record whether the memory's graph holds all of a merge for certain."""
    journal.update_node(merge_id, properties={"complete": complete})


def rewrite_of(journal: KnowledgeGraph, merge_id: str) -> Rewrite:
    """Return the rewrite of a merge; raises GraphError if the journal lacks it."""
    content: dict[str, list[Any]] = {}
    for part in journal.get_nodes(_part_ids(journal, merge_id)):
        if part.type == UNDO:
            for name, items in json.loads(str(part.properties["content"])).items():
                content.setdefault(name, []).extend(items)
    return Rewrite(
        tuple(map(_unpacked, content.get("before_nodes", ()))),
        tuple(map(edge_of, content.get("before_edges", ()))),
        tuple(map(_unpacked, content.get("after_nodes", ()))),
        tuple(map(edge_of, content.get("after_edges", ()))),
        {id_: tuple(ids) for id_, ids in content.get("sources", ())},
        tuple(content.get("kept_edges", ())),
    )


def remove(journal: KnowledgeGraph, merge_id: str) -> None:
    """Remove a merge, which can't be undone any more; raises GraphError if the journal lacks it."""
    journal.remove_nodes([merge_id, *_part_ids(journal, merge_id)])


def discard(journal: KnowledgeGraph, entity_ids: Collection[str]) -> list[Merge]:
    """Remove the merges of these entities, and return them: what is to be forgotten must not stay in the journal."""
    ids = frozenset(entity_ids)
    concerned = [merge for merge in merges(journal) if not rewrite_of(journal, merge.id).touched.isdisjoint(ids)]
    for merge in concerned:
        remove(journal, merge.id)
    return concerned


def _merge(node: KnowledgeNode, parts: Sequence[KnowledgeNode]) -> Merge:
    stored: Any = node.properties
    ordered = sorted(parts, key=lambda part: part.id)
    groups = [group for part in ordered for group in _GROUPS.validate_json(str(part.properties["content"]))["groups"]]
    numbers = int(stored["moved"]), int(stored["folded"])
    return Merge(node.id, stored["time"], stored["plan"], tuple(groups), *numbers, bool(stored["complete"]))


def _part_ids(journal: KnowledgeGraph, merge_id: str) -> list[str]:
    node = journal.get_node(merge_id)
    if node is None or node.type != MERGE:
        raise GraphError(f"There is no merge {merge_id[:50]!r}.", "List them with dedupe merges.")
    parts: Any = node.properties["parts"]
    return list(parts)


def _rewrite_chunks(rewrite: Rewrite) -> Iterator[dict[str, list[Any]]]:
    yield from _chunks("before_nodes", map(_packed, rewrite.before_nodes))
    yield from _chunks("before_edges", map(edge_mapping, rewrite.before_edges))
    yield from _chunks("after_nodes", map(_packed, rewrite.after_nodes))
    yield from _chunks("after_edges", map(edge_mapping, rewrite.after_edges))
    yield from _chunks("sources", ([id_, list(ids)] for id_, ids in (rewrite.sources or {}).items()))
    yield from _chunks("kept_edges", rewrite.kept_edges)


def _chunks(name: str, items: Iterable[Any]) -> Iterator[dict[str, list[Any]]]:
    return ({name: list(part)} for part in batches(items, _PART))


def _parts(merge_id: str, kind: str, chunks: Iterable[dict[str, list[Any]]]) -> Iterator[KnowledgeNode]:
    for number, chunk in enumerate(chunks):
        content = json.dumps(chunk, ensure_ascii=False)
        yield KnowledgeNode(f"{merge_id}/{kind}/{number:06}", kind, properties={"merge": merge_id, "content": content})


def _packed(node: KnowledgeNode) -> dict[str, Any]:
    mapping = node_mapping(node)
    if node.embedding is not None:
        mapping["embedding"] = base64.b64encode(to_bytes(node.embedding)).decode()
    return mapping


def _unpacked(mapping: dict[str, Any]) -> KnowledgeNode:
    if "embedding" in mapping:
        mapping["embedding"] = from_bytes(base64.b64decode(mapping["embedding"])).tolist()
    return node_of(mapping)
