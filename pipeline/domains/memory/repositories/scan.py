"""Scan a repository into a memory: read -> compare with what is stored -> write the difference in one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pipeline.domains.memory.code.findings import Scan
from pipeline.domains.memory.code.scan import scan
from pipeline.domains.memory.entities import embed, surviving, survivors, together
from pipeline.domains.memory.facts.versions import Revision
from pipeline.domains.memory.facts.write import edits_of, renamed
from pipeline.domains.memory.memory import AgentMemory, read_fact
from pipeline.domains.memory.records import Entity, EntityKey, Fact
from pipeline.domains.memory.repositories.revise import (
    evidence_of,
    facts_of,
    revise_by_history,
    revise_by_state,
    scanned,
)
from pipeline.domains.memory.schema import MENTIONS
from pipeline.domains.memory.texts.relink import mention_in_texts
from pipeline.errors import GraphError
from pipeline.knowledge import KnowledgeEdge, KnowledgeNode
from pipeline.knowledge.clock import now
from pipeline.knowledge.edit import Edits
from pipeline.knowledge.embed import Embeddings
from pipeline.progress import Progress

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
    facts = [renamed(fact, into) for fact in facts_of(found, scope)]
    memory.schema.check([entity.to_node() for entity in entities.values()], [fact.to_edge() for fact in facts])
    ends = {end for fact in _stored(memory, scope) for end in (fact.source, fact.target)}
    vectors = embed(memory, entities.values())

    def decide(
        nodes: Mapping[str, KnowledgeNode], edges: Sequence[KnowledgeEdge]
    ) -> tuple[Edits, tuple[Revision, list[KnowledgeNode], int]]:
        _refuse_older(nodes.get(_root_id(scope)), found, history=history)
        known = scanned((Fact.of(edge) for edge in edges if edge.type != MENTIONS), scope)
        time, evidence = now(), evidence_of(found)
        if history:
            revision = revise_by_history(known, facts, evidence, time)
        else:
            revision = revise_by_state(known, facts, found.time, evidence, time)
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
    known = Entity.of(stored)
    after = replace(
        known,
        description=entity.description or known.description,
        aliases=tuple(dict.fromkeys((*known.aliases, *entity.aliases))),
        confidence=max(known.confidence, entity.confidence),
        metadata={**known.metadata, **entity.metadata},
    )
    if after == known:
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
    return scanned(map(read_fact, rows), scope)
