"""Check the entities and facts that a file gives with a memory."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from pydantic import Field

from pipeline.domains.memory.chats.messages import GUARD, Given, Name, Properties, Record, reason
from pipeline.domains.memory.extract.facts import Extracted
from pipeline.domains.memory.extract.markers import evidence_of, sentence_naming
from pipeline.domains.memory.records import Entity, Fact, Memory
from pipeline.domains.memory.schema import MEMORY, relation_types
from pipeline.domains.memory.times import time_of
from pipeline.errors import GraphError, SourceError, did_you_mean
from pipeline.files.validated import validated
from pipeline.knowledge.check import check_period
from pipeline.knowledge.schema import Schema
from pipeline.records import Skipped

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


def check_given(given: Given, schema: Schema, zone: ZoneInfo, left_out: list[Skipped] | None = None) -> Extracted:
    """Return the entities and facts given with a memory; the ends of facts are entities, too.

    A fact without ``valid_at`` holds from the memory's time on, or, if it ended before, since an unknown time, as does
    one whose ``valid_at`` is null. Its evidence is the memory's sentence that names both ends, else the memory's text.
    Of an entity given twice, one with a description or aliases counts before a bare end of a fact. One with an
    undeclared type, ends that don't fit, or a malformed value costs no other: it is added to ``left_out``. Without such
    a list SourceError is raised for the first, naming file, position and memory.
    """
    where = f"{given.where} (memory {given.memory.key!r})"
    checker = _Checker(given.memory, schema, zone)
    entities: dict[str, Entity] = {}
    facts: list[Fact] = []

    @contextmanager
    def kept(at: str) -> Iterator[None]:
        try:
            yield
        except SourceError as error:
            if left_out is None:
                raise
            left_out.append(Skipped(at, reason(error, at)))

    with kept(where):
        for number, item in enumerate(validated(_Given, {"entities": given.entities}, where, GUARD).entities, 1):
            with kept(at := f"{where}, entity {number}"):
                entity = checker.entity(validated(_Entity, item, at, GUARD), at)
                entities.setdefault(entity.id, entity)
    with kept(where):
        for number, item in enumerate(validated(_Given, {"facts": given.facts}, where, GUARD).facts, 1):
            with kept(at := f"{where}, fact {number}"):
                fact, ends = checker.fact(validated(_Fact, item, at, GUARD), at)
                facts.append(fact)
                for end in ends:
                    entities.setdefault(end.id, end)
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

    def fact(self, item: _Fact, where: str) -> tuple[Fact, tuple[Entity, Entity]]:
        """Return a fact and its ends."""
        source, target = self.entity(item.source, f"{where}, source"), self.entity(item.target, f"{where}, target")
        kinds = relation_types(self.schema)
        _check_declared(item.type, list(kinds), where)
        for end, entity in (("source", source), ("target", target)):
            allowed = getattr(kinds[item.type], end)
            fitting = (allowed,) if isinstance(allowed, str) else allowed
            if entity.type not in fitting:
                message = f"{where}, {item.type!r}: its {end} is a {entity.type}."
                raise SourceError(message, f"Its {end} may be: {', '.join(fitting)}.")
        evidence = evidence_of(self.memory, sentence_naming(self.memory.text, (source.name, target.name)))
        own = item.model_dump(include={"weight", "confidence", "metadata"})
        try:
            period = self._period(item, where)
            check_period(*period, "valid_at and invalid_at", where)
            ends = source.id, item.type, target.id
            return Fact(*ends, *period, scope=self.memory.scope, evidence=(evidence,), **own), (source, target)
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
