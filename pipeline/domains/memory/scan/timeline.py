"""The facts of one state after another, and the periods in which they held."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping
from dataclasses import replace

from pipeline.domains.memory.records import Entity, EntityKey
from pipeline.domains.memory.scan.records import Findings, Span, Strength, Triple


class Timeline:
    """Collects findings by unit, a file for example, and closes a state at a time.

    A fact that two units tell holds as long as either does, with the greater strength.
    """

    def __init__(self) -> None:
        self._units: dict[Hashable, Mapping[Triple, Strength]] = {}
        self._told: dict[Triple, Counter[Strength]] = defaultdict(Counter)
        self._touched: set[Triple] = set()
        self._open: dict[Triple, tuple[Strength, str]] = {}
        self._closed: list[Span] = []
        self._entities: dict[EntityKey, Entity] = {}

    def replace(self, unit: Hashable, findings: Findings | None) -> None:
        """Put the findings of a unit in place of its former ones; None for a unit that is gone."""
        old = self._units.pop(unit, {})
        new: Mapping[Triple, Strength] = findings.facts if findings else {}
        for triple, strength in old.items() - new.items():
            self._told[triple][strength] -= 1
            self._touched.add(triple)
        for triple, strength in new.items() - old.items():
            self._told[triple][strength] += 1
            self._touched.add(triple)
        if findings is not None:
            self._units[unit] = new
            self._remember(findings.entities)

    def close(self, time: str) -> None:
        """End the state: facts that begin or end with it do so at ``time``, which is later than that of the last."""
        for triple in self._touched:
            told = +self._told[triple]
            strength = max(told) if told else None
            if not told:
                del self._told[triple]
            known = self._open.get(triple)
            if known and known[0] == strength:
                continue
            if known:
                self._closed.append(Span(*triple, *known[0], known[1], time))
                del self._open[triple]
            if strength:
                self._open[triple] = strength, time
        self._touched.clear()

    def spans(self) -> tuple[Span, ...]:
        """Return the periods of all facts, by triple and time."""
        opened = (Span(*triple, *strength, since) for triple, (strength, since) in self._open.items())
        return tuple(sorted((*self._closed, *opened), key=lambda span: (span.triple, span.valid_at)))

    def entities(self) -> tuple[Entity, ...]:
        """Return all entities that occurred, by id, each as it was told last, with its last description."""
        return tuple(sorted(self._entities.values(), key=lambda entity: entity.id))

    def _remember(self, entities: Mapping[EntityKey, Entity]) -> None:
        for key, entity in entities.items():
            known = self._entities.get(key)
            if known is not None and known != entity:
                entity = replace(
                    entity,
                    description=entity.description or known.description,
                    aliases=entity.aliases or known.aliases,
                    metadata={**known.metadata, **entity.metadata},
                )
            self._entities[key] = entity
