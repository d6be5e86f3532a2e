"""Mentions of entities that became known after the texts that name them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from pipeline.db.corpus import open_corpus
from pipeline.domains.memory.entities import bare
from pipeline.domains.memory.memory import AgentMemory
from pipeline.domains.memory.records import Entity, EntityKey
from pipeline.domains.memory.schema import MEMORY
from pipeline.domains.memory.texts.known import gazetteer
from pipeline.domains.memory.texts.mentions import write_mentions
from pipeline.retrieve.legs import Leg

_FEW = 20
"""So many names are looked up by full text; for more, all texts are read."""

_TEXTS = 100
"""Texts that are looked at for each of a few names: those that hold it come first."""


def mention_in_texts(memory: AgentMemory, entities: Sequence[Entity]) -> int:
    """Find new entities in the texts that are there already, and write these mentions; return their number."""
    if not entities or not memory.has_texts():
        return 0
    memory = memory.opened()  # the entities were written since the last look
    new, known = {entity.key for entity in entities}, gazetteer(memory)
    nodes = {EntityKey.of(id_).name: id_ for id_ in _text_ids(memory)}
    mentioned: dict[str, dict[EntityKey, Entity]] = defaultdict(dict)
    for document, text in _candidates(memory, entities):
        for mention in known.mentions(text) if document in nodes else ():
            if mention.entity in new:
                mentioned[nodes[document]][mention.entity] = bare(known[mention.entity])
    of_nodes = {node_id: list(named.values()) for node_id, named in mentioned.items()}
    return write_mentions(memory, (), of_nodes).mentions if of_nodes else 0


def _candidates(memory: AgentMemory, entities: Sequence[Entity]) -> Iterator[tuple[str, str]]:
    """Yield passages that may hold a name of the entities, each with the key of its document."""
    if len(entities) > _FEW:
        for row in open_corpus(memory.hoprank.client, memory.name).stream("chunk_texts"):
            yield row["document"], row["text"]
        return
    for name in dict.fromkeys(_names(entities)):
        for hit in memory.hoprank.search(name, None, _TEXTS, corpus=memory.name, leg=Leg.FULLTEXT).hits:
            yield hit.document, hit.text


def _names(entities: Iterable[Entity]) -> Iterator[str]:
    for entity in entities:
        yield from (name for name in (entity.name, *entity.aliases) if name.strip())


def _text_ids(memory: AgentMemory) -> list[str]:
    return [row["id"] for row in memory.rows("memory_texts_after", label=memory.label, type=MEMORY, known_at="")]
