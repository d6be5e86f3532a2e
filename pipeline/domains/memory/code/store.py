"""Scan a repository into a memory: read -> compare with what is stored -> write the difference in one transaction.

A scan of one revision says what holds from then on: a known fact that it lacks has ended. A scan of a history says all
periods: a version that it lacks is withdrawn, and replaced by those that it has.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from pipeline.domains.memory.code.findings import ROOT, Scan
from pipeline.domains.memory.code.scan import scan
from pipeline.domains.memory.entities import embed, surviving, survivors, together
from pipeline.domains.memory.memory import AgentMemory, read_fact
from pipeline.domains.memory.records import ORIGIN, SCANNED, Entity, EntityKey, Fact
from pipeline.domains.memory.revise import edits_of, renamed
from pipeline.domains.memory.schema import DEFINITIONS, MENTIONS
from pipeline.domains.memory.understand import understand
from pipeline.domains.memory.versions import Revision, believed
from pipeline.errors import GraphError
from pipeline.knowledge import KnowledgeEdge, KnowledgeNode
from pipeline.knowledge.clock import now
from pipeline.knowledge.edit import Change, Edits, in_turn
from pipeline.knowledge.sync import Embeddings
from pipeline.progress import Progress


@dataclass(frozen=True, slots=True)
class Scanned:
    """The changes of a scan: new entities, new facts, facts that ended, and new mentions in texts.

    ``remarks`` say what of the repository couldn't be read, or is read otherwise than it stands there.
    """

    repository: str
    commit: str | None
    time: str
    entities: int
    facts: int
    added: int
    ended: int
    mentions: int
    remarks: tuple[str, ...] = ()


def scan_repository(
    memory: AgentMemory,
    repository: str | Path,
    *,
    scope: str | None = None,
    revision: str = "HEAD",
    history: bool = False,
    progress: Progress | None = None,
) -> Scanned:
    """Bring a memory to hold the entities and facts of a repository or folder as of a revision.

    ``scope`` keeps repositories apart, by default the folder's name. Facts that were scanned before and are gone end
    at the time of the revision; with ``history`` all periods are those of the history. An unchanged repository changes
    nothing. Raises SourceError as :func:`pipeline.domains.memory.code.scan.scan` does, and GraphError if a later
    revision has been scanned already.
    """
    progress = progress or Progress()
    scope = scope or Path(repository).expanduser().resolve().name or memory.settings.scope
    limits = memory.hoprank.settings.sources.limits
    found = scan(repository, scope=scope, revision=revision, history=history, limits=limits, progress=progress)
    with progress.stage("store scan"):
        return store(memory, found, scope, history=history)


def store(memory: AgentMemory, found: Scan, scope: str, *, history: bool) -> Scanned:
    """Write what a scan found; see :func:`scan_repository`."""
    (revision, new), *_, mentioned = memory.write_what(lambda opened: _change(opened, found, scope, history=history))
    # a scan of one revision ends facts by adding their last versions
    ended = len(revision.expired) if history else sum(bool(fact.invalid_at) for fact in revision.added)
    added = len(revision.added) - (0 if history else ended)
    counts = new, len(found.facts), added, ended, mentioned.mentions
    return Scanned(found.repository, found.commit, found.time, *counts, found.remarks)


def _change(memory: AgentMemory, found: Scan, scope: str, *, history: bool) -> Change[list[Any]]:
    """Return the change that writes what a scan found, and what texts say with the names that it makes known."""
    into = survivors(memory)
    entities = together(surviving(entity, into) for entity in _with_state(found, scope))
    facts = [renamed(fact, into) for fact in found.facts]
    memory.schema.check([entity.to_node() for entity in entities.values()], [fact.to_edge() for fact in facts])
    rows = memory.rows("memory_believed_facts", label=memory.label, excluded=MENTIONS, types=None, scope=scope)
    ends = {end for fact in _from_scans(map(read_fact, rows), scope) for end in (fact.source, fact.target)}
    there = {end for fact in facts if fact.invalid_at is None for end in (fact.source, fact.target)}
    # Definitions that are gone, most of a long history's, are found by their words.
    vectors = embed(memory, (one for one in entities.values() if one.type not in DEFINITIONS or one.id in there))

    def decide(
        nodes: Mapping[str, KnowledgeNode], edges: Sequence[KnowledgeEdge]
    ) -> tuple[Edits, tuple[Revision, int]]:
        _refuse_older(nodes.get(_root_id(scope)), found, history=history)
        known = _from_scans((Fact.of(edge) for edge in edges if edge.type != MENTIONS), scope)
        revise = _revise_by_history if history else partial(_revise_by_state, at=found.time)
        revision = revise(known, facts, evidence=found.evidence, time=now())
        put = [node for entity in entities.values() if (node := _node(nodes.get(entity.id), entity, vectors))]
        hashes = {node.id: vectors.hashes[node.id] for node in put if node.id in vectors.hashes}
        edits = replace(edits_of(revision), nodes=put, text_hashes=hashes)
        return edits, (revision, len(entities.keys() - nodes.keys()))

    node_types, edge_types = {entity.type for entity in entities.values()}, {fact.type for fact in facts}
    change = Change({*entities, *ends}, decide, node_types, edge_types)
    understood = understand(memory, new=list(entities.values()))
    return in_turn([change, *understood.changes(memory)])


def _with_state(found: Scan, scope: str) -> list[Entity]:
    """Return the entities of a scan, of which the root module keeps what was scanned."""
    state = {"scanned": found.time, **({"commit": found.commit} if found.commit else {})}
    entities = {entity.id: entity for entity in found.entities}
    root = entities.pop(_root_id(scope), None) or Entity(ROOT, "module", scope, confidence=1.0)
    return [*entities.values(), replace(root, metadata={**root.metadata, **state})]


def _node(stored: KnowledgeNode | None, entity: Entity, vectors: Embeddings) -> KnowledgeNode | None:
    """Return the node to write for an entity, None if the stored one says the same.

    A scan's description replaces that of an earlier one: the code is as it is now. A mention isn't counted.
    """
    if stored is None:
        return entity.to_node(vectors.vectors.get(entity.id))
    before = Entity.of(stored)
    after = replace(
        before,
        description=entity.description or before.description,
        aliases=tuple(dict.fromkeys((*before.aliases, *entity.aliases))),
        confidence=max(before.confidence, entity.confidence),
        metadata={**before.metadata, **entity.metadata},
    )
    vector = vectors.vectors.get(entity.id)
    if after == before and (stored.embedding is not None or vector is None):
        return None
    return replace(after, updated_at=now()).to_node(vector or stored.embedding)


def _refuse_older(root: KnowledgeNode | None, found: Scan, *, history: bool) -> None:
    before = str(root.properties.get("scanned", "")) if root else ""
    if before > found.time:
        raise GraphError(
            f"{found.repository} was scanned as of {before}, which is later than {found.time}.",
            "Ask for that time with --as-of instead."
            if not history
            else "Scan the history up to a later revision; drop the memory to begin anew.",
        )


def _root_id(scope: str) -> str:
    return EntityKey(scope, "module", ROOT).id


def _revise_by_history(known: Sequence[Fact], scanned: Iterable[Fact], evidence: str, time: str) -> Revision:
    """Return the change that makes the believed versions exactly those ``scanned``; ``known`` are all stored ones."""
    stored, wanted = (
        {(*fact.triple, fact.valid_at, fact.invalid_at, fact.weight, fact.confidence): fact for fact in facts}
        for facts in (believed(known), scanned)
    )
    gone = [replace(fact, expired_at=time, retracted=evidence) for key, fact in stored.items() if key not in wanted]
    new = [replace(fact, created_at=time) for key, fact in wanted.items() if key not in stored]
    return Revision(tuple(gone), tuple(new))


def _revise_by_state(known: Sequence[Fact], scanned: Iterable[Fact], at: str, evidence: str, time: str) -> Revision:
    """Return the change that a scan of one revision makes: what it found holds ``at`` its time, the rest has ended.

    A fact that holds already stays as it is; one whose weight or confidence changed ends and begins anew.
    """
    open_now = {fact.triple: fact for fact in believed(known) if fact.invalid_at is None}
    wanted = {fact.triple: fact for fact in scanned}
    strengths = {triple: (fact.weight, fact.confidence) for triple, fact in open_now.items()}
    same = {triple for triple, fact in wanted.items() if strengths.get(triple) == (fact.weight, fact.confidence)}
    gone = [fact for triple, fact in open_now.items() if triple not in same]
    ended = [replace(fact, invalid_at=at, ended=evidence, created_at=time) for fact in gone]
    new = [replace(fact, valid_at=at, created_at=time) for triple, fact in wanted.items() if triple not in same]
    return Revision(tuple(replace(fact, expired_at=time) for fact in gone), (*ended, *new))


def _from_scans(facts: Iterable[Fact], scope: str) -> list[Fact]:
    return [fact for fact in facts if fact.scope == scope and fact.metadata.get(ORIGIN) == SCANNED]
