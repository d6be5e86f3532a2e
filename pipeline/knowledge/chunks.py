"""Nodes from chunks of content, and edges between them: by links, by cosine, explicit, or by the caller's function."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TypeAlias

import numpy as np

from pipeline.embedding.nearest import nearest, unit_vectors
from pipeline.errors import GraphError
from pipeline.ids import digest
from pipeline.ingest.links.entity_links import LinkResolver
from pipeline.knowledge.records import Json, KnowledgeEdge, KnowledgeNode, SupportedEdgeType
from pipeline.records import Document

_COSINE_DIGITS = 6  # no more are certain in 32-bit floats

SIMILAR = "similar"
"""Type of the edges that ``CosineEdges`` and ``CallbackEdges`` create."""

LINKS_TO = "links_to"
"""Type of the edges that the links of chunks create."""


@dataclass(frozen=True, slots=True)
class GraphChunk:
    """A piece of content. Text and metadata become its node's properties; a missing id is derived from both.

    ``links`` are the ids of the nodes that it links to, of which each gets an edge ``links_to``.
    """

    text: str | None = None
    embedding: Sequence[float] | None = None
    metadata: Mapping[str, Json] = field(default_factory=dict)
    id: str | None = None
    links: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class CosineEdges:
    """Undirected semantic edges between nodes whose embeddings have a cosine of at least ``threshold``.

    The weight is the cosine, at least 0. New nodes are compared with each other and with the graph's existing nodes.
    ``top_k`` keeps the nearest neighbours of each new node.
    """

    threshold: float = 0.7  # chosen by hand, not measured
    top_k: int | None = None

    def __post_init__(self) -> None:
        if not -1 <= self.threshold <= 1 or (self.top_k is not None and self.top_k < 1):
            raise GraphError(
                f"Cosine edges can't have threshold={self.threshold}, top_k={self.top_k}.",
                "Give a threshold of -1 to 1, and a top_k of 1 or more, or None.",
            )


@dataclass(frozen=True, slots=True)
class ExplicitEdges:
    """Exactly these edges."""

    edges: Sequence[KnowledgeEdge]


@dataclass(frozen=True, slots=True)
class CallbackEdges:
    """An undirected edge for each pair of new chunks for which ``callback`` returns True or a weight above 0."""

    callback: Callable[[GraphChunk, GraphChunk], bool | float]


EdgeOptions: TypeAlias = CosineEdges | ExplicitEdges | CallbackEdges
"""The source of the edges when nodes are created from chunks."""


def document_chunks(documents: Iterable[Document]) -> list[GraphChunk]:
    """Return a chunk for each document, with its key as id, linked to those of the others that its links lead to."""
    documents = list(documents)
    resolver = LinkResolver({document.key: document.title for document in documents})

    def chunk(document: Document) -> GraphChunk:
        targets = (resolver.resolve(link.target, document.key) for link in document.links)
        metadata = {**document.metadata, "title": document.title}
        return GraphChunk(document.text, None, metadata, document.key, sorted({key for key in targets if key}))

    return list(map(chunk, documents))


def chunk_nodes(chunks: Sequence[GraphChunk], node_type: str) -> list[KnowledgeNode]:
    """Return a node for each chunk, in order; equal chunks without an id get different ids."""
    seen: Counter[str] = Counter()
    nodes = []
    for chunk in chunks:
        properties = dict(chunk.metadata)
        if chunk.text is not None:
            properties["text"] = chunk.text
        node_id = chunk.id
        if node_id is None:
            content = json.dumps(properties, sort_keys=True, default=str)
            node_id = digest("chunk", content, str(seen[content]))
            seen[content] += 1
        nodes.append(KnowledgeNode(node_id, node_type, properties=properties, embedding=chunk.embedding))
    return nodes


def chunk_edges(
    nodes: Sequence[KnowledgeNode],
    chunks: Sequence[GraphChunk],
    options: EdgeOptions,
    stored: Iterable[tuple[str, Sequence[float]]],
) -> list[KnowledgeEdge]:
    """Return the edges of the chunks' links, and those that ``options`` ask for.

    ``stored`` holds the graph's existing ids and embeddings.
    """
    linked = zip(nodes, chunks, strict=True)
    links = [
        KnowledgeEdge(node.id, target, LINKS_TO) for node, chunk in linked for target in dict.fromkeys(chunk.links)
    ]
    return [*links, *_option_edges(nodes, chunks, options, stored)]


def _option_edges(
    nodes: Sequence[KnowledgeNode],
    chunks: Sequence[GraphChunk],
    options: EdgeOptions,
    stored: Iterable[tuple[str, Sequence[float]]],
) -> list[KnowledgeEdge]:
    match options:
        case ExplicitEdges():
            return list(options.edges)
        case CallbackEdges():
            pairs = combinations(zip(nodes, chunks, strict=True), 2)
            weights = (((a.id, b.id), float(options.callback(one, other))) for (a, one), (b, other) in pairs)
            weighted = [(ends, weight) for ends, weight in weights if weight]
        case CosineEdges():
            new = {node.id: node.embedding for node in nodes if node.embedding is not None}
            if not new:
                return []
            embeddings = new | {node_id: vector for node_id, vector in stored if node_id not in new}
            ids, vectors = list(embeddings), unit_vectors(list(embeddings.values()))
            columns = nearest(vectors, np.arange(len(new)), options.top_k, options.threshold, _COSINE_DIGITS)
            near = zip(*(column.tolist() for column in columns), strict=True)
            cosines = {(min(row, other), max(row, other)): cosine for row, other, cosine in near}
            weighted = [((ids[a], ids[b]), max(0.0, cosine)) for (a, b), cosine in sorted(cosines.items())]
    kind = SupportedEdgeType.SEMANTIC
    return [
        KnowledgeEdge(*ends, SIMILAR, supported_edge_type=kind, weight=weight, directed=False)
        for ends, weight in weighted
    ]
