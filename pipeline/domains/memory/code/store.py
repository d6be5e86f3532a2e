"""Scan a repository into a memory: read -> compare with what is stored -> write the difference in one transaction.

A scan of one revision says what holds from then on: a known fact that it lacks has ended. A scan of a history says all
periods: a version that it lacks is withdrawn, and replaced by those that it has.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pipeline.domains.memory.code.findings import Scan
from pipeline.domains.memory.code.scan import scan
from pipeline.domains.memory.entities import embed, mention_in_texts, surviving, survivors, together
from pipeline.domains.memory.memory import AgentMemory, read_fact
from pipeline.domains.memory.records import Entity, EntityKey, Fact
from pipeline.domains.memory.revise import edits_of, renamed
from pipeline.domains.memory.schema import MENTIONS
from pipeline.domains.memory.versions import Revision, believed
from pipeline.errors import GraphError
from pipeline.knowledge import KnowledgeEdge, KnowledgeNode
from pipeline.knowledge.clock import now
from pipeline.knowledge.edit import Edits
from pipeline.knowledge.embed import Embeddings
from pipeline.progress import Progress

ORIGIN = "scan"
"""The metadata ``origin`` of facts from scans: only these does a scan end."""

_Key = tuple[str, str, str, str | None, str | None, float, float]
_ROOT = "."
"""The name of the module that is the repository itself; it keeps the commit that was scanned last."""


@dataclass(frozen=True, slots=True)
class Scanned:
    """The changes of a scan: new entities, new facts, facts that ended, and new mentions in texts."""

    repository: str
    commit: str | None
    time: str
    entities: int
    facts: int
    added: int
    ended: int
    mentions: int


def scan_repository(
    memory: AgentMemory,
    path: str | Path,
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
    scope = scope or Path(path).expanduser().resolve().name or memory.settings.scope
    limits = memory.hoprank.settings.sources.limits
    found = scan(path, scope=scope, revision=revision, history=history, limits=limits, progress=progress)
    with progress.stage("store scan"):
        return store(memory, found, scope, history=history)


def store(memory: AgentMemory, found: Scan, scope: str, *, history: bool) -> Scanned:
    """Write what a scan found; see :func:`scan_repository`."""
    graph = memory.graph(create=True)
    into = survivors(memory)
    entities = together(surviving(entity, into) for entity in _with_state(found, scope))
    facts = [renamed(fact, into) for fact in _facts_of(found, scope)]
    memory.schema.check([entity.to_node() for entity in entities.values()], [fact.to_edge() for fact in facts])
    ends = {end for fact in _stored(memory, scope) for end in (fact.source, fact.target)}
    vectors = embed(memory, entities.values())

    def decide(
        nodes: Mapping[str, KnowledgeNode], edges: Sequence[KnowledgeEdge]
    ) -> tuple[Edits, tuple[Revision, list[KnowledgeNode], int]]:
        _refuse_older(nodes.get(_root_id(scope)), found, history=history)
        known = _from_scans((Fact.of(edge) for edge in edges if edge.type != MENTIONS), scope)
        time, evidence = now(), _evidence_of(found)
        if history:
            revision = _revise_by_history(known, facts, evidence, time)
        else:
            revision = _revise_by_state(known, facts, found.time, evidence, time)
        put = [node for entity in entities.values() if (node := _node(nodes.get(entity.id), entity, vectors))]
        hashes = {node.id: vectors.hashes[node.id] for node in put if node.id in vectors.hashes}
        edits = replace(edits_of(revision), nodes=put, text_hashes=hashes)
        return edits, (revision, put, len(entities.keys() - nodes.keys()))

    revision, put, new = graph.edit(
        [*entities, *sorted(ends)],
        decide,
        node_types=sorted({entity.type for entity in entities.values()}),
        edge_types=sorted({fact.type for fact in facts}),
    )
    mentions = mention_in_texts(memory, [entities[node.id] for node in put if node.id in entities]) if new else 0
    ended = sum(bool(fact.invalid_at) for fact in revision.added) if not history else len(revision.expired)
    return Scanned(
        found.repository,
        found.commit,
        found.time,
        new,
        len(facts),
        len(revision.added) - (ended if not history else 0),
        ended,
        mentions,
    )


def _with_state(found: Scan, scope: str) -> list[Entity]:
    """Return the entities of a scan, of which the root module keeps what was scanned."""
    state = {"scanned": found.time, **({"commit": found.commit} if found.commit else {})}
    others = [entity for entity in found.entities if entity.id != _root_id(scope)]
    root = next((entity for entity in found.entities if entity.id == _root_id(scope)), None)
    root = root or Entity(_ROOT, "module", scope, confidence=1.0)
    return [*others, replace(root, metadata={**root.metadata, **state})]


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
    if after == before:
        return None
    return replace(after, updated_at=now()).to_node(vectors.vectors.get(entity.id) or stored.embedding)


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
    return EntityKey(scope, "module", _ROOT).id


def _stored(memory: AgentMemory, scope: str) -> list[Fact]:
    rows = memory.rows("memory_believed_facts", label=memory.label, excluded=MENTIONS, types=None, scope=scope)
    return _from_scans(map(read_fact, rows), scope)


def _facts_of(scan: Scan, scope: str) -> list[Fact]:
    """Return what a scan found as facts; their evidence is the repository and its commit."""
    source = _evidence_of(scan)
    return [
        Fact(
            span.source,
            span.type,
            span.target,
            span.valid_at,
            span.invalid_at,
            span.weight,
            span.confidence,
            scope,
            (source,),
            ended=source if span.invalid_at else "",
            metadata={"origin": ORIGIN},
        )
        for span in scan.spans
    ]


def _evidence_of(scan: Scan) -> str:
    """Return the evidence of what a scan found: the commit, or the folder."""
    return f"commit {scan.commit}" if scan.commit else f"folder {scan.repository}"


def _revise_by_history(known: Sequence[Fact], scanned: Iterable[Fact], evidence: str, time: str) -> Revision:
    """Return the change that makes the believed versions exactly those ``scanned``; ``known`` are all stored ones."""
    stored = {_key(fact): fact for fact in believed(known)}
    wanted = {_key(fact): fact for fact in scanned}
    gone = [replace(fact, expired_at=time, retracted=evidence) for key, fact in stored.items() if key not in wanted]
    new = [replace(fact, created_at=time) for key, fact in wanted.items() if key not in stored]
    return Revision(tuple(gone), tuple(new))


def _revise_by_state(known: Sequence[Fact], scanned: Iterable[Fact], at: str, evidence: str, time: str) -> Revision:
    """Return the change that a scan of one revision makes: what it found holds ``at`` its time, the rest has ended.

    A fact that holds already stays as it is; one whose weight or confidence changed ends and begins anew.
    """
    open_now = {fact.triple: fact for fact in believed(known) if fact.invalid_at is None}
    wanted = {fact.triple: fact for fact in scanned}
    expired: list[Fact] = []
    added: list[Fact] = []
    for triple, fact in open_now.items():
        if triple in wanted and _strength(fact) == _strength(wanted[triple]):
            continue
        expired.append(replace(fact, expired_at=time))
        added.append(replace(fact, invalid_at=at, ended=evidence, created_at=time))
    for triple, fact in wanted.items():
        if triple not in open_now or _strength(open_now[triple]) != _strength(fact):
            added.append(replace(fact, valid_at=at, created_at=time))
    return Revision(tuple(expired), tuple(added))


def _from_scans(facts: Iterable[Fact], scope: str) -> list[Fact]:
    """Return the facts of a scope that scans have found."""
    return [fact for fact in facts if fact.scope == scope and fact.metadata.get("origin") == ORIGIN]


def _key(fact: Fact) -> _Key:
    return (*fact.triple, fact.valid_at, fact.invalid_at, *_strength(fact))


def _strength(fact: Fact) -> tuple[float, float]:
    return fact.weight, fact.confidence
