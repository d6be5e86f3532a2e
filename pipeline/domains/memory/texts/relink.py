"""Mentions of entities that became known after the texts that name them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from pipeline.db.corpus import open_corpus
from pipeline.domains.memory.entities import bare
from pipeline.domains.memory.memory import AgentMemory
from pipeline.domains.memory.records import Entity, EntityKey
from pipeline.domains.memory.schema import MEMORY
from pipeline.domains.memory.texts.known import gazetteer
from pipeline.domains.memory.texts.mentions import write_mentions


def mention_in_texts(memory: AgentMemory, entities: Sequence[Entity]) -> int:
    """Find new entities in the texts that are there already, and write these mentions; return their number."""
    if not entities or not memory.has_texts():
        return 0
    new, known = {entity.key for entity in entities}, gazetteer(memory)
    mentioned: dict[str, dict[EntityKey, Entity]] = defaultdict(dict)
    scopes = {EntityKey.of(id_).name: id_ for id_ in _text_ids(memory)}
    for row in open_corpus(memory.hoprank.client, memory.name).stream("chunk_texts"):
        node_id = scopes.get(row["document"])
        for mention in known.mentions(row["text"]) if node_id else ():
            if mention.entity in new:
                mentioned[str(node_id)][mention.entity] = bare(known[mention.entity])
    of_nodes = {node_id: list(named.values()) for node_id, named in mentioned.items()}
    return write_mentions(memory, (), of_nodes, ()).mentions if of_nodes else 0


def _text_ids(memory: AgentMemory) -> list[str]:
    return [row["id"] for row in memory.rows("memory_texts_after", label=memory.label, type=MEMORY, known_at="")]
