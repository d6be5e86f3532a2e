"""Extract conventions, error patterns and facts from the text of a memory, by markers."""

from __future__ import annotations

import re
from dataclasses import replace

from pipeline.domains.memory.records import Entity, EntityKey, Fact, Memory
from pipeline.domains.memory.remember.evidence import evidence_of
from pipeline.domains.memory.remember.markers import Stated, sounds_like_error, stated_in
from pipeline.domains.memory.remember.mentions import Gazetteer
from pipeline.domains.memory.remember.records import Extracted
from pipeline.domains.memory.remember.spellings import file_of
from pipeline.domains.memory.schema import SCHEMA

ROLES = frozenset("user assistant system tool human ai bot model developer function unknown".split())
"""Speakers that are roles in a chat and name no person."""

_PLACE = re.compile(r"^(?P<what>.+)\s(?:in|for|under|within|inside|of)\s(?P<place>[^\s].*)$")
_FIXES = tuple(SCHEMA.edges["fixed_by"].target)
_FOLLOWERS = tuple(SCHEMA.edges["has_convention"].source)
_ERROR, _CONVENTION, _CONCEPT = "error_pattern", "convention", "concept"


def speaker_of(memory: Memory) -> Entity | None:
    """Return the speaker of a memory as a person; None if it has none, or a role of a chat such as ``assistant``."""
    name = " ".join(memory.speaker.split())
    if not name or name.casefold() in ROLES:
        return None
    return Entity(name, "person", memory.scope, confidence=0.9)


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
            self._fix(stated)

    def _convention(self, stated: Stated) -> None:
        name, place = stated.first, None
        if match := _PLACE.match(stated.first):
            place = self._found(match["place"], _FOLLOWERS)
            name = match["what"] if place else name
        convention = self._entity(name, _CONVENTION, stated)
        if place is not None:
            self._fact(place, "has_convention", convention, stated)

    def _fix(self, stated: Stated) -> None:
        target = self._found(stated.second, _FIXES)
        if target is None and self._known.resolve(stated.second, ("person",)):
            return  # "fixed by Bob" says who, not how
        source = self._entity(stated.first, _ERROR, stated)
        self._fact(source, "fixed_by", target or self._entity(stated.second, _CONCEPT, stated), stated)

    def _is_error(self, name: str) -> bool:
        return sounds_like_error(name) or self._known.resolve(name, (_ERROR,)) is not None

    def _found(self, said: str, types: tuple[str, ...]) -> Entity | None:
        """Return the known entity that ``said`` names as a whole, or else the only one that it mentions.

        A file that is mentioned with something in it (``reconnect`` in db.ts) doesn't count.
        """
        if whole := self._known.resolve(_without_article(said), types):
            return whole
        keys = {mention.entity for mention in self._known.mentions(said) if mention.entity.type in types}
        mentioned = [self._known[key] for key in sorted(keys)]
        holding = {file_of(entity) for entity in mentioned if entity.type != "file"}
        told = [entity for entity in mentioned if entity.type != "file" or entity.name not in holding]
        return told[0] if len(told) == 1 else None

    def _entity(self, name: str, kind: str, stated: Stated) -> Entity:
        if known := self._known.resolve(name, (kind,)):
            return self._mentioned(known)
        description = "" if stated.sentence == name else stated.sentence
        made = Entity(name, kind, self._memory.scope, description, confidence=stated.confidence)
        return self._mentioned(made)

    def _mentioned(self, entity: Entity) -> Entity:
        entity = replace(entity, mention_count=1, created_at=None, updated_at=None)  # met once here
        held = self.entities.get(entity.key)
        if held is None or held.confidence < entity.confidence:
            self.entities[entity.key] = entity
        return entity

    def _fact(self, source: Entity, kind: str, target: Entity, stated: Stated) -> None:
        if source.key == target.key:
            return
        self._mentioned(source)
        self._mentioned(target)
        fact = Fact(
            source.id,
            kind,
            target.id,
            valid_at=self._memory.time,
            confidence=stated.confidence,
            scope=self._memory.scope,
            evidence=(evidence_of(self._memory, stated.sentence),),
        )
        held = self.facts.get(fact.triple)
        if held is None or held.confidence < fact.confidence:
            self.facts[fact.triple] = fact


def _without_article(said: str) -> str:
    first, _, rest = said.partition(" ")
    return rest if rest and first.casefold() in ("the", "a", "an", "our", "all") else said
