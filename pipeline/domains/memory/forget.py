"""Forget: delete memories and what is known from them alone, by entity, topic, time, session or scope."""

from collections import Counter
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
"""Number of memories that a topic is looked for in: those nearest to it by words and meaning. Chosen by hand."""


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


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The outcome of forgetting: keys of memories, ids of entities, facts, and facts that lose some evidence."""

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
    if not any(getattr(selection, name) for name in Selection.__slots__):  # lest all is forgotten by a slip
        raise InputError("Nothing says what to forget.", "Give an entity, topic, time, session or scope.")
    memory = memory.opened()
    graph = memory.graph()
    keys = _selected(memory, selection)
    texts = sorted(id_ for id_ in memory.text_nodes() if EntityKey.of(id_).name in keys)

    def decide(nodes: Mapping[str, KnowledgeNode], edges: Sequence[KnowledgeEdge]) -> tuple[Edits, Forgotten]:
        edits, forgotten = _decide(selection, nodes, edges, set(texts), keys)
        return Edits() if dry_run else edits, forgotten

    ids = [*texts, *memory.mentioned_by(texts), *_others(memory, selection)]
    forgotten = graph.edit(ids, decide, reads=EdgesRead.TOUCHING)
    if not dry_run:
        if keys:
            memory.hoprank.delete(sorted(keys), memory.name)
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
    if selection.entity is not None:
        doomed = {selection.entity.id} & nodes.keys()
    else:
        alone = not any((selection.topic, selection.since, selection.until, selection.session))
        entities = (id_ for id_, node in nodes.items() if alone and node.type != MEMORY)
        doomed = {id_ for id_ in entities if EntityKey.of(id_).scope == selection.scope}
    mentions = [edge for edge in edges if edge.type == MENTIONS]
    facts = {fact.id: fact for fact in (Fact.of(edge) for edge in edges if edge.type != MENTIONS)}
    gone: dict[str, Fact] = {}
    weakened: list[Fact] = []
    for id_, fact in facts.items():
        # Evidence is of a memory if it begins with its key.
        kept = tuple(evidence for evidence in fact.evidence if evidence.partition(": ")[0] not in keys)
        if fact.source in doomed or fact.target in doomed or (fact.evidence and not kept):
            gone[id_] = fact
        elif kept != fact.evidence:
            weakened.append(replace(fact, evidence=kept))
    lost = Counter(edge.target for edge in mentions if edge.source in texts)
    held = {end for id_, fact in facts.items() if id_ not in gone for end in (fact.source, fact.target)}
    held |= {edge.target for edge in mentions if edge.source not in texts}
    touched = {*lost, *(end for fact in gone.values() for end in (fact.source, fact.target))}
    removed = sorted(doomed | {id_ for id_ in touched if id_ in nodes and id_ not in held})
    fewer = []
    for id_, count in lost.items():
        if id_ in nodes and id_ not in removed:
            entity = Entity.of(nodes[id_])
            entity = replace(entity, mention_count=max(0, entity.mention_count - count))
            fewer.append(entity.to_node(nodes[id_].embedding))
    edits = Edits(
        nodes=fewer,
        edges=[fact.to_edge() for fact in weakened],
        removed_nodes=[*sorted(texts & nodes.keys()), *removed],
        removed_edges=[*gone],
    )
    order = sorted(gone.values(), key=lambda fact: (*fact.triple, fact.created_at or ""))
    return edits, Forgotten(tuple(sorted(keys)), tuple(removed), tuple(order), tuple(weakened))


def _selected(memory: AgentMemory, selection: Selection) -> set[str]:
    """Return the keys of the memories that are selected."""
    if not memory.has_texts():
        return set()
    keys = set(stored_documents(open_corpus(memory.hoprank.client, memory.name)))
    period = {"$gte": selection.since, "$lt": selection.until}
    places = {"session": selection.session, "scope": selection.scope}
    parts: list[dict[str, Any]] = [{"metadata.time": {op: time}} for op, time in period.items() if time is not None]
    parts += [{f"metadata.{name}": value} for name, value in places.items() if value is not None]
    if parts:
        keys &= set(memory.hoprank.retriever(memory.name).match({"$and": parts}).documents)
    if selection.entity is not None:
        keys &= set(memory.texts_of(selection.entity.id))
    if selection.topic is not None:
        # of the nearest texts, those that have all words of the topic but for function words
        words = [
            word for word in check_question(selection.topic, "topic").casefold().split() if word not in FUNCTION_WORDS
        ]
        hits = memory.hoprank.search(selection.topic, None, _TOPIC, corpus=memory.name, leg=Leg.HYBRID).hits
        texts = ((hit.document, f"{hit.title} {hit.text}".casefold()) for hit in hits)
        keys &= {key for key, text in texts if all(word in text for word in words)}
    return keys


def _others(memory: AgentMemory, selection: Selection) -> list[str]:
    """Return the entities that may be selected themselves."""
    if selection.entity is not None:
        return [selection.entity.id]
    if selection.scope is None:
        return []
    rows = memory.rows("memory_entity_names", label=memory.label)
    return [row["id"] for row in rows if row["scope"] == selection.scope]
