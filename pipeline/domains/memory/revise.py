"""Changes of facts: each is decided on the versions that are stored, and written in one transaction."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from pipeline.domains.memory import versions as rules
from pipeline.domains.memory.memory import AgentMemory, read_fact
from pipeline.domains.memory.records import READ, EntityKey, Fact
from pipeline.domains.memory.schema import MENTIONS
from pipeline.domains.memory.versions import Revision, Triple
from pipeline.errors import GraphError
from pipeline.grouping import grouped
from pipeline.knowledge import KnowledgeEdge, KnowledgeNode
from pipeline.knowledge.check import canonical_time
from pipeline.knowledge.clock import now
from pipeline.knowledge.edit import Change, Edits

Versions = Mapping[Triple, Sequence[Fact]]
Revise = Callable[[Versions, str], Revision]
"""A function from the stored versions, by triple, and the time of the write, to the revision."""

Rule = Callable[[Sequence[Fact], Fact, str], Revision]
"""A rule of :mod:`pipeline.domains.memory.versions` for a fact and the versions of its triple."""


def add_facts(memory: AgentMemory, facts: Iterable[Fact]) -> Revision:
    """Add facts between stored entities, one after the other.

    Raises GraphError if a relation type isn't declared, doesn't join entities of these types, or an entity is missing;
    then nothing is written.
    """
    return memory.write(facts_change(memory, facts, rules.add))


def facts_change(memory: AgentMemory, facts: Iterable[Fact], rule: Rule) -> Change[Revision]:
    """Return the change that adds facts by a rule: ``add``, or ``state`` for what texts state."""
    facts = list(facts)
    _check(memory, facts)

    def revise(stored: Versions, time: str) -> Revision:
        known = {triple: list(versions) for triple, versions in stored.items()}
        revisions = []
        for fact in facts:
            versions = known.setdefault(fact.triple, [])
            revisions.append(rule(versions, fact, time))
            known[fact.triple] = after(versions, revisions[-1])
        return _combined(revisions)

    return _revision([fact.triple for fact in facts], revise)


def unread_change(memory: AgentMemory, texts: Collection[str], facts: Iterable[Fact]) -> Change[Revision]:
    """Return the change that withdraws what stored texts were read to state and aren't any more.

    ``texts`` are the ids of their nodes, ``facts`` what they state now; see ``unread`` of the rules.
    """
    keys = {EntityKey.of(id_).name for id_ in texts}
    stated = {(evidence, fact.triple) for fact in facts for evidence in fact.evidence}
    rows = memory.rows("memory_facts_read", keys=memory.keys(texts), type=MENTIONS, origin=READ) if texts else ()
    before = [read_fact(row) for row in rows]
    triples = [fact.triple for fact in before if any(one.partition(": ")[0] in keys for one in fact.evidence)]

    def revise(stored: Versions, time: str) -> Revision:
        versions = chain.from_iterable(stored.values())
        return _combined(rules.unread(version, keys, stated, time) for version in versions)

    return _revision(triples, revise)


def invalidate(memory: AgentMemory, triple: Triple, at: str, evidence: str) -> Revision:
    """End a fact in the world ``at`` a time; see :func:`pipeline.domains.memory.versions.invalidate`."""
    end = str(canonical_time(at, "The end of the fact"))
    return memory.write(
        _revision([triple], lambda stored, time: rules.invalidate(stored.get(triple, ()), end, evidence, time))
    )


def supersede(memory: AgentMemory, triple: Triple, by: Fact, at: str, evidence: str) -> Revision:
    """End a fact ``at`` a time and let another hold from then, both or neither; each keeps the evidence."""
    end = str(canonical_time(at, "The time of the change"))
    new = replace(by, valid_at=end, evidence=tuple(dict.fromkeys((*by.evidence, evidence))))
    _check(memory, [new])
    if new.triple == triple:
        raise GraphError("A fact can't supersede itself.", "Invalidate it, or name another target.")

    def revise(stored: Versions, time: str) -> Revision:
        ended = rules.invalidate(stored.get(triple, ()), end, evidence, time)
        return _combined([ended, rules.add(stored.get(new.triple, ()), new, time)])

    return memory.write(_revision([triple, new.triple], revise))


def retract(memory: AgentMemory, triple: Triple, evidence: str, version_id: str | None = None) -> Revision:
    """Withdraw a fact that never held; see :func:`pipeline.domains.memory.versions.retract`."""
    return memory.write(
        _revision([triple], lambda stored, time: rules.retract(stored.get(triple, ()), evidence, time, version_id))
    )


def _revision(triples: Sequence[Triple], revise: Revise) -> Change[Revision]:
    """Return the change that writes what ``revise`` makes of the stored versions of some triples."""
    wanted = set(triples)

    def decide(_: Mapping[str, KnowledgeNode], edges: Sequence[KnowledgeEdge]) -> tuple[Edits, Revision]:
        facts = [Fact.of(edge) for edge in edges if (edge.source, edge.type, edge.target) in wanted]
        in_order = sorted(facts, key=lambda fact: (fact.created_at or "", fact.valid_at or "", fact.id))
        stored = grouped((fact.triple, fact) for fact in in_order)
        # now, but not before the stored versions became known: another machine's clock may be ahead
        revision = revise(stored, max(now(), "", *(fact.created_at or "" for fact in facts)))
        return edits_of(revision), revision

    ends = {end for source, _, target in triples for end in (source, target)}
    return Change(ends, decide, edge_types={kind for _, kind, _ in triples})


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
