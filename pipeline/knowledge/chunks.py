"""Nodes from chunks of content, and edges between them: by cosine, as given, or as a function of the caller says."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pipeline.errors import GraphError
from pipeline.ids import digest
from pipeline.knowledge.records import Json, KnowledgeEdge, KnowledgeNode, SupportedEdgeType

_BLOCK = 1024
_COSINE_DIGITS = 6

SIMILAR = "similar"
"""Type of the edges that cosine and callback make."""


@dataclass(frozen=True, slots=True)
class GraphChunk:
    """A piece of content; its text and metadata become its node's properties. Without an id it gets a derived one."""

    text: str | None = None
    embedding: Sequence[float] | None = None
    metadata: Mapping[str, Json] = field(default_factory=dict)
    id: str | None = None


@dataclass(frozen=True, slots=True)
class CosineEdges:
    """Undirected semantic edges between embeddings of a cosine of ``threshold`` or more, which is their weight.

    New nodes are compared with each other and with the graph's earlier nodes. ``top_k`` keeps only each new node's
    nearest.
    """

    threshold: float = 0.7
    top_k: int | None = None

    def __post_init__(self) -> None:
        if not -1 <= self.threshold <= 1 or (self.top_k is not None and self.top_k < 1):
            raise GraphError(
                f"Cosine edges can't have threshold={self.threshold}, top_k={self.top_k}.",
                "Give a threshold of -1 to 1, and a top_k of 1 or more, or None.",
            )


@dataclass(frozen=True, slots=True)
class ExplicitEdges:
    """The edges that are given, and no others."""

    edges: Sequence[KnowledgeEdge]


@dataclass(frozen=True, slots=True)
class CallbackEdges:
    """An undirected edge between each two new chunks for which ``callback`` says True, or a weight of more than 0."""

    callback: Callable[[GraphChunk, GraphChunk], bool | float]


EdgeOptions: TypeAlias = CosineEdges | ExplicitEdges | CallbackEdges
"""How edges come about when nodes are made from chunks."""


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
    earlier: Iterable[tuple[str, Sequence[float]]],
) -> list[KnowledgeEdge]:
    """Return the edges that ``options`` ask for; ``earlier`` are ids and embeddings that the graph has already."""
    match options:
        case ExplicitEdges():
            return list(options.edges)
        case CallbackEdges():
            return list(_called(nodes, chunks, options.callback))
        case CosineEdges():
            return list(_similar(nodes, options, earlier))


def _called(
    nodes: Sequence[KnowledgeNode],
    chunks: Sequence[GraphChunk],
    callback: Callable[[GraphChunk, GraphChunk], bool | float],
) -> Iterator[KnowledgeEdge]:
    for (one, a), (other, b) in combinations(zip(nodes, chunks, strict=True), 2):
        if weight := float(callback(a, b)):
            yield _edge(one.id, other.id, weight)


def _similar(
    nodes: Sequence[KnowledgeNode], options: CosineEdges, earlier: Iterable[tuple[str, Sequence[float]]]
) -> Iterator[KnowledgeEdge]:
    new = [(node.id, node.embedding) for node in nodes if node.embedding is not None]
    if not new:
        return
    own = {one for one, _ in new}
    everything = [*new, *((one, vector) for one, vector in earlier if one not in own)]
    ids = [one for one, _ in everything]
    unit = _unit([vector for _, vector in everything])
    pairs: dict[tuple[int, int], float] = {}
    for start in range(0, len(new), _BLOCK):
        cosines = unit[start : min(start + _BLOCK, len(new))] @ unit.T
        for row, others in _near(cosines, start, options):
            for other in others.tolist():
                pairs[min(row, other), max(row, other)] = float(cosines[row - start, other])
    for (one, other), cosine in sorted(pairs.items()):
        yield _edge(ids[one], ids[other], max(0.0, min(1.0, round(cosine, _COSINE_DIGITS))))


def _near(
    cosines: npt.NDArray[np.float32], start: int, options: CosineEdges
) -> Iterator[tuple[int, npt.NDArray[np.int64]]]:
    """Yield each row of a block, and which others are near enough to it."""
    rows = np.arange(len(cosines))
    cosines[rows, start + rows] = -np.inf
    for row in rows.tolist():
        others = np.flatnonzero(cosines[row] >= options.threshold - 10.0**-_COSINE_DIGITS)
        if options.top_k is not None:
            others = others[np.argsort(-cosines[row, others], kind="stable")][: options.top_k]
        yield start + row, others.astype(np.int64)


def _unit(vectors: Sequence[Sequence[float]]) -> npt.NDArray[np.float32]:
    stacked = np.asarray(vectors, dtype=np.float32)
    unit: npt.NDArray[np.float32] = stacked / np.linalg.norm(stacked, axis=1, keepdims=True)
    return unit


def _edge(source: str, target: str, weight: float) -> KnowledgeEdge:
    kind = SupportedEdgeType.SEMANTIC
    return KnowledgeEdge(source, target, SIMILAR, supported_edge_type=kind, weight=weight, directed=False)
