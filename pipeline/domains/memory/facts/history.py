"""The history of facts, and the conflicts among those that are believed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from pipeline.domains.memory.facts.versions import overlap
from pipeline.domains.memory.memory import AgentMemory, read_fact
from pipeline.domains.memory.records import Entity, Fact
from pipeline.domains.memory.schema import MENTIONS


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two believed versions that can't both be right, and why. Nothing is decided between them."""

    one: Fact
    other: Fact
    reason: str


def history(memory: AgentMemory, entity: Entity, type_: str | None = None, other: Entity | None = None) -> list[Fact]:
    """Return every version of the facts of an entity, by the time from which they hold, then that of being known."""
    memory.check_relations([type_] if type_ else None)
    rows = memory.rows(
        "memory_versions",
        key=memory.keys([entity.id])[0],
        excluded=MENTIONS,
        type=type_,
        other=memory.keys([other.id])[0] if other else None,
    )
    return [read_fact(row) for row in rows]


def conflicts(memory: AgentMemory, scope: str | None = None) -> list[Conflict]:
    """Return the conflicts among the facts that are believed, in order of their facts.

    These are versions of one fact that overlap, of which one ends and the other doesn't end then; and, for the relation
    types of the setting ``exclusive``, facts of one source with different targets that hold at the same time.
    """
    rows = memory.rows("memory_believed_facts", label=memory.label, excluded=MENTIONS, types=None, scope=scope)
    return find_conflicts([read_fact(row) for row in rows], memory.settings.exclusive)


def find_conflicts(facts: Sequence[Fact], exclusive: Sequence[str]) -> list[Conflict]:
    """Return the conflicts among believed facts; see :func:`conflicts`."""
    same = _pairs(facts, lambda fact: fact.triple)
    found = [
        Conflict(one, other, "the same fact ends at different times")
        for one, other in same
        if one.invalid_at != other.invalid_at and overlap(one, other)
    ]
    single = [fact for fact in facts if fact.type in exclusive]
    found += [
        Conflict(one, other, f"{one.type} has one target at a time")
        for one, other in _pairs(single, lambda fact: (fact.source, fact.type))
        if one.target != other.target and overlap(one, other)
    ]
    return sorted(found, key=lambda conflict: (conflict.one.triple, conflict.other.triple, conflict.reason))


def _pairs(facts: Iterable[Fact], key: Callable[[Fact], Hashable]) -> Iterable[tuple[Fact, Fact]]:
    groups: defaultdict[Hashable, list[Fact]] = defaultdict(list)
    for fact in facts:
        groups[key(fact)].append(fact)
    for group in groups.values():
        ordered = sorted(group, key=lambda fact: (fact.valid_at or "", fact.target, fact.invalid_at or "", fact.id))
        yield from combinations(ordered, 2)
