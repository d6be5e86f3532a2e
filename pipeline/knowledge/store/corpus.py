"""An ingested corpus read as a knowledge graph, on the corpus's own schema.

Node types are ``document``, ``chunk`` and ``entity``; a chunk's parent is its document. Edge types are those of
:mod:`pipeline.edges`. The weight of a ``SIMILAR`` edge is the cosine; that of any other is 1.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

from neo4j import Record

from pipeline.db.corpus import CorpusHandle
from pipeline.db.filterable import DECLARED
from pipeline.db.projections import Projection, run_on_projection
from pipeline.db.slots import OWN
from pipeline.edges import EDGES
from pipeline.errors import GraphError
from pipeline.ids import digest
from pipeline.knowledge.records import Direction, GraphSize, KnowledgeEdge, KnowledgeNode, SupportedEdgeType
from pipeline.knowledge.store import analysis
from pipeline.knowledge.store.memory import MemoryStore
from pipeline.knowledge.store.neo4j import read_steps
from pipeline.knowledge.store.protocol import Steps
from pipeline.knowledge.visibility import Moment, Visibility
from pipeline.retrieve.candidates import fulltext_ranking, vector_ranking
from pipeline.retrieve.question import fulltext_query

UNDIRECTED = [kind.value for kind, edge in EDGES.items() if not edge.directed]
"""Edge types without a direction."""

_SUPPORTED = {kind.value: SupportedEdgeType(edge.category) for kind, edge in EDGES.items() if edge.category}
_BOOKKEEPING = frozenset({"id", "corpus", "since", "until", "embedding", "embedded", "centroid", "score"})
_OF_FILTERS = ("filter_", "filterable", DECLARED)  # what a chunk repeats of metadata for the indexes
_TYPES = frozenset({"document", "chunk", "entity"})


_RANKED = 6
"""Nodes that are ranked for each that is drawn, since most are passages. Chosen by hand; not measured."""


class CorpusStore:
    """Reads of the visible generation of a corpus; see :class:`pipeline.knowledge.store.protocol.Store`."""

    def __init__(self, corpus: CorpusHandle, projection_megabytes: int) -> None:
        self.corpus = corpus
        self.name = corpus.name
        self.dimension = corpus.record.dimension
        self._projection_megabytes = projection_megabytes

    def at(self, visibility: Visibility) -> Self:
        """Return the store; raises GraphError for a visibility of another time, since a corpus keeps no history."""
        if visibility.moment is Moment.PAST:
            raise GraphError(f"The corpus {self.name!r} keeps no history.", "Read it as it is now.")
        return self

    def check_current(self) -> None:
        """Raise Superseded if another generation is visible now, or if another corpus, or none, has the name."""
        self.corpus.check_visible()

    def size(self) -> GraphSize:
        """Count nodes and edges."""
        (row,) = self.corpus.read("corpus_counts")
        return GraphSize(row["nodes"], row["edges"])

    def nodes(self, ids: Sequence[str]) -> dict[str, KnowledgeNode]:
        """Return the existing nodes with these ids, by id."""
        rows = self.corpus.read("corpus_nodes_by_id", ids=list(dict.fromkeys(ids)))
        return {node.id: node for node in map(_node, rows)}

    def scan_nodes(
        self, node_type: str | None = None, label: str | None = None, having: tuple[str, Any] | None = None
    ) -> Iterable[KnowledgeNode]:
        """Return the nodes that a condition, if any, selects, streamed; no node of a corpus has a label."""
        key, value = having or (None, None)
        if label is not None or key in _BOOKKEEPING or (node_type is not None and node_type not in _TYPES):
            return ()
        return map(_node, self.corpus.newest().stream("corpus_scan", type=node_type, property=key, value=value))

    def edge(self, edge_id: str) -> KnowledgeEdge | None:
        """Return the edge with this id, or None, by a scan of all edges."""
        return next((edge for edge in self.scan_edges() if edge.id == edge_id), None)

    def scan_edges(self, edge_type: str | None = None) -> Iterable[KnowledgeEdge]:
        """Return every edge, streamed, or those of a type."""
        return map(_edge, self.corpus.newest().stream("corpus_edges", type=edge_type))

    def edges_of_node(self, node_id: str, direction: Direction, edge_type: str | None) -> Iterable[KnowledgeEdge]:
        """Return the edges from a node to its neighbours."""
        followed = _followed(direction, None if edge_type is None else [edge_type])
        return map(_edge, self.corpus.read("corpus_edges_of_node", id=node_id, **followed))

    def edges_among(self, ids: Sequence[str]) -> Iterable[KnowledgeEdge]:
        """Return the edges whose endpoints are both among these nodes."""
        return map(_edge, self.corpus.read("corpus_edges_among", ids=list(ids)))

    def steps(self, ids: Sequence[str], direction: Direction, types: Sequence[str] | None) -> dict[str, Steps]:
        """Return the steps from each of these nodes, by id."""
        followed = _followed(direction, types)
        return read_steps(self.corpus.read("corpus_steps", ids=list(dict.fromkeys(ids)), **followed))

    def nearest(self, vector: Sequence[float], limit: int) -> Mapping[str, float]:
        """Return the cosines of the ``limit`` chunks nearest to a vector, by id."""
        row = self.corpus.read_visible("vector_candidates", vector=list(vector), limit=limit)
        return vector_ranking(row).scores

    def matching(self, text: str, limit: int) -> Mapping[str, float]:
        """Return the BM25 scores of the ``limit`` chunks that match a text best, by id."""
        row = self.corpus.read_visible("fulltext_candidates", text=fulltext_query(text), limit=limit)
        return fulltext_ranking(row).scores

    def pagerank(
        self, seeds: Mapping[str, float] | None, restart_prob: float, direction: Direction, limit: int
    ) -> Mapping[str, float]:
        """Return the ``limit`` highest shares of PageRank, by id; GDS computes them on a projection."""
        (counts,) = self.corpus.read("corpus_counts")
        if not counts["nodes"] or (seeds is not None and not seeds):
            return {}
        if not self.corpus.client.has_gds:
            edges = ((edge.source, edge.target, edge.weight, edge.directed) for edge in self.scan_edges())
            ids = (node.id for node in self.scan_nodes())
            return analysis.local_pagerank(ids, analysis.followed(edges, direction), seeds, restart_prob, limit)

        def project(name: str) -> object:
            return self.corpus.read("project_corpus", projection=name, direction=direction.value, undirected=UNDIRECTED)

        run = analysis.gds_pagerank(self.corpus.read, "corpus_pagerank", seeds, restart_prob, limit)
        projection = Projection(self.corpus.id, analysis.VIEW, counts["generation"], direction.value)
        return run_on_projection(self.corpus.client, projection, self._projection_megabytes, project, run)

    def outline(self, limit: int) -> tuple[MemoryStore, GraphSize]:
        """Return the ``limit`` most important documents and entities, with edges between them, and how many there are.

        An edge leads from a document to what its passages mention, name or link, and weighs as many as there are. What
        is nearest by meaning, and passages, are left out: nearly all would be joined with all.
        """
        ranked = self.pagerank(None, 0.15, Direction.BOTH, _RANKED * limit)
        nodes = self.nodes(list(ranked))
        chosen = [node for id_ in ranked if (node := nodes.get(id_)) and node.type != "chunk"][:limit]
        rows = self.corpus.read("corpus_outline", ids=[node.id for node in chosen])
        edges = [
            KnowledgeEdge(row["source"], row["target"], row["kind"], weight=row["passages"], directed=row["directed"])
            for row in rows
        ]
        sizes = self.corpus.record
        return MemoryStore(self.name, chosen, edges), GraphSize(sizes.documents + sizes.entities, len(edges))

    def communities(self, gamma: float, seed: int) -> list[list[str]]:
        """Return the ids of each community, by Louvain's algorithm."""
        edges = ((edge.source, edge.target, edge.weight) for edge in self.scan_edges())
        return analysis.local_communities((node.id for node in self.scan_nodes()), edges, gamma, seed)


def _followed(direction: Direction, types: Sequence[str] | None) -> dict[str, Any]:
    chosen = None if types is None else list(types)
    return {"types": chosen, "direction": direction.value, "undirected": UNDIRECTED}


def _node(row: Record) -> KnowledgeNode:
    stored = row["stored"]
    return KnowledgeNode(
        id=stored["id"],
        type=row["type"],
        properties={name: value for name, value in sorted(stored.items()) if not _is_bookkeeping(name)},
        embedding=stored.get("embedding"),
        parent_id=row["parent"],
        child_ids=row["children"],
    )


def _edge(row: Record) -> KnowledgeEdge:
    stored, kind = row["stored"], row["kind"]
    return KnowledgeEdge(
        source=row["source"],
        target=row["target"],
        type=kind,
        id=digest("edge", kind, row["source"], row["target"]),
        supported_edge_type=_SUPPORTED.get(kind),
        weight=stored.get("score", 1.0),
        directed=kind not in UNDIRECTED,
        properties={name: value for name, value in sorted(stored.items()) if not _is_bookkeeping(name)},
    )


def _is_bookkeeping(name: str) -> bool:
    return name in _BOOKKEEPING or name.startswith((OWN, *_OF_FILTERS))
