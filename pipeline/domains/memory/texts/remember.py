"""Remember texts: memories -> corpus -> entities and facts -> mentions -> concepts."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from pipeline.db.corpus import open_corpus
from pipeline.domains.memory.chats.given import check_given
from pipeline.domains.memory.chats.messages import Given, Read
from pipeline.domains.memory.entities import bare, surviving, survivors, together
from pipeline.domains.memory.extract.facts import Concept, Extracted, concepts_from, extract, speaker_of
from pipeline.domains.memory.extract.gazetteer import Gazetteer
from pipeline.domains.memory.facts.write import renamed, state_facts
from pipeline.domains.memory.memory import AgentMemory
from pipeline.domains.memory.records import Entity, EntityKey, Fact, Memory
from pipeline.domains.memory.schema import MEMORY
from pipeline.domains.memory.texts.mentions import (
    Mentioned,
    gazetteer_of,
    known_entities,
    mention_in_texts,
    write_mentions,
)
from pipeline.domains.memory.times import read_time
from pipeline.errors import InputError
from pipeline.flows.ingest import ingest_decided
from pipeline.ids import digest
from pipeline.ingest.update.changes import IngestSummary
from pipeline.knowledge import KnowledgeNode
from pipeline.knowledge.clock import now
from pipeline.progress import Progress
from pipeline.records import Block, BlockKind, Document, Metadata, Scalar, Skipped

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


@dataclass(frozen=True, slots=True)
class Remembered:
    """The outcome of remembering: the ingest of the texts, and what they brought to the graph."""

    ingested: IngestSummary
    mentioned: Mentioned
    facts: int
    concepts: int
    skipped: tuple[Skipped, ...] = ()


def remember(memory: AgentMemory, read: Read, progress: Progress | None = None) -> Remembered:
    """Add memories with what they say, and change those whose texts have changed; others of the memory stay.

    The same memories again change nothing. Entities and facts that are given with them are checked before anything is
    written; raises SourceError or GraphError if one is malformed, and what an ingest raises.
    """
    progress = progress or Progress()
    given = _given(memory, read)
    hoprank = memory.hoprank
    documents = [document_of(one, memory.zone) for one in read.memories]
    ingested, _ = ingest_decided(
        hoprank.client,
        hoprank.embedder,
        hoprank.settings,
        lambda _: (documents, None),
        memory.name,
        wait=memory.settings.wait,
        progress=progress,
    )
    with progress.stage("remember"):
        memory = memory.opened(create=True)
        known = known_entities(memory)
        said = _said(read.memories, given, known, survivors(memory))
        nodes = [node_of(one) for one in read.memories]
        concepts = _shared_concepts(memory, read.memories, [*known, *_met(said)])
        shared = _sharing(concepts)
        mentioned = write_mentions(memory, nodes, said.mentioned, [node.id for node in nodes], shared)
        facts = state_facts(memory, said.facts) if said.facts else None
        mention_in_texts(memory, _new(said, known))
    return Remembered(ingested, mentioned, len(facts.added) if facts else 0, len(concepts), read.skipped)


@dataclass(frozen=True, slots=True)
class _Said:
    """The entities that memories mention, by the id of a memory's node, and the facts that they state."""

    mentioned: Mapping[str, Sequence[Entity]]
    facts: tuple[Fact, ...]


def _new(said: _Said, known: Sequence[Entity]) -> list[Entity]:
    """Return the entities that weren't known before: earlier texts may name them."""
    before = {entity.id for entity in known}
    met = {entity.id: entity for entity in _met(said)}
    return [entity for id_, entity in met.items() if id_ not in before]


def _met(said: _Said) -> Iterator[Entity]:
    return (entity for named in said.mentioned.values() for entity in named)


def _given(memory: AgentMemory, read: Read) -> dict[str, Extracted]:
    """Return what is given with memories, checked, by the memory's key."""
    given: dict[str, Extracted] = {}
    for one in read.given:
        found = check_given(one, memory.schema, memory.settings.timezone)
        before = given.get(one.memory.key, Extracted())
        given[one.memory.key] = Extracted((*before.entities, *found.entities), (*before.facts, *found.facts))
    return given


def _said(
    memories: Sequence[Memory], given: Mapping[str, Extracted], known: Sequence[Entity], into: Mapping[str, str]
) -> _Said:
    speakers = {memory.node_id: person for memory in memories if (person := speaker_of(memory))}
    told = [*known, *speakers.values(), *(entity for found in given.values() for entity in found.entities)]
    scopes = sorted({memory.scope for memory in memories})
    gazetteers = _gazetteers(told, scopes)
    extracted = {memory.node_id: extract(memory, gazetteers[memory.scope]) for memory in memories}
    if stated := [entity for found in extracted.values() for entity in found.entities]:
        # Once more, since a text may mention what another one states.
        gazetteers = _gazetteers([*told, *stated], scopes)
    mentioned: dict[str, list[Entity]] = {}
    facts: list[Fact] = []
    for memory in memories:
        id_, own, found = memory.node_id, given.get(memory.key, Extracted()), extracted[memory.node_id]
        speaker = [speakers[id_]] if id_ in speakers else []
        gazetteer = gazetteers[memory.scope]
        named = [bare(gazetteer[mention.entity]) for mention in gazetteer.mentions(memory.text)]
        entities = [*speaker, *own.entities, *found.entities, *named]
        mentioned[id_] = list(together(surviving(entity, into) for entity in entities).values())
        facts += [renamed(fact, into) for fact in (*own.facts, *found.facts)]
    return _Said(mentioned, tuple(facts))


def _gazetteers(entities: Iterable[Entity], scopes: Iterable[str]) -> dict[str, Gazetteer]:
    once = together(entities).values()
    return {scope: gazetteer_of(once, scope) for scope in scopes}


def _shared_concepts(memory: AgentMemory, memories: Iterable[Memory], known: Iterable[Entity]) -> list[Concept]:
    """Return the names that memories share with others as concepts, which all of them mention.

    The corpus has found the names, by its rules for names; those of the ``known`` entities of other types make none.
    """
    by_scope: dict[str, list[str]] = defaultdict(list)
    for one in memories:
        by_scope[one.scope].append(one.key)
    if not by_scope:
        return []
    others = {name for entity in known if entity.type != "concept" for name in (entity.name, *entity.aliases)}
    corpus, minimum = open_corpus(memory.hoprank.client, memory.name), memory.settings.concept_mentions
    concepts: list[Concept] = []
    for scope, keys in by_scope.items():
        rows = corpus.read("memory_shared_names", documents=keys, minimum=minimum)
        names = {row["name"]: row["documents"] for row in rows}
        concepts += concepts_from(names, minimum, scope=scope, taken=others)
    return concepts


def _sharing(concepts: Iterable[Concept]) -> dict[str, list[Entity]]:
    """Return the concepts by the ids of the nodes of the memories that share their names."""
    sharing: dict[str, list[Entity]] = defaultdict(list)
    for concept in concepts:
        for key in concept.memories:
            sharing[EntityKey(concept.entity.scope, MEMORY, key).id].append(replace(concept.entity, mention_count=0))
    return sharing


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
    made = Memory(
        key=key or f"note/{digest('memory', time, speaker, session, text)[:16]}",
        text=text,
        time=time,
        speaker=speaker,
        session=session,
        scope=scope or memory.settings.scope,
    )
    given = (Given(made, "the text", list(entities) or None, list(facts) or None),) if entities or facts else ()
    return made, remember(memory, Read((made,), given), progress)
