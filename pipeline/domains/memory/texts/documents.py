"""Memories as documents of the corpus, and as nodes of the graph."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

from pipeline.domains.memory.records import Memory
from pipeline.domains.memory.schema import MEMORY
from pipeline.knowledge import KnowledgeNode
from pipeline.records import Block, BlockKind, Document, Metadata, Scalar

FIELDS = ("time", "speaker", "session", "conversation", "turn", "scope")
"""The metadata that every memory's document has, as far as it is known; a filter may name it."""


def document_of(memory: Memory, zone: ZoneInfo) -> Document:
    """Return a memory as a document: its text as it is, and its speaker and day in ``zone`` as its title.

    The title is embedded and searched with the text, so that a question may name the speaker or the month.
    """
    own: dict[str, Scalar] = {name: value for name in FIELDS if (value := getattr(memory, name))}
    given = {name: value for name, value in memory.metadata.items() if name not in own and _is_scalar(value)}
    metadata: Metadata = {**given, **own}  # type: ignore[dict-item]  # scalars
    block = Block(BlockKind.PARAGRAPH, 0, len(memory.text))
    return Document(memory.key, title_of(memory, zone), memory.text, blocks=(block,), metadata=metadata)


def title_of(memory: Memory, zone: ZoneInfo) -> str:
    """Return the title of a memory: who said it, on which day, and the title that it was given."""
    day = datetime.fromisoformat(memory.time).astimezone(zone)
    said = f"{day.day} {day:%B} {day.year}"
    return ", ".join(part for part in (memory.speaker, said, memory.title) if part)


def node_of(memory: Memory) -> KnowledgeNode:
    """Return the node that stands for a memory: it holds from the memory's time on."""
    held = {"key": memory.key, "speaker": memory.speaker, "session": memory.session, "scope": memory.scope}
    properties = {name: value for name, value in held.items() if value}
    return KnowledgeNode(memory.node_id, MEMORY, properties=properties, valid_at=memory.time)


def _is_scalar(value: object) -> bool:
    return isinstance(value, str | int | float | bool)
