"""Remember texts: memories -> corpus -> entities and facts -> mentions -> concepts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from pipeline.db.corpus import CorpusHandle
from pipeline.domains.memory.chats.given import check_given
from pipeline.domains.memory.chats.messages import Given, Read
from pipeline.domains.memory.extract.facts import Extracted
from pipeline.domains.memory.memory import AgentMemory
from pipeline.domains.memory.mentions import Mentioned
from pipeline.domains.memory.records import FIELDS, Memory
from pipeline.domains.memory.schema import KIND, MEMORY
from pipeline.domains.memory.times import read_time
from pipeline.domains.memory.understand import GIVEN, understand
from pipeline.errors import InputError
from pipeline.flows.ingest import Decision, ingest_decided
from pipeline.ids import digest
from pipeline.ingest.update.changes import IngestSummary
from pipeline.knowledge import KnowledgeNode
from pipeline.knowledge.clock import now
from pipeline.knowledge.edit import in_turn
from pipeline.knowledge.records import Json
from pipeline.progress import Progress
from pipeline.records import Block, BlockKind, Document, Metadata, Skipped


@dataclass(frozen=True, slots=True)
class Remembered:
    """The outcome of remembering: the ingest of the texts, and what they brought to the graph."""

    ingested: IngestSummary
    mentioned: Mentioned
    facts: int
    concepts: int
    skipped: tuple[Skipped, ...] = ()


def remember(memory: AgentMemory, read: Read, progress: Progress | None = None, *, strict: bool = True) -> Remembered:
    """Add memories with their entities and facts, and change those whose texts have changed; other memories stay.

    The same memories again change nothing. Entities and facts that are given with them are checked before anything is
    written: a malformed one raises SourceError or, without ``strict``, is left out and named. Raises what an ingest
    raises.
    """
    progress = progress or Progress()
    given: dict[str, Extracted] = {}
    skipped: list[Skipped] = []
    for one in read.given:
        checked = check_given(one, memory.schema, memory.zone, None if strict else skipped)
        before = given.get(one.memory.key, Extracted())
        given[one.memory.key] = Extracted((*before.entities, *checked.entities), (*before.facts, *checked.facts))
    hoprank = memory.hoprank
    documents = [_document(one, memory.zone) for one in read.memories]

    def decide(corpus: CorpusHandle) -> Decision[None]:
        if not corpus.generation:
            memory.check_graph()
        return Decision(documents, None)

    ingested, _ = ingest_decided(
        hoprank.client,
        hoprank.embedder,
        hoprank.settings,
        decide,
        memory.name,
        kind=KIND,
        wait=memory.settings.wait,
        progress=progress,
    )
    with progress.stage("remember"):
        nodes = [_node(one, given.get(one.key, Extracted())) for one in read.memories]
        _, revision, written = memory.write_what(
            lambda opened: in_turn(understand(opened, read.memories, given).changes(opened, nodes))
        )
    return Remembered(ingested, written, len(revision.added), written.concepts, (*read.skipped, *skipped))


def _document(memory: Memory, zone: ZoneInfo) -> Document:
    """Return a memory as a document: its text as it is, and its speaker, day in ``zone`` and own title as its title.

    The title is embedded and searched with the text, so that a question may name the speaker or the month.
    """
    own = {name: value for name in FIELDS if (value := getattr(memory, name))}
    others = (item for item in memory.metadata.items() if item[0] not in own)
    scalars = {name: value for name, value in others if isinstance(value, str | int | float | bool)}
    metadata: Metadata = {**scalars, **own}
    day = datetime.fromisoformat(memory.time).astimezone(zone)
    title = ", ".join(filter(None, (memory.speaker, f"{day.day} {day:%B} {day.year}", memory.title)))
    block = Block(BlockKind.PARAGRAPH, 0, len(memory.text))
    return Document(memory.key, title, memory.text, blocks=(block,), metadata=metadata)


def _node(memory: Memory, given: Extracted) -> KnowledgeNode:
    """Return the node that stands for a memory: it holds from its time on, and knows what was given with it."""
    named = {"key": memory.key, "speaker": memory.speaker, "session": memory.session, "scope": memory.scope}
    properties: dict[str, Json] = {name: value for name, value in named.items() if value}
    properties[GIVEN] = sorted({entity.id for entity in given.entities})
    return KnowledgeNode(memory.node_id, MEMORY, properties=properties, valid_at=memory.time)


def as_memory(
    memory: AgentMemory,
    text: str,
    *,
    key: str | None,
    date: str | None,
    speaker: str,
    session: str,
    scope: str | None,
    **others: Any,
) -> Memory:
    """Return a text as the record that is kept of it; ``others`` are further fields. See :func:`add_text`."""
    if not text.strip():
        raise InputError("The text is empty.", "Say what is to be remembered.")
    time = read_time(date, memory.zone, "date") if date is not None else now()
    key = key or f"note/{digest('memory', time, speaker, session, text)[:16]}"
    return Memory(key, text, time, speaker, session, scope=scope or memory.settings.scope, **others)


def add_text(
    memory: AgentMemory,
    text: str,
    *,
    key: str | None = None,
    date: str | None = None,
    speaker: str = "",
    session: str = "",
    scope: str | None = None,
    entities: Sequence[Mapping[str, Any]] = (),
    facts: Sequence[Mapping[str, Any]] = (),
    progress: Progress | None = None,
) -> tuple[Memory, Remembered]:
    """Remember a text, verbatim, with the entities and facts given in the form of ``hoprank memory import``.

    ``date`` is when it was said, by default now; ``key`` identifies it, by default made from its time and its text.
    Raises InputError if the text is empty, ``date`` is no time, or an entity or fact is malformed.
    """
    made = as_memory(memory, text, key=key, date=date, speaker=speaker, session=session, scope=scope)
    given = (Given(made, "the text", list(entities) or None, list(facts) or None),) if entities or facts else ()
    return made, remember(memory, Read((made,), given), progress)
