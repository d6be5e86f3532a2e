"""Changes of facts: each is decided on the versions that are stored, and written in one transaction."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from pipeline.domains.memory.facts import versions as rules
from pipeline.domains.memory.facts.versions import Revision
from pipeline.domains.memory.memory import AgentMemory
from pipeline.domains.memory.records import EntityKey, Fact
from pipeline.domains.memory.schema import MENTIONS
from pipeline.errors import GraphError
from pipeline.knowledge import KnowledgeEdge, KnowledgeNode
from pipeline.knowledge.check import canonical_time
from pipeline.knowledge.clock import now
from pipeline.knowledge.edit import Edits

Triple = tuple[str, str, str]
Versions = Mapping[Triple, Sequence[Fact]]
Change = Callable[[Versions, str], Revision]
"""A function from the stored versions, by triple, and the time of the write, to the revision."""

Rule = Callable[[Sequence[Fact], Fact, str], Revision]
"""A rule of :mod:`pipeline.domains.memory.facts.versions` for a fact and the versions of its triple."""


def add_facts(memory: AgentMemory, facts: Iterable[Fact], *, known_at: str | None = None) -> Revision:
    """Add facts between entities that are there; a fact that is known over the same period gains the evidence.

    ``known_at`` is when they were learned, by default now. Raises GraphError if a relation type isn't declared, doesn't
    join entities of these types, or an entity is missing; then nothing is written.
    """
    return _each(memory, list(facts), rules.add, known_at)


def state_facts(memory: AgentMemory, facts: Iterable[Fact], *, known_at: str | None = None) -> Revision:
    """Write facts that texts state; see :func:`pipeline.domains.memory.facts.versions.state` and :func:`add_facts`.

    The same statements again change nothing, whatever has been revised since.
    """
    return _each(memory, list(facts), rules.state, known_at)


def _each(memory: AgentMemory, facts: list[Fact], apply: Rule, known_at: str | None) -> Revision:
    """Apply a rule to facts one after the other."""
    check(memory, facts)

    def change(stored: Versions, time: str) -> Revision:
        known = {triple: list(versions) for triple, versions in stored.items()}
        revisions = []
        for fact in facts:
            versions = known.setdefault(fact.triple, [])
            revision = apply(versions, fact, time)
            known[fact.triple] = after(versions, revision)
            revisions.append(revision)
        return combined(revisions)

    return revise(memory, [fact.triple for fact in facts], change, known_at=known_at)


def invalidate(memory: AgentMemory, triple: Triple, at: str, evidence: str, *, known_at: str | None = None) -> Revision:
    """End a fact in the world ``at`` a time; see :func:`pipeline.domains.memory.facts.versions.invalidate`."""
    at = _time(at, "The end of the fact")
    return revise(
        memory,
        [triple],
        lambda stored, time: rules.invalidate(stored.get(triple, ()), at, evidence, time),
        known_at=known_at,
    )


def supersede(
    memory: AgentMemory, triple: Triple, by: Fact, at: str, evidence: str, *, known_at: str | None = None
) -> Revision:
    """End a fact ``at`` a time and let another hold from then, both or neither; each keeps the evidence."""
    at = _time(at, "The time of the change")
    new = replace(by, valid_at=at, evidence=tuple(dict.fromkeys((*by.evidence, evidence))))
    check(memory, [new])
    if new.triple == triple:
        raise GraphError("A fact can't supersede itself.", "Invalidate it, or name another target.")

    def change(stored: Versions, time: str) -> Revision:
        ended = rules.invalidate(stored.get(triple, ()), at, evidence, time)
        return combined([ended, rules.add(stored.get(new.triple, ()), new, time)])

    return revise(memory, [triple, new.triple], change, known_at=known_at)


def retract(
    memory: AgentMemory,
    triple: Triple,
    evidence: str,
    *,
    version_id: str | None = None,
    known_at: str | None = None,
) -> Revision:
    """Withdraw a fact that never held; see :func:`pipeline.domains.memory.facts.versions.retract`."""
    return revise(
        memory,
        [triple],
        lambda stored, time: rules.retract(stored.get(triple, ()), evidence, time, version_id),
        known_at=known_at,
    )


def revise(memory: AgentMemory, triples: Sequence[Triple], change: Change, *, known_at: str | None = None) -> Revision:
    """Write what ``change`` makes of the stored versions of some triples, while nobody else writes."""
    given = canonical_time(known_at, "known_at")

    def decide(_: Mapping[str, KnowledgeNode], edges: Sequence[KnowledgeEdge]) -> tuple[Edits, Revision]:
        stored = by_triple(edges, set(triples))
        revision = change(stored, given or _after(stored))
        return edits_of(revision), revision

    ends = {end for source, _, target in triples for end in (source, target)}
    return memory.graph(create=True).edit(ends, decide, edge_types=sorted({kind for _, kind, _ in triples}))


def by_triple(edges: Iterable[KnowledgeEdge], wanted: set[Triple]) -> dict[Triple, list[Fact]]:
    """Return the versions of wanted triples, in the order in which they became known."""
    versions: dict[Triple, list[Fact]] = {}
    for edge in edges:
        if (edge.source, edge.type, edge.target) in wanted:
            versions.setdefault((edge.source, edge.type, edge.target), []).append(Fact.of(edge))
    for known in versions.values():
        known.sort(key=lambda fact: (fact.created_at or "", fact.valid_at or "", fact.id))
    return versions


def edits_of(revision: Revision) -> Edits:
    """Return the edits that write a revision; a version that is added at the instant of its expiry stays believed."""
    by_id = {fact.id: fact for fact in (*revision.expired, *revision.added)}
    return Edits(edges=[fact.to_edge() for fact in by_id.values()])


def after(versions: Sequence[Fact], revision: Revision) -> list[Fact]:
    """Return the versions of a triple after a revision of it."""
    by_id = {fact.id: fact for fact in (*versions, *revision.expired, *revision.added)}
    return list(by_id.values())


def combined(revisions: Iterable[Revision]) -> Revision:
    """Return several revisions as one, in which a later one replaces what an earlier one says of a version."""
    expired: dict[str, Fact] = {}
    added: dict[str, Fact] = {}
    for revision in revisions:
        for fact in revision.expired:
            added.pop(fact.id, None)
            expired[fact.id] = fact
        for fact in revision.added:
            expired.pop(fact.id, None)
            added[fact.id] = fact
    return Revision(tuple(expired.values()), tuple(added.values()))


def check(memory: AgentMemory, facts: Iterable[Fact]) -> None:
    """Raise GraphError unless the schema declares the types of these facts and of their entities."""
    facts = list(facts)
    for fact in facts:
        if fact.type == MENTIONS:
            raise GraphError(f"{MENTIONS} is no type of facts.", "Texts mention entities by themselves.")
    ends = dict.fromkeys(end for fact in facts for end in (fact.source, fact.target))
    nodes = [KnowledgeNode(end, EntityKey.of(end).type) for end in ends]
    memory.schema.check(nodes, [fact.to_edge() for fact in facts])


def renamed(fact: Fact, into: Mapping[str, str]) -> Fact:
    """Return a fact between the survivors of entities that were merged; ``into`` has these by id."""
    return replace(fact, source=into.get(fact.source, fact.source), target=into.get(fact.target, fact.target))


def _after(stored: Versions) -> str:
    """Return the time of a write: now, but not before what is stored became known, whatever another clock said."""
    known = (fact.created_at or "" for versions in stored.values() for fact in versions)
    return max(now(), *known, "")


def _time(text: str, where: str) -> str:
    return str(canonical_time(text, where))
