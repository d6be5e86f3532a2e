"""Changes of facts: each is decided on the versions that are stored, and written in one transaction."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from pipeline.domains.memory import versions as rules
from pipeline.domains.memory.memory import AgentMemory
from pipeline.domains.memory.records import EntityKey, Fact
from pipeline.domains.memory.schema import MENTIONS
from pipeline.domains.memory.versions import Revision
from pipeline.errors import GraphError
from pipeline.grouping import grouped
from pipeline.knowledge import KnowledgeEdge, KnowledgeNode
from pipeline.knowledge.check import canonical_time
from pipeline.knowledge.clock import now
from pipeline.knowledge.edit import Edits

Triple = tuple[str, str, str]
Versions = Mapping[Triple, Sequence[Fact]]
Change = Callable[[Versions, str], Revision]
"""A function from the stored versions, by triple, and the time of the write, to the revision."""

Rule = Callable[[Sequence[Fact], Fact, str], Revision]
"""A rule of :mod:`pipeline.domains.memory.versions` for a fact and the versions of its triple."""


def add_facts(
    memory: AgentMemory, facts: Iterable[Fact], *, rule: Rule = rules.add, known_at: str | None = None
) -> Revision:
    """Add facts between stored entities, one after the other, by a rule: ``add``, or ``state`` for what texts state.

    ``known_at`` is when they were learned, by default now. Raises GraphError if a relation type isn't declared, doesn't
    join entities of these types, or an entity is missing; then nothing is written.
    """
    facts = list(facts)
    _check(memory, facts)

    def change(stored: Versions, time: str) -> Revision:
        known = {triple: list(versions) for triple, versions in stored.items()}
        revisions = []
        for fact in facts:
            versions = known.setdefault(fact.triple, [])
            revisions.append(rule(versions, fact, time))
            known[fact.triple] = after(versions, revisions[-1])
        return _combined(revisions)

    return _revise(memory, [fact.triple for fact in facts], change, known_at)


def invalidate(memory: AgentMemory, triple: Triple, at: str, evidence: str, *, known_at: str | None = None) -> Revision:
    """End a fact in the world ``at`` a time; see :func:`pipeline.domains.memory.versions.invalidate`."""
    end = str(canonical_time(at, "The end of the fact"))
    return _revise(
        memory, [triple], lambda known, time: rules.invalidate(known.get(triple, ()), end, evidence, time), known_at
    )


def supersede(
    memory: AgentMemory, triple: Triple, by: Fact, at: str, evidence: str, *, known_at: str | None = None
) -> Revision:
    """End a fact ``at`` a time and let another hold from then, both or neither; each keeps the evidence."""
    end = str(canonical_time(at, "The time of the change"))
    new = replace(by, valid_at=end, evidence=tuple(dict.fromkeys((*by.evidence, evidence))))
    _check(memory, [new])
    if new.triple == triple:
        raise GraphError("A fact can't supersede itself.", "Invalidate it, or name another target.")

    def change(stored: Versions, time: str) -> Revision:
        ended = rules.invalidate(stored.get(triple, ()), end, evidence, time)
        return _combined([ended, rules.add(stored.get(new.triple, ()), new, time)])

    return _revise(memory, [triple, new.triple], change, known_at)


def retract(
    memory: AgentMemory, triple: Triple, evidence: str, *, version_id: str | None = None, known_at: str | None = None
) -> Revision:
    """Withdraw a fact that never held; see :func:`pipeline.domains.memory.versions.retract`."""
    return _revise(
        memory, [triple], lambda known, time: rules.retract(known.get(triple, ()), evidence, time, version_id), known_at
    )


def _revise(memory: AgentMemory, triples: Sequence[Triple], change: Change, known_at: str | None) -> Revision:
    """Write what ``change`` makes of the stored versions of some triples, while nobody else writes."""
    given, wanted = canonical_time(known_at, "known_at"), set(triples)

    def decide(_: Mapping[str, KnowledgeNode], edges: Sequence[KnowledgeEdge]) -> tuple[Edits, Revision]:
        facts = [Fact.of(edge) for edge in edges if (edge.source, edge.type, edge.target) in wanted]
        in_order = sorted(facts, key=lambda fact: (fact.created_at or "", fact.valid_at or "", fact.id))
        stored = grouped((fact.triple, fact) for fact in in_order)
        # now, but not before the stored versions became known: another machine's clock may be ahead
        revision = change(stored, given or max(now(), "", *(fact.created_at or "" for fact in facts)))
        return edits_of(revision), revision

    ends = {end for source, _, target in triples for end in (source, target)}
    return memory.graph(create=True).edit(ends, decide, edge_types=sorted({kind for _, kind, _ in triples}))


def edits_of(revision: Revision) -> Edits:
    """Return the edits that write a revision; a version that is added at the instant of its expiry stays believed."""
    return Edits(edges=[fact.to_edge() for fact in after((), revision)])


def after(versions: Sequence[Fact], revision: Revision) -> list[Fact]:
    """Return the versions of a triple after a revision of it."""
    return list({fact.id: fact for fact in (*versions, *revision.expired, *revision.added)}.values())


def _combined(revisions: Iterable[Revision]) -> Revision:
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


def _check(memory: AgentMemory, facts: Sequence[Fact]) -> None:
    """Raise GraphError unless the schema declares the types of these facts and of their entities."""
    if any(fact.type == MENTIONS for fact in facts):
        raise GraphError(f"{MENTIONS} is no type of facts.", "Texts mention entities by themselves.")
    ends = dict.fromkeys(end for fact in facts for end in (fact.source, fact.target))
    nodes = [KnowledgeNode(end, EntityKey.of(end).type) for end in ends]
    memory.schema.check(nodes, [fact.to_edge() for fact in facts])


def renamed(fact: Fact, into: Mapping[str, str]) -> Fact:
    """Return a fact between the survivors of entities that were merged; ``into`` has these by id."""
    return replace(fact, source=into.get(fact.source, fact.source), target=into.get(fact.target, fact.target))
