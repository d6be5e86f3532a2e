"""Extract conventions, error patterns and facts from the text of a memory, by markers."""

import re
from dataclasses import dataclass, replace

from pipeline.domains.memory.extract.gazetteer import Gazetteer, file_of
from pipeline.domains.memory.extract.markers import SOUNDS_WRONG, Stated, evidence_of, stated_in
from pipeline.domains.memory.records import ORIGIN, READ, Entity, EntityKey, Fact, Memory
from pipeline.domains.memory.schema import SCHEMA

_NAMED_SPEAKER = 0.9  # confidence that a speaker is a person: chats may have names for programs; chosen by hand

ROLES = frozenset("user assistant system tool human ai bot model developer function unknown".split())
"""Speakers that are roles in a chat and name no person."""

_PLACE = re.compile(r"^(?P<what>.+)\s(?:in|for|under|within|inside|of)\s(?P<place>[^\s].*)$")
_FIXES = tuple(SCHEMA.edges["fixed_by"].target)
_FOLLOWERS = tuple(SCHEMA.edges["has_convention"].source)
_DETERMINERS = frozenset(("the", "a", "an", "our", "all"))
_ERROR, _CONVENTION, _CONCEPT = "error_pattern", "convention", "concept"


@dataclass(frozen=True, slots=True)
class Extracted:
    """Entities that a memory mentions, and facts among these and known entities."""

    entities: tuple[Entity, ...] = ()
    facts: tuple[Fact, ...] = ()


def speaker_of(memory: Memory) -> Entity | None:
    """Return the speaker of a memory as a person; None if it has none, or a role of a chat such as ``assistant``."""
    name = " ".join(memory.speaker.split())
    if not name or name.casefold() in ROLES:
        return None
    return Entity(name, "person", memory.scope, confidence=_NAMED_SPEAKER)


def extract(memory: Memory, known: Gazetteer) -> Extracted:
    """Return the conventions, error patterns and facts that a memory's text states by markers.

    ``Convention: kebab-case file names in hooks/`` is a convention, of ``hooks`` if that is known; ``X triggers Y``
    leads from error to error; ``X was fixed by Y`` and ``Fix for X: Y`` to the known entity Y, else to a concept.
    Facts hold from the memory's time on. Each has the sentence as its evidence. Entities have the confidence of their
    marker, and the sentence as description.
    """
    collected = _Collector(memory, known)
    for stated in stated_in(memory.text, memory.speaker):
        collected.add(stated)
    return Extracted(tuple(collected.entities.values()), tuple(collected.facts.values()))


class _Collector:
    """Collects the entities and facts of a memory, each once: the one of the greatest confidence."""

    def __init__(self, memory: Memory, known: Gazetteer) -> None:
        self.entities: dict[EntityKey, Entity] = {}
        self.facts: dict[tuple[str, str, str], Fact] = {}
        self._memory, self._known = memory, known

    def add(self, stated: Stated) -> None:
        """Add what a sentence states; nothing if what it calls an error doesn't sound like one and isn't known."""
        if stated.kind == _CONVENTION:
            self._convention(stated)
        elif stated.kind == "error":
            self._entity(stated.first, _ERROR, stated)
        elif stated.kind == "triggers":
            if self._is_error(stated.first) and self._is_error(stated.second):
                source = self._entity(stated.first, _ERROR, stated)
                self._fact(source, "triggers", self._entity(stated.second, _ERROR, stated), stated)
        elif stated.sure or self._is_error(stated.first):
            target = self._resolved(stated.second, _FIXES)
            if target is None and self._known.resolve(stated.second, ("person",)):
                return  # "fixed by Bob" says who, not how
            source = self._entity(stated.first, _ERROR, stated)
            self._fact(source, "fixed_by", target or self._entity(stated.second, _CONCEPT, stated), stated)

    def _convention(self, stated: Stated) -> None:
        name, place = stated.first, None
        if match := _PLACE.match(stated.first):
            place = self._whole(match["place"], _FOLLOWERS)
            name = match["what"] if place else name
        convention = self._entity(name, _CONVENTION, stated)
        if place is not None:
            self._fact(place, "has_convention", convention, stated)

    def _is_error(self, name: str) -> bool:
        return SOUNDS_WRONG.search(name) is not None or self._known.resolve(name, (_ERROR,)) is not None

    def _whole(self, name: str, types: tuple[str, ...]) -> Entity | None:
        """Return the known entity whose name is ``name``."""
        first, _, rest = name.partition(" ")
        return self._known.resolve(rest if rest and first.casefold() in _DETERMINERS else name, types)

    def _resolved(self, name: str, types: tuple[str, ...]) -> Entity | None:
        """Return the known entity whose name is ``name``, else the only one mentioned in it that is no concept.

        Concepts are named by such clauses themselves, so which of them was first would decide. A file that is mentioned
        with something in it (``reconnect`` in db.ts) doesn't count.
        """
        if whole := self._whole(name, types):
            return whole
        named = frozenset(types) - {_CONCEPT}
        keys = {mention.entity for mention in self._known.mentions(name) if mention.entity.type in named}
        mentioned = [self._known[key] for key in sorted(keys)]
        holding = {file_of(entity) for entity in mentioned if entity.type != "file"}
        left = [entity for entity in mentioned if entity.type != "file" or entity.name not in holding]
        return left[0] if len(left) == 1 else None

    def _entity(self, name: str, kind: str, stated: Stated) -> Entity:
        """Return what a statement names: an entity with this alias, else the first by name of those so spelled."""
        description = "" if stated.sentence == name else stated.sentence
        made = Entity(name, kind, self._memory.scope, description, confidence=stated.confidence)
        known = self._known.called(name, kind)
        others = [entity for entity in known if entity.name.casefold() != name.casefold()]
        named = others[0] if len(others) == 1 else min([made, *known], key=lambda entity: (entity.name, entity.scope))
        return self._mentioned(replace(made, name=named.name, scope=named.scope))

    def _mentioned(self, entity: Entity) -> Entity:
        entity = replace(entity, mention_count=1, created_at=None, updated_at=None)  # a mention of its own
        former = self.entities.get(entity.key, entity)
        self.entities[entity.key] = max(former, entity, key=lambda one: one.confidence)
        return entity

    def _fact(self, source: Entity, kind: str, target: Entity, stated: Stated) -> None:
        if source.key == target.key:
            return
        memory, evidence = self._memory, (evidence_of(self._memory, stated.sentence),)
        for end in (source, target):
            if end.key not in self.entities:  # known, and nothing more is said of it here
                self._mentioned(replace(end, confidence=0.0))
        ends = source.id, kind, target.id
        strength, origin = stated.confidence, {ORIGIN: READ}
        fact = Fact(*ends, memory.time, confidence=strength, scope=memory.scope, evidence=evidence, metadata=origin)
        former = self.facts.get(fact.triple, fact)
        self.facts[fact.triple] = max(former, fact, key=lambda one: one.confidence)
