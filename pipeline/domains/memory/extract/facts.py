"""Extract conventions, error patterns and facts from the text of a memory, by markers, and concepts from several."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from pipeline.domains.memory.extract.gazetteer import Gazetteer, file_of
from pipeline.domains.memory.extract.markers import SOUNDS_WRONG, Stated, evidence_of, stated_in
from pipeline.domains.memory.records import Entity, EntityKey, Fact, Memory
from pipeline.domains.memory.schema import SCHEMA
from pipeline.text.names import FUNCTION_WORDS, name_key

_NAMED_SPEAKER = 0.9  # confidence that a speaker is a person: chats may have names for programs; chosen by hand

ROLES = frozenset("user assistant system tool human ai bot model developer function unknown".split())
"""Speakers that are roles in a chat and name no person."""

_NUMERIC = re.compile(r"[\W\d_]*")
_PLACE = re.compile(r"^(?P<what>.+)\s(?:in|for|under|within|inside|of)\s(?P<place>[^\s].*)$")
_FIXES = tuple(SCHEMA.edges["fixed_by"].target)
_FOLLOWERS = tuple(SCHEMA.edges["has_convention"].source)
_ERROR, _CONVENTION, _CONCEPT = "error_pattern", "convention", "concept"


@dataclass(frozen=True, slots=True)
class Extracted:
    """Entities that a memory mentions, and facts among these and known entities."""

    entities: tuple[Entity, ...] = ()
    facts: tuple[Fact, ...] = ()


@dataclass(frozen=True, slots=True)
class Concept:
    """A concept, and the keys of the memories that have its name, in order."""

    entity: Entity
    memories: tuple[str, ...]


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


def concepts_from(
    names: Mapping[str, Collection[str]], minimum: int, *, scope: str = "default", taken: Iterable[str] = ()
) -> tuple[Concept, ...]:
    """Return the names that at least ``minimum`` memories have as concepts, the most frequent first, then by name.

    ``names`` has the keys of the memories by name. Spellings of a name (see :func:`~pipeline.text.names.name_key`) are
    one concept, called as most of the memories spell it; the others are its aliases. Numbers, years, single letters and
    function words are no concepts, nor are the names of other entities, ``taken``.
    """
    spellings: dict[str, dict[str, set[str]]] = defaultdict(dict)
    keys = {name_key(name) for name in taken}
    for name, memories in names.items():
        key = name_key(name)
        telling = len(key) > 1 and not _NUMERIC.fullmatch(key) and not FUNCTION_WORDS.issuperset(key.split())
        if telling and key not in keys:
            spellings[key].setdefault(name, set()).update(memories)
    made = (_concept(of_key, scope) for of_key in spellings.values())
    shared = [concept for concept in made if len(concept.memories) >= max(1, minimum)]
    return tuple(sorted(shared, key=lambda concept: (-len(concept.memories), concept.entity.name)))


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
            place = self._resolved(match["place"], _FOLLOWERS)
            name = match["what"] if place else name
        convention = self._entity(name, _CONVENTION, stated)
        if place is not None:
            self._fact(place, "has_convention", convention, stated)

    def _is_error(self, name: str) -> bool:
        return SOUNDS_WRONG.search(name) is not None or self._known.resolve(name, (_ERROR,)) is not None

    def _resolved(self, name: str, types: tuple[str, ...]) -> Entity | None:
        """Return the known entity whose name is ``name``, else the only one mentioned in it.

        A file that is mentioned with something in it (``reconnect`` in db.ts) doesn't count.
        """
        first, _, rest = name.partition(" ")
        bare = rest if rest and first.casefold() in ("the", "a", "an", "our", "all") else name
        if whole := self._known.resolve(bare, types):
            return whole
        keys = {mention.entity for mention in self._known.mentions(name) if mention.entity.type in types}
        mentioned = [self._known[key] for key in sorted(keys)]
        holding = {file_of(entity) for entity in mentioned if entity.type != "file"}
        left = [entity for entity in mentioned if entity.type != "file" or entity.name not in holding]
        return left[0] if len(left) == 1 else None

    def _entity(self, name: str, kind: str, stated: Stated) -> Entity:
        description = "" if stated.sentence == name else stated.sentence
        made = Entity(name, kind, self._memory.scope, description, confidence=stated.confidence)
        return self._mentioned(self._known.resolve(name, (kind,)) or made)

    def _mentioned(self, entity: Entity) -> Entity:
        entity = replace(entity, mention_count=1, created_at=None, updated_at=None)  # a mention of its own
        former = self.entities.get(entity.key, entity)
        self.entities[entity.key] = max(former, entity, key=lambda one: one.confidence)
        return entity

    def _fact(self, source: Entity, kind: str, target: Entity, stated: Stated) -> None:
        if source.key == target.key:
            return
        memory, evidence = self._memory, (evidence_of(self._memory, stated.sentence),)
        ends = self._mentioned(source).id, kind, self._mentioned(target).id
        fact = Fact(*ends, memory.time, confidence=stated.confidence, scope=memory.scope, evidence=evidence)
        former = self.facts.get(fact.triple, fact)
        self.facts[fact.triple] = max(former, fact, key=lambda one: one.confidence)


def _concept(spellings: Mapping[str, set[str]], scope: str) -> Concept:
    name, *aliases = sorted(spellings, key=lambda spelling: (-len(spellings[spelling]), spelling))
    memories = tuple(sorted(set().union(*spellings.values())))
    count = len(memories)
    confidence = round(count / (count + 1), 3)  # 0.667 for two memories, 0.9 for nine
    return Concept(Entity(name, "concept", scope, "", tuple(aliases), count, confidence), memories)
