"""Understand texts, and those that speak of what these make known: what they mention, state and share."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from types import MappingProxyType
from typing import Any

from pipeline.domains.memory import entities as steps
from pipeline.domains.memory.concepts import Shared, shared_concepts
from pipeline.domains.memory.extract.facts import Extracted, extract, speaker_of
from pipeline.domains.memory.extract.gazetteer import Gazetteer
from pipeline.domains.memory.memory import AgentMemory
from pipeline.domains.memory.mentions import STATED, mentions_change, texts_holding
from pipeline.domains.memory.records import Entity, EntityKey, Fact, Memory
from pipeline.domains.memory.revise import facts_change, renamed, unread_change
from pipeline.domains.memory.schema import MENTIONS
from pipeline.domains.memory.versions import state
from pipeline.knowledge import KnowledgeNode
from pipeline.knowledge.edit import Change

GIVEN = "given"
"""The property of a text's node that has the ids of the entities that were given with it."""

_READINGS = 5
"""Times that texts are read, at most, until they make nothing else known; two nearly always do. Chosen by hand."""


@dataclass(frozen=True, slots=True)
class Understood:
    """The mentions, facts and concepts of texts.

    ``mentioned`` has the entities by the id of a text's node, ``shared`` the concepts by names that texts share. All
    mentions are here of the ``complete`` texts, given by the ids of their nodes; ``again`` are those that were read
    before.
    """

    mentioned: Mapping[str, Sequence[Entity]]
    facts: Sequence[Fact]
    complete: frozenset[str]
    again: frozenset[str]
    shared: Shared

    def changes(self, memory: AgentMemory, nodes: Iterable[KnowledgeNode] = ()) -> list[Change[Any]]:
        """Return the changes that write it: of what was read before and isn't stated any more, of facts, of mentions.

        They are for one transaction, in this order; the results of the last two are a Revision and a Mentioned.
        """
        shared = self.shared
        return [
            unread_change(memory, sorted(self.again), self.facts),
            facts_change(memory, self.facts, state),
            mentions_change(memory, nodes, self.mentioned, self.complete, shared.mentioned, shared.dropped),
        ]


def understand(
    memory: AgentMemory,
    texts: Sequence[Memory] = (),
    given: Mapping[str, Extracted] = MappingProxyType({}),
    new: Sequence[Entity] = (),
) -> Understood:
    """Return what texts mention and state, and what stored ones do that hold a name of what becomes known by them.

    ``given`` has what came with the texts, by their keys; ``new`` are entities that become known otherwise. So what a
    memory makes of its texts doesn't depend on which was first: what a text states with the names that are known now
    replaces what it stated without them.
    """
    stored, into = steps.known_entities(memory, shared=False), steps.survivors(memory)
    names = {entity.id: {entity.name, *entity.aliases} for entity in stored}
    before = memory.text_nodes()
    reading, own = {text.node_id: text for text in texts}, dict(given)
    complete, sought = set(reading), set[str]()
    for _ in range(_READINGS):
        doubtful = _stated_by(memory, complete & before, own)
        sure = [*new, *(entity for entity in stored if entity.id not in doubtful)]
        mentioned, facts = _read(list(reading.values()), own, sure, into) if reading else ({}, [])
        met = steps.together(chain(new, chain.from_iterable(mentioned.values())))
        made = [one for one in met.values() if not {one.name, *one.aliases} <= names.get(one.id, set())]
        fresh = [one for one in made if one.id not in sought]
        sought |= {one.id for one in fresh}
        others = set().union(*(texts for id_, texts in doubtful.items() if id_ not in met)) - reading.keys()
        more = texts_holding(memory, fresh, {text.key for text in reading.values()}) if before else []
        more += memory.texts(EntityKey.of(id_).name for id_ in sorted(others)) if others else []
        if not more:
            break
        reading |= {text.node_id: text for text in more}
        recorded = _given(memory, more)
        own |= recorded
        complete |= {text.node_id for text in more if text.key in recorded}
    said = {id_: text.text for id_, text in reading.items()}
    shared = shared_concepts(memory, said, [*sure, *met.values()]) if reading else Shared({}, frozenset())
    return Understood(mentioned, facts, frozenset(complete), frozenset(complete & before), shared)


def _stated_by(memory: AgentMemory, nodes: Collection[str], given: Mapping[str, Extracted]) -> dict[str, set[str]]:
    """Return what stored texts say that may be known by what texts state alone, each with the texts that mention it.

    These texts decide whether it is anything: what was given or written by hand is left out.
    """
    by_hand = {entity.id for one in given.values() for entity in one.entities}
    keys = memory.keys(sorted(nodes))
    stated = {}
    for row in memory.rows("memory_stated", keys=keys, type=MENTIONS, types=STATED) if keys else ():
        of_texts = {EntityKey.of(id_).name for id_ in row["texts"]}
        from_texts = all(any(one.partition(": ")[0] in of_texts for one in of_fact) for of_fact in row["evidence"])
        if row["entity"] not in by_hand and row["mentions"] <= len(of_texts) and from_texts:
            stated[row["entity"]] = set(row["texts"])
    return stated


def _given(memory: AgentMemory, texts: Sequence[Memory]) -> dict[str, Extracted]:
    """Return the entities given with stored texts, by key."""
    nodes = memory.graph().get_nodes([text.node_id for text in texts])
    return {
        EntityKey.of(node.id).name: Extracted(tuple(steps.bare(EntityKey.of(str(id_))) for id_ in given))
        for node in nodes
        if isinstance(given := node.properties.get(GIVEN), Sequence)
    }


def _read(
    texts: Sequence[Memory], given: Mapping[str, Extracted], known: Iterable[Entity], into: Mapping[str, str]
) -> tuple[dict[str, list[Entity]], list[Fact]]:
    """Return the entities that texts mention, by the id of a text's node, and the facts that they state."""
    speakers = {text.node_id: person for text in texts if (person := speaker_of(text))}
    named = [*known, *speakers.values(), *(entity for one in given.values() for entity in one.entities)]

    def gazetteers(stated: Iterable[Entity]) -> dict[str, Gazetteer]:
        once = steps.together((*named, *stated)).values()
        return {scope: steps.gazetteer_of(once, scope) for scope in {text.scope for text in texts}}

    by_scope, extracted, before = gazetteers(()), dict[str, Extracted](), frozenset[str]()
    for _ in range(_READINGS):  # what one text states, another may speak of
        extracted = {text.node_id: extract(text, by_scope[text.scope]) for text in texts}
        stated = {entity.id: entity for one in extracted.values() for entity in one.entities}
        if before == stated.keys():
            break
        by_scope, before = gazetteers(stated.values()), frozenset(stated)
    mentioned: dict[str, list[Entity]] = {}
    facts: list[Fact] = []
    for text in texts:
        id_, own, found = text.node_id, given.get(text.key, Extracted()), extracted[text.node_id]
        gazetteer = by_scope[text.scope]
        entities = [speakers[id_]] if id_ in speakers else []
        entities += [*own.entities, *found.entities]
        entities += [steps.bare(gazetteer[mention.entity]) for mention in gazetteer.mentions(text.text)]
        mentioned[id_] = list(steps.together(steps.surviving(entity, into) for entity in entities).values())
        facts += [renamed(fact, into) for fact in (*own.facts, *found.facts)]
    return mentioned, facts
