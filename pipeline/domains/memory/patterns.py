"""The query patterns of a memory: what is related to an entity, how, and since when.

Each takes the time of the question: only entities and facts that existed at that time count.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from pipeline.domains.memory.extract.markers import evidence_of, sentence_naming
from pipeline.domains.memory.memory import AgentMemory, read_entity, read_fact
from pipeline.domains.memory.records import NOW, Entity, Fact, Memory, When
from pipeline.domains.memory.schema import MEMORY, MENTIONS
from pipeline.domains.memory.versions import overlap
from pipeline.grouping import grouped
from pipeline.knowledge import Direction, explore


@dataclass(frozen=True, slots=True)
class Related:
    """A fact and the entity at its other end."""

    fact: Fact
    entity: Entity


@dataclass(frozen=True, slots=True)
class Near:
    """An entity within some hops, with the score of the strongest path to it (:class:`pipeline.knowledge.Reached`)."""

    entity: Entity
    hops: int
    score: float


@dataclass(frozen=True, slots=True)
class Around:
    """The neighbourhood of an entity: the entities in it, itself first, and all facts among them."""

    entities: tuple[Entity, ...]
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Connected:
    """An entity with the number of its facts."""

    entity: Entity
    outgoing: int
    incoming: int


def related(
    memory: AgentMemory,
    entity: Entity,
    types: Sequence[str] | None = None,
    when: When = NOW,
    limit: int = 100,
    *,
    reverse: bool = False,
) -> list[Related]:
    """Return what an entity relates to, or with ``reverse`` what relates to it, heaviest facts first.

    If ``types`` name mentions, the texts that mention it come after its facts, by time.
    """
    direction, types = Direction.IN if reverse else Direction.OUT, memory.check_relations(types)
    found = [one for _, one in facts_of(memory, [entity.id], when, types=types, direction=direction, limit=limit)]
    texts = mentioning(memory, entity, when) if reverse and types and MENTIONS in types else ()
    return [*found, *(_mention(text, entity) for text in texts)][:limit]


def mentioning(memory: AgentMemory, entity: Entity, when: When = NOW) -> list[Memory]:
    """Return the texts that mention an entity, by time."""
    return memory.texts(memory.texts_of(entity.id, when))


def mentioned(memory: AgentMemory, text: str, when: When = NOW) -> list[Entity]:
    """Return the entities that the text with a key mentions, those with the most mentions first.

    Raises GraphError if there is no such text.
    """
    ids = [memory.text(text).node_id]
    rows = memory.read("memory_mentioned_at", when, ids=ids, type=MENTIONS)
    nodes = memory.graph_at(when).get_nodes([row["entity"] for row in rows])
    return sorted(map(Entity.of, nodes), key=lambda entity: (-entity.mention_count, entity.id))


def _mention(text: Memory, entity: Entity) -> Related:
    """Return a mention as a fact of the text, from when it was said on, with the sentence as its evidence."""
    evidence = (evidence_of(text, sentence_naming(text.text, [entity.name])),)
    fact = Fact(text.node_id, MENTIONS, entity.id, text.time, scope=text.scope, evidence=evidence)
    return Related(fact, Entity(text.key, MEMORY, text.scope, text.text, mention_count=0))


def hops(
    memory: AgentMemory,
    entity: Entity,
    depth: int = 2,
    types: Sequence[str] | None = None,
    when: When = NOW,
    *,
    direction: Direction | str = Direction.OUT,
    limit: int = 100,
) -> list[Near]:
    """Return the entities within ``depth`` facts of an entity, nearest first; see :func:`explore.near`."""
    followed = _followed(memory, types)
    reached = explore.near(memory.graph_at(when), entity.id, depth, limit=limit, types=followed, direction=direction)
    return [Near(Entity.of(one.node), one.hops, one.score) for one in reached if one.node.type != MEMORY]


def subgraph(
    memory: AgentMemory,
    entity: Entity,
    depth: int = 1,
    types: Sequence[str] | None = None,
    when: When = NOW,
    limit: int = 100,
) -> Around:
    """Return the entities within ``depth`` facts in any direction, and the facts among all of them."""
    near = hops(memory, entity, depth, types, when, direction=Direction.BOTH, limit=limit)
    entities = (entity, *(one.entity for one in near))
    wanted = _followed(memory, types)
    edges = memory.graph_at(when).get_subgraph([one.id for one in entities]).edges()
    facts = sorted((Fact.of(edge) for edge in edges if edge.type in wanted), key=_order)
    return Around(entities, tuple(facts))


def path(
    memory: AgentMemory,
    source: Entity,
    target: Entity,
    depth: int = 3,
    types: Sequence[str] | None = None,
    when: When = NOW,
    *,
    direction: Direction | str = Direction.OUT,
) -> list[Related]:
    """Return the steps of a shortest path of at most ``depth`` facts; empty if there is none.

    Each step is a fact and the entity that it leads to.
    """
    followed = _followed(memory, types)
    found = explore.path(memory.graph_at(when), source.id, target.id, depth, types=followed, direction=direction)
    return [
        Related(min(map(Fact.of, edges), key=lambda fact: (-fact.weight, *_order(fact))), Entity.of(node))
        for node, edges in zip(found.nodes[1:], found.steps, strict=True)
    ]


def by_type(
    memory: AgentMemory, type_: str, scope: str | None = None, when: When = NOW, limit: int = 100
) -> list[Entity]:
    """Return the entities of a type at that time, those with the most mentions first."""
    memory.check_type(type_)
    rows = memory.read("memory_entities_of_type", when, type=type_, scope=scope, limit=limit)
    return [read_entity(row["stored"]) for row in rows]


def most_connected(
    memory: AgentMemory, type_: str | None = None, scope: str | None = None, when: When = NOW, limit: int = 10
) -> list[Connected]:
    """Return the entities with the most facts."""
    memory.check_type(type_)
    rows = memory.read(
        "memory_most_connected", when, label=memory.label, excluded=MENTIONS, type=type_, scope=scope, limit=limit
    )
    return [Connected(read_entity(row["stored"]), row["outgoing"], row["incoming"]) for row in rows]


def facts_of(
    memory: AgentMemory,
    ids: Sequence[str],
    when: When = NOW,
    *,
    types: Sequence[str] | None = None,
    direction: Direction = Direction.BOTH,
    limit: int = 1_000,
) -> list[tuple[str, Related]]:
    """Return the facts of several entities, heaviest first, each with the id of the entity whose it is."""
    rows = memory.read(
        "memory_facts_of", when, ids=ids, types=types, excluded=MENTIONS, direction=direction.value, limit=limit
    )
    others = [row for row in rows if row["other"]["type"] != MEMORY]
    return [(row["entity"], Related(read_fact(row), read_entity(row["other"]))) for row in others]


def _order(fact: Fact) -> tuple[str, ...]:
    return (*fact.triple, fact.valid_at or "", fact.created_at or "")


def _followed(memory: AgentMemory, types: Sequence[str] | None) -> list[str]:
    return memory.check_relations(types) or list(memory.relations)


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two believed versions that can't both be right, and why. Nothing is decided between them."""

    one: Fact
    other: Fact
    reason: str


def history(memory: AgentMemory, entity: Entity, type_: str | None = None, other: Entity | None = None) -> list[Fact]:
    """Return every version of the facts of an entity, by the time from which they hold, then that of being known."""
    memory.check_relations([type_] if type_ else None)
    key, end = memory.keys([entity.id])[0], memory.keys([other.id])[0] if other else None
    rows = memory.rows("memory_versions", key=key, excluded=MENTIONS, type=type_, other=end)
    return list(map(read_fact, rows))


def conflicts(memory: AgentMemory, scope: str | None = None) -> list[Conflict]:
    """Return the conflicts among the facts that are believed, in order of their facts.

    Two versions of a fact conflict if they overlap and end at different times; two facts of one source with different
    targets if their relation type is in the setting ``exclusive`` and they hold at the same time.
    """
    rows = memory.rows("memory_believed_facts", label=memory.label, excluded=MENTIONS, types=None, scope=scope)
    return find_conflicts(list(map(read_fact, rows)), memory.settings.exclusive)


def find_conflicts(facts: Sequence[Fact], exclusive: Sequence[str]) -> list[Conflict]:
    """Return the conflicts among believed facts; see :func:`conflicts`."""
    found = [
        Conflict(one, other, "the same fact ends at different times")
        for one, other in _pairs(facts, lambda fact: fact.triple)
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
    for group in grouped((key(fact), fact) for fact in facts).values():
        ordered = sorted(group, key=lambda fact: (fact.valid_at or "", fact.target, fact.invalid_at or "", fact.id))
        yield from combinations(ordered, 2)
