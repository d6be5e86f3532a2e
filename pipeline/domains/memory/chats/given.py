"""Check the entities and facts that a file gives with a memory."""

from dataclasses import dataclass
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from pydantic import Field

from pipeline.domains.memory.chats.messages import GUARD, Given, Name, Properties, Record
from pipeline.domains.memory.extract.facts import Extracted
from pipeline.domains.memory.extract.markers import evidence_of, sentence_naming
from pipeline.domains.memory.records import Entity, Fact, Memory
from pipeline.domains.memory.schema import MEMORY, relation_types
from pipeline.domains.memory.times import time_of
from pipeline.errors import GraphError, SourceError, did_you_mean
from pipeline.files.validated import validated
from pipeline.knowledge.check import check_period
from pipeline.knowledge.schema import Schema

_CERTAIN = 0.9
"""Confidence of entities and facts without one: someone wrote it down, but nobody checked it. Chosen by hand."""

_Share = Annotated[float, Field(ge=0, le=1)]


class _Entity(Record):
    type: str
    name: Annotated[Name, Field(pattern=r"\S")]
    description: str = ""
    aliases: list[Name] = Field(default_factory=list)
    confidence: _Share = _CERTAIN
    metadata: Properties = Field(default_factory=dict)


class _Fact(Record):
    _nullable = ("valid_at",)  # null means an unknown time, a missing field the memory's

    source: _Entity
    type: str
    target: _Entity
    valid_at: Any = None
    invalid_at: Any = None
    weight: _Share = 0.5  # as for a fact that is added
    confidence: _Share = _CERTAIN
    metadata: Properties = Field(default_factory=dict)


class _Given(Record):
    entities: list[Any] = Field(default_factory=list)
    facts: list[Any] = Field(default_factory=list)


def check_given(given: Given, schema: Schema, zone: ZoneInfo) -> Extracted:
    """Return the entities and facts given with a memory; the ends of facts are entities, too.

    A fact without ``valid_at`` holds from the memory's time on, or, if it ended before, since an unknown time, as does
    one whose ``valid_at`` is null. Its evidence is the memory's sentence that names both ends, else the memory's text.
    Raises SourceError, naming file, position and memory, for undeclared types, ends that don't fit, and malformed
    values. Of an entity given twice, one with a description or aliases counts before a bare end of a fact.
    """
    where = f"{given.where} (memory {given.memory.key!r})"
    checker = _Checker(given.memory, schema, zone)
    items = validated(_Given, {"entities": given.entities, "facts": given.facts}, where, GUARD)
    entities: dict[str, Entity] = {}
    for number, item in enumerate(items.entities, 1):
        at = f"{where}, entity {number}"
        entity = checker.entity(validated(_Entity, item, at, GUARD), at)
        entities.setdefault(entity.id, entity)
    facts = []
    for number, item in enumerate(items.facts, 1):
        at = f"{where}, fact {number}"
        fact = validated(_Fact, item, at, GUARD)
        source, target = checker.entity(fact.source, f"{at}, source"), checker.entity(fact.target, f"{at}, target")
        facts.append(checker.fact(fact, source, target, at))
        entities.setdefault(source.id, source)
        entities.setdefault(target.id, target)
    return Extracted(tuple(entities.values()), tuple(facts))


@dataclass(frozen=True, slots=True)
class _Checker:
    memory: Memory
    schema: Schema
    zone: ZoneInfo

    def entity(self, item: _Entity, where: str) -> Entity:
        _check_declared(item.type, [name for name in self.schema.nodes if name != MEMORY], where)
        fields = item.model_dump() | {"aliases": tuple(alias for alias in item.aliases if alias.strip())}
        entity = Entity(scope=self.memory.scope, **fields)
        try:
            entity.to_node()  # refuses metadata named like a field of entities
        except GraphError as error:
            raise SourceError(f"{where}: {error.message}", error.fix) from None
        return entity

    def fact(self, item: _Fact, source: Entity, target: Entity, where: str) -> Fact:
        kinds = relation_types(self.schema)
        _check_declared(item.type, list(kinds), where)
        ends = (("source", source, kinds[item.type].source), ("target", target, kinds[item.type].target))
        for end, entity, allowed in ends:
            fitting = (allowed,) if isinstance(allowed, str) else allowed
            if entity.type not in fitting:
                raise SourceError(
                    f"{where}, {item.type!r}: its {end} is a {entity.type}.", f"Its {end} may be: {', '.join(fitting)}."
                )
        sentence = sentence_naming(self.memory.text, (source.name, target.name))
        try:
            valid_at, invalid_at = self._period(item, where)
            check_period(valid_at, invalid_at, "valid_at and invalid_at", where)
            return Fact(
                source.id,
                item.type,
                target.id,
                valid_at,
                invalid_at,
                scope=self.memory.scope,
                evidence=(evidence_of(self.memory, sentence),),
                **item.model_dump(include={"weight", "confidence", "metadata"}),
            )
        except GraphError as error:
            message = error.message if error.message.startswith(where) else f"{where}: {error.message}"
            raise SourceError(message, error.fix) from None

    def _period(self, item: _Fact, where: str) -> tuple[str | None, str | None]:
        invalid_at = None if item.invalid_at is None else time_of(item.invalid_at, self.zone, f"{where}, invalid_at")
        if item.valid_at is not None:
            return time_of(item.valid_at, self.zone, f"{where}, valid_at"), invalid_at
        if "valid_at" in item.model_fields_set or (invalid_at is not None and invalid_at <= self.memory.time):
            return None, invalid_at
        return self.memory.time, invalid_at


def _check_declared(kind: str, declared: list[str], where: str) -> None:
    if kind not in declared:
        fix = did_you_mean(kind, declared, f"The schema declares: {', '.join(declared)}.")
        raise SourceError(f"{where} has the `type` {kind!r}, which isn't declared.", fix)
