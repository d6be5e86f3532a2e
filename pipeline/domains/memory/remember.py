"""Remember texts: memories -> corpus -> entities and facts -> mentions -> concepts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any
from zoneinfo import ZoneInfo

from pipeline.domains.memory import entities as steps
from pipeline.domains.memory.chats.given import check_given
from pipeline.domains.memory.chats.messages import Given, Read
from pipeline.domains.memory.concepts import shared_concepts
from pipeline.domains.memory.entities import Mentioned
from pipeline.domains.memory.extract.facts import Extracted, extract, speaker_of
from pipeline.domains.memory.extract.gazetteer import Gazetteer
from pipeline.domains.memory.memory import AgentMemory
from pipeline.domains.memory.records import FIELDS, Entity, Fact, Memory
from pipeline.domains.memory.revise import add_facts, renamed
from pipeline.domains.memory.schema import MEMORY
from pipeline.domains.memory.times import read_time
from pipeline.domains.memory.versions import state
from pipeline.errors import InputError
from pipeline.flows.ingest import Decision, ingest_decided
from pipeline.ids import digest
from pipeline.ingest.update.changes import IngestSummary
from pipeline.knowledge import KnowledgeNode
from pipeline.knowledge.clock import now
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


def remember(memory: AgentMemory, read: Read, progress: Progress | None = None) -> Remembered:
    """Add memories with their entities and facts, and change those whose texts have changed; other memories stay.

    The same memories again change nothing. Entities and facts that are given with them are checked before anything is
    written; raises SourceError or GraphError if one is malformed, and what an ingest raises.
    """
    progress = progress or Progress()
    given: dict[str, Extracted] = {}
    for one in read.given:
        checked, before = check_given(one, memory.schema, memory.zone), given.get(one.memory.key, Extracted())
        given[one.memory.key] = Extracted((*before.entities, *checked.entities), (*before.facts, *checked.facts))
    hoprank = memory.hoprank
    documents = [_document(one, memory.zone) for one in read.memories]
    ingested, _ = ingest_decided(
        hoprank.client,
        hoprank.embedder,
        hoprank.settings,
        lambda _: Decision(documents, None),
        memory.name,
        wait=memory.settings.wait,
        progress=progress,
    )
    with progress.stage("remember"):
        memory = memory.opened(create=True)
        known = steps.known_entities(memory, shared=False)
        mentioned, facts = _understood(read.memories, given, known, steps.survivors(memory))
        entities = {entity.id: entity for entity in chain.from_iterable(mentioned.values())}
        texts = {one.node_id: one.text for one in read.memories}
        shared = shared_concepts(memory, texts, [*known, *entities.values()])
        nodes = [_node(one) for one in read.memories]
        written = steps.write_mentions(memory, nodes, mentioned, texts, shared.mentioned, shared.dropped)
        revision = add_facts(memory, facts, rule=state) if facts else None
        stored = {entity.id for entity in known}
        steps.mention_in_texts(memory, [entity for id_, entity in entities.items() if id_ not in stored])
        concepts = len({one.id for text in texts for one in shared.mentioned.get(text, ())})
    return Remembered(ingested, written, len(revision.added) if revision else 0, concepts, read.skipped)


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


def _node(memory: Memory) -> KnowledgeNode:
    """Return the node that stands for a memory: it holds from the memory's time on."""
    named = {"key": memory.key, "speaker": memory.speaker, "session": memory.session, "scope": memory.scope}
    properties = {name: value for name, value in named.items() if value}
    return KnowledgeNode(memory.node_id, MEMORY, properties=properties, valid_at=memory.time)


def _understood(
    memories: Sequence[Memory], given: Mapping[str, Extracted], known: Sequence[Entity], into: Mapping[str, str]
) -> tuple[dict[str, list[Entity]], list[Fact]]:
    """Return the entities that memories mention, by the id of a memory's node, and the facts that they state."""
    speakers = {memory.node_id: person for memory in memories if (person := speaker_of(memory))}
    named = [*known, *speakers.values(), *(entity for one in given.values() for entity in one.entities)]

    def gazetteers(entities: Iterable[Entity]) -> dict[str, Gazetteer]:
        once = steps.together(entities).values()
        return {scope: steps.gazetteer_of(once, scope) for scope in {memory.scope for memory in memories}}

    by_scope = gazetteers(named)
    extracted = {memory.node_id: extract(memory, by_scope[memory.scope]) for memory in memories}
    if stated := [entity for one in extracted.values() for entity in one.entities]:
        by_scope = gazetteers([*named, *stated])  # once more: a text may mention what another one states
    mentioned: dict[str, list[Entity]] = {}
    facts: list[Fact] = []
    for memory in memories:
        id_, own, found = memory.node_id, given.get(memory.key, Extracted()), extracted[memory.node_id]
        gazetteer = by_scope[memory.scope]
        entities = [speakers[id_]] if id_ in speakers else []
        entities += [*own.entities, *found.entities]
        entities += [steps.bare(gazetteer[mention.entity]) for mention in gazetteer.mentions(memory.text)]
        mentioned[id_] = list(steps.together(steps.surviving(entity, into) for entity in entities).values())
        facts += [renamed(fact, into) for fact in (*own.facts, *found.facts)]
    return mentioned, facts


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
    if not text.strip():
        raise InputError("The text is empty.", "Say what is to be remembered.")
    time = read_time(date, memory.zone, "date") if date is not None else now()
    key = key or f"note/{digest('memory', time, speaker, session, text)[:16]}"
    made = Memory(key, text, time, speaker, session, scope=scope or memory.settings.scope)
    given = (Given(made, "the text", list(entities) or None, list(facts) or None),) if entities or facts else ()
    return made, remember(memory, Read((made,), given), progress)
