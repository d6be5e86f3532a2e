"""Forget: delete memories and what is known from them alone, by entity, topic, time, session or scope."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pipeline.db.corpus import open_corpus
from pipeline.domains.memory.dedupe.apply import discard
from pipeline.domains.memory.memory import AgentMemory
from pipeline.domains.memory.records import Entity, EntityKey, Fact
from pipeline.domains.memory.schema import MEMORY, MENTIONS
from pipeline.errors import InputError
from pipeline.ingest.update.stored import stored_documents
from pipeline.knowledge import KnowledgeEdge, KnowledgeNode
from pipeline.knowledge.edit import EdgesRead, Edits
from pipeline.retrieve.legs import Leg
from pipeline.retrieve.question import check_question
from pipeline.text.names import FUNCTION_WORDS

_TOPIC = 200
"""Number of memories that a topic is looked for in: those nearest to it by words and meaning."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The conditions of forgetting. Each given one must hold; ``since`` is included, ``until`` is not.

    ``entity`` selects the memories that mention it, and itself; ``topic`` those that have all of its words; ``scope``
    alone selects all that is in the scope, entities and facts too.
    """

    entity: Entity | None = None
    topic: str | None = None
    since: str | None = None
    until: str | None = None
    session: str | None = None
    scope: str | None = None

    def check(self) -> None:
        """Raise InputError if nothing is selected: not everything is to be forgotten by a slip."""
        if not any((self.entity, self.topic, self.since, self.until, self.session, self.scope)):
            raise InputError("Nothing says what to forget.", "Give an entity, topic, time, session or scope.")


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The forgotten: keys of memories, ids of entities, facts, and facts that lose a part of their evidence."""

    memories: tuple[str, ...]
    entities: tuple[str, ...]
    facts: tuple[Fact, ...]
    weakened: tuple[Fact, ...]


def forget(memory: AgentMemory, selection: Selection, *, dry_run: bool = False) -> Forgotten:
    """Delete what is selected, and what is known from it alone; with ``dry_run`` only say what that is.

    A version of a fact whose evidence is in deleted memories alone is deleted; one with other evidence keeps that. An
    entity that no memory mentions any more and that has no fact is deleted, as are the records of its merges. Raises
    InputError if nothing is selected.
    """
    selection.check()
    memory = memory.opened()
    graph = memory.graph()
    keys = _selected(memory, selection)
    node_ids = _nodes_of(memory, keys)
    wanted = set(keys)
    ids = [*node_ids, *_mentioned(memory, node_ids), *_others(memory, selection)]

    def decide(nodes: Mapping[str, KnowledgeNode], edges: Sequence[KnowledgeEdge]) -> tuple[Edits, Forgotten]:
        edits, forgotten = _decide(selection, nodes, edges, set(node_ids), wanted)
        return Edits() if dry_run else edits, forgotten

    forgotten = graph.edit(ids, decide, reads=EdgesRead.TOUCHING)
    if not dry_run:
        if keys:
            memory.hoprank.delete(keys, memory.name)
        if forgotten.entities and (journal := memory.journal()):
            discard(journal, forgotten.entities)
    return forgotten


def _decide(
    selection: Selection,
    nodes: Mapping[str, KnowledgeNode],
    edges: Sequence[KnowledgeEdge],
    texts: set[str],
    keys: set[str],
) -> tuple[Edits, Forgotten]:
    doomed = {id_ for id_, node in nodes.items() if node.type != MEMORY and _is_selected(selection, id_)}
    mentions = [edge for edge in edges if edge.type == MENTIONS]
    facts = {fact.id: fact for fact in (Fact.of(edge) for edge in edges if edge.type != MENTIONS)}
    gone = {id_: fact for id_, fact in facts.items() if _falls(fact, doomed, keys)}
    weakened = {
        id_: replace(fact, evidence=tuple(said for said in fact.evidence if not _from(said, keys)))
        for id_, fact in facts.items()
        if id_ not in gone and any(_from(said, keys) for said in fact.evidence)
    }
    lost: dict[str, int] = {}
    for edge in mentions:
        if edge.source in texts:
            lost[edge.target] = lost.get(edge.target, 0) + 1
    held = {end for id_, fact in facts.items() if id_ not in gone for end in (fact.source, fact.target)}
    held |= {edge.target for edge in mentions if edge.source not in texts}
    touched = {*lost, *(end for fact in gone.values() for end in (fact.source, fact.target))}
    orphans = {id_ for id_ in touched if id_ in nodes and id_ not in held}
    removed = sorted(doomed | orphans)
    fewer = [_fewer(nodes[id_], count) for id_, count in lost.items() if id_ in nodes and id_ not in removed]
    edits = Edits(
        nodes=fewer,
        edges=[fact.to_edge() for fact in weakened.values()],
        removed_nodes=[*sorted(texts & nodes.keys()), *removed],
        removed_edges=[*gone],
    )
    order = sorted(gone.values(), key=lambda fact: (*fact.triple, fact.created_at or ""))
    return edits, Forgotten(tuple(sorted(keys)), tuple(removed), tuple(order), tuple(weakened.values()))


def _is_selected(selection: Selection, id_: str) -> bool:
    """Return whether an entity itself is selected."""
    if selection.entity is not None:
        return id_ == selection.entity.id
    alone = not any((selection.topic, selection.since, selection.until, selection.session))
    return alone and EntityKey.of(id_).scope == selection.scope


def _falls(fact: Fact, doomed: set[str], keys: set[str]) -> bool:
    if fact.source in doomed or fact.target in doomed:
        return True
    return bool(fact.evidence) and all(_from(said, keys) for said in fact.evidence)


def _from(evidence: str, keys: set[str]) -> bool:
    """Return whether a piece of evidence is the sentence of one of these memories, whose key stands before it."""
    return evidence.partition(": ")[0] in keys


def _fewer(node: KnowledgeNode, mentions: int) -> KnowledgeNode:
    entity = Entity.of(node)
    return replace(entity, mention_count=max(0, entity.mention_count - mentions)).to_node(node.embedding)


def _selected(memory: AgentMemory, selection: Selection) -> list[str]:
    """Return the keys of the memories that are selected, sorted."""
    if not memory.has_texts():
        return []
    stored = stored_documents(open_corpus(memory.hoprank.client, memory.name))
    keys = set(stored)
    conditions = _conditions(selection)
    if conditions is not None:
        keys &= _matching(memory, conditions)
    if selection.entity is not None:
        rows = memory.rows("memory_texts_of", keys=memory.keys([selection.entity.id]), type=MENTIONS)
        keys &= {EntityKey.of(row["id"]).name for row in rows}
    if selection.topic is not None:
        keys &= _about(memory, selection.topic)
    return sorted(keys)


def _conditions(selection: Selection) -> Mapping[str, Any] | None:
    time = {"$gte": selection.since, "$lt": selection.until}
    parts: list[Mapping[str, Any]] = [
        {"metadata.time": {operator: value}} for operator, value in time.items() if value is not None
    ]
    named = {"session": selection.session, "scope": selection.scope}
    parts += [{f"metadata.{name}": value} for name, value in named.items() if value is not None]
    return {"$and": parts} if parts else None


def _matching(memory: AgentMemory, conditions: Mapping[str, Any]) -> set[str]:
    """Return the keys of the documents that meet conditions on their metadata."""
    return set(memory.hoprank.retriever(memory.name).match(conditions).documents)


def _about(memory: AgentMemory, topic: str) -> set[str]:
    """Return the keys of the memories that have all words of a topic, but for function words."""
    words = [word for word in check_question(topic).casefold().split() if word not in FUNCTION_WORDS]
    hits = memory.hoprank.search(topic, None, _TOPIC, corpus=memory.name, leg=Leg.HYBRID).hits
    return {hit.document for hit in hits if all(word in f"{hit.title} {hit.text}".casefold() for word in words)}


def _nodes_of(memory: AgentMemory, keys: Sequence[str]) -> list[str]:
    wanted = set(keys)
    rows = memory.rows("memory_texts_after", label=memory.label, type=MEMORY, known_at="")
    return sorted(row["id"] for row in rows if EntityKey.of(row["id"]).name in wanted)


def _mentioned(memory: AgentMemory, nodes: Sequence[str]) -> list[str]:
    rows = memory.rows("memory_mentioned", keys=memory.keys(nodes), type=MENTIONS)
    return [row["entity"] for row in rows]


def _others(memory: AgentMemory, selection: Selection) -> list[str]:
    """Return the entities that may be selected themselves."""
    if selection.entity is not None:
        return [selection.entity.id]
    rows = memory.rows("memory_entity_names", label=memory.label)
    return [row["id"] for row in rows if selection.scope is not None and row["scope"] == selection.scope]
