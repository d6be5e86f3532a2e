"""Check the entities and facts that a file gives with a memory."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any
from zoneinfo import ZoneInfo

from pipeline.domains.memory.records import Entity, Fact, Memory
from pipeline.domains.memory.remember.evidence import evidence_of, sentence_naming
from pipeline.domains.memory.remember.fields import first_of, listed, mapping, name_of
from pipeline.domains.memory.remember.records import Extracted, Given
from pipeline.domains.memory.remember.times import time_of
from pipeline.domains.memory.schema import MEMORY, relation_types
from pipeline.domains.memory.times import zone_named
from pipeline.errors import GraphError, SourceError, did_you_mean
from pipeline.knowledge.check import check_period, check_properties
from pipeline.knowledge.schema import Schema

_ENTITY = 'An entity is {"type": ..., "name": ..., "description": ..., "aliases": [...]}.'
_FACT = 'A fact is {"source": {"type", "name"}, "type": ..., "target": {"type", "name"}, "valid_at": ...}.'
_LONGEST_PROPERTY = 1000
_CERTAIN = 0.9
"""Confidence of what is given without one: someone wrote it down, but nobody checked it."""


def check_given(given: Given, schema: Schema, timezone: str = "UTC") -> Extracted:
    """Return the entities and facts given with a memory; the ends of facts are entities, too.

    A fact without ``valid_at`` holds from the memory's time on, or, if it ended before, since an unknown time, as does
    one whose ``valid_at`` is null. Its evidence is the memory's sentence that names both ends, else the memory's text.
    Raises SourceError, naming file, position and memory, for undeclared types, ends that don't fit, and malformed
    values.
    """
    return _Checker(given, schema, zone_named(timezone)).checked()


class _Checker:
    """Checks what is given with one memory."""

    def __init__(self, given: Given, schema: Schema, local: ZoneInfo) -> None:
        self._given, self._schema, self._zone = given, schema, local
        self._memory: Memory = given.memory
        self._where = f"{given.where} (memory {given.memory.key!r})"

    def checked(self) -> Extracted:
        """Return all of it, each entity once: one with a description or aliases before a bare end of a fact."""
        entities: dict[str, Entity] = {}
        for number, item in enumerate(listed(self._given.entities, "entities", self._where), 1):
            entity = self._entity(item, f"{self._where}, entity {number}")
            entities.setdefault(entity.id, entity)
        facts = []
        for number, item in enumerate(listed(self._given.facts, "facts", self._where), 1):
            where = f"{self._where}, fact {number}"
            value = mapping(item, where, _FACT)
            source = self._entity(value.get("source"), f"{where}, source")
            target = self._entity(value.get("target"), f"{where}, target")
            facts.append(self._fact(value, source, target, where))
            entities.setdefault(source.id, source)
            entities.setdefault(target.id, target)
        return Extracted(tuple(entities.values()), tuple(facts))

    def _entity(self, item: Any, where: str) -> Entity:
        value = mapping(item, where, _ENTITY)
        types = [name for name in self._schema.nodes if name != MEMORY]
        name = name_of(value.get("name"), "name", where)
        if not name.strip():
            raise SourceError(f"{where} has no name.", _ENTITY)
        aliases = (name_of(alias, "alias", where) for alias in listed(value.get("aliases"), "aliases", where))
        description = value.get("description")
        if not isinstance(description, str | None):
            raise SourceError(f"{where}: its description is {description!r}.", "Give a text.")
        try:
            entity = Entity(
                name,
                self._declared(value.get("type"), types, where),
                self._memory.scope,
                description or "",
                tuple(alias for alias in aliases if alias.strip()),
                confidence=self._number(value, "confidence", _CERTAIN, where),
                metadata=_metadata(value, where),
            )
            entity.to_node()  # refuses metadata named like a field of entities
        except GraphError as error:
            raise SourceError(f"{where}: {error.message}", error.fix) from None
        return entity

    def _fact(self, value: Mapping[str, Any], source: Entity, target: Entity, where: str) -> Fact:
        kinds = relation_types(self._schema)
        kind = self._declared(value.get("type"), list(kinds), where)
        for end, entity, allowed in (
            ("source", source, kinds[kind].source),
            ("target", target, kinds[kind].target),
        ):
            fitting = (allowed,) if isinstance(allowed, str) else allowed
            if entity.type not in fitting:
                raise SourceError(
                    f"{where}, {kind!r}: its {end} is a {entity.type}.", f"Its {end} may be: {', '.join(fitting)}."
                )
        valid_at, invalid_at = self._period(value, where)
        sentence = sentence_naming(self._memory.text, (source.name, target.name))
        try:
            return Fact(
                source.id,
                kind,
                target.id,
                valid_at,
                invalid_at,
                self._number(value, "weight", 0.5, where),
                self._number(value, "confidence", _CERTAIN, where),
                self._memory.scope,
                (evidence_of(self._memory, sentence),),
                metadata=_metadata(value, where),
            )
        except GraphError as error:
            raise SourceError(f"{where}: {error.message}", error.fix) from None

    def _period(self, value: Mapping[str, Any], where: str) -> tuple[str | None, str | None]:
        ends = value.get("invalid_at")
        invalid_at = None if ends is None else time_of(ends, self._zone, f"{where}, invalid_at")
        if (begins := value.get("valid_at")) is not None:
            valid_at: str | None = time_of(begins, self._zone, f"{where}, valid_at")
        elif "valid_at" in value or (invalid_at is not None and invalid_at <= self._memory.time):
            valid_at = None
        else:
            valid_at = self._memory.time
        try:
            check_period(valid_at, invalid_at, "valid_at and invalid_at", where)
        except GraphError as error:
            raise SourceError(error.message, error.fix) from None
        return valid_at, invalid_at

    def _declared(self, kind: Any, known: list[str], where: str) -> str:
        if not isinstance(kind, str) or kind not in known:
            fix = did_you_mean(str(kind), known, f"The schema declares: {', '.join(known)}.")
            raise SourceError(f"{where}: its type is {kind!r}.", fix)
        return kind

    def _number(self, value: Mapping[str, Any], name: str, otherwise: float, where: str) -> float:
        number = first_of(value, (name,))
        if number is None:
            return otherwise
        if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number):
            raise SourceError(f"{where}: its {name} is {number!r}.", "Give a number from 0 to 1.")
        if not 0 <= number <= 1:
            raise SourceError(f"{where}: its {name} is {number}.", "Give a number from 0 to 1.")
        return float(number)


def _metadata(value: Mapping[str, Any], where: str) -> dict[str, Any]:
    try:
        return check_properties(value.get("metadata") or {}, where, _LONGEST_PROPERTY)
    except GraphError as error:
        raise SourceError(error.message, error.fix) from None
