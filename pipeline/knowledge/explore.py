"""Explore any graph, by names or ids, for commands, services and domains: near nodes, paths, nodes and edges."""

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

from pipeline.db.catalogue import find_corpus, find_graph, list_corpora, list_graphs
from pipeline.db.client import Client
from pipeline.edges import MOST_HOPS
from pipeline.errors import GraphError, UnknownGraph, UnknownNode, did_you_mean
from pipeline.ids import document_id, entity_id
from pipeline.knowledge.graph import KnowledgeGraph
from pipeline.knowledge.reader import GraphReader
from pipeline.knowledge.records import Direction, KnowledgeEdge, KnowledgeNode, Reached
from pipeline.knowledge.search import Mode
from pipeline.knowledge.store.memory import leads
from pipeline.knowledge.traverse import Cost
from pipeline.text.inflection import LANGUAGES
from pipeline.text.names import entity_key

_NAMES = ("name", "title", "label", "key")  # properties that name a node, the best first
_LONGEST_NAME = 200  # characters
_SUGGESTED = 5  # both chosen by hand, to fit a line or two


@dataclass(frozen=True, slots=True)
class Path:
    """The nodes of a path in order, both ends included; empty if there is none.

    ``edges`` are all edges among the nodes, ``steps`` those that lead from each node to the next, heaviest first.
    """

    nodes: tuple[KnowledgeNode, ...] = ()
    edges: tuple[KnowledgeEdge, ...] = ()
    steps: tuple[tuple[KnowledgeEdge, ...], ...] = ()


def open_graph(client: Client, name: str) -> KnowledgeGraph:
    """Open the graph of that name, or else the corpus of that name as a graph; raises UnknownGraph if there is none."""
    if find_graph(client, name):
        return KnowledgeGraph(name, client=client, create=False)
    if find_corpus(client, name):
        return KnowledgeGraph.open(name, client=client)
    names = sorted({graph.name for graph, _ in list_graphs(client)} | {corpus.name for corpus in list_corpora(client)})
    listing = f"Known: {', '.join(names)}." if names else "There is none yet."
    raise UnknownGraph(f"There is no graph and no corpus {name!r}.", did_you_mean(name, names, listing))


def name_of(node: KnowledgeNode) -> str:
    """Return the name, title, label or key of a node, else its id; at most 200 characters."""
    named = (node.properties.get(name) for name in _NAMES)
    return next((value for value in named if isinstance(value, str) and value), node.id)[:_LONGEST_NAME]


def find_node(graph: GraphReader, given: str) -> KnowledgeNode:
    """Return the node that an id stands for, or in a corpus the key of a document or a name, or the name of one node.

    Raises UnknownNode if there is none, with nodes like it; GraphError if several have the name.
    """
    if corpus := graph.corpus_id:
        keys = dict.fromkeys(entity_key(given, language) for language in ("", *sorted(LANGUAGES)))
        found = graph.get_nodes([given, document_id(corpus, given), *(entity_id(corpus, key) for key in keys)])
        fix = "Give the id of a search result, the key of a document, or a name as the texts have it."
    elif not (found := graph.get_nodes([given])):
        found = next((nodes for name in _NAMES if (nodes := graph.filter_nodes_by_property(name, given))), [])
        if len(found) > 1:
            ids = ", ".join(repr(node.id[:80]) for node in found[:_SUGGESTED])
            raise GraphError(f"{len(found)} nodes of {graph.name!r} are named {given[:80]!r}.", f"Give an id: {ids}.")
    if found:
        return found[0]
    if not corpus:
        like = [repr(ranked.node.id) for ranked in graph.search(given, _SUGGESTED, mode=Mode.BM25)]
        fix = f"Nodes like it: {', '.join(like)}." if like else "Give the id of one of its nodes."
    raise UnknownNode(f"The graph {graph.name!r} has no node {given[:80]!r}.", fix)


def near(
    graph: GraphReader,
    start_id: str,
    depth: int = 1,
    *,
    limit: int | None = None,
    types: Sequence[str] | None = None,
    direction: Direction | str = Direction.BOTH,
) -> list[Reached]:
    """Return the nodes within ``depth`` edges of a node, itself left out: nearest first, then best score, then by id.

    With ``limit`` only those of the best scores; see :meth:`pipeline.knowledge.KnowledgeGraph.multi_hop_retrieval`.
    Raises GraphError if the graph lacks the node, or if ``depth`` isn't 1 to MOST_HOPS.
    """
    check_depth(depth)
    most = None if limit is None else limit + 1
    reached = graph.multi_hop_retrieval(start_id, depth, limit=most, edge_types=types, direction=direction)
    around = (one for one in reached if one.hops)
    return sorted(around, key=lambda one: (one.hops, -one.score, one.node.id))[:limit]


def path(
    graph: GraphReader,
    source_id: str,
    target_id: str,
    depth: int | None = None,
    *,
    types: Sequence[str] | None = None,
    direction: Direction | str = Direction.BOTH,
    by: Cost | str = Cost.HOPS,
) -> Path:
    """Return a shortest path of at most ``depth`` edges, of any length without it, with its edges.

    Raises GraphError if an end is missing, or if ``depth`` isn't 1 to MOST_HOPS.
    """
    check_depth(depth)
    nodes = graph.find_path(source_id, target_id, by=by, edge_types=types, max_depth=depth, direction=direction)
    if len(nodes) < 2:
        return Path(tuple(nodes))
    edges = tuple(graph.get_subgraph([node.id for node in nodes]).edges())
    allowed = sorted(
        (edge for edge in edges if types is None or edge.type in types), key=lambda edge: (-edge.weight, edge.id)
    )
    steps = []
    for before, after in ((before.id, after.id) for before, after in pairwise(nodes)):
        joining = (edge for edge in allowed if {edge.source, edge.target} == {before, after})
        steps.append(tuple(edge for edge in joining if leads(edge, before, Direction(direction))))
    return Path(tuple(nodes), edges, tuple(steps))


def list_nodes(
    graph: GraphReader,
    types: Sequence[str] | None = None,
    limit: int = 100,
    *,
    label: str | None = None,
    properties: Mapping[str, str] | None = None,
    by_importance: bool = False,
) -> list[KnowledgeNode]:
    """Return the first ``limit`` nodes by id, or those of most PageRank: of these types, with a label, or all.

    A node has one of ``properties`` if its value, or an entry of a list, reads as the text that is given.
    """
    of_types = (graph.find_nodes_by_type(kind) for kind in dict.fromkeys(types)) if types else [graph.nodes()]
    wanted = (
        node
        for node in chain.from_iterable(of_types)
        if (label is None or label in node.labels) and _has(node, properties or {})
    )
    ranks = graph.importance(graph.size().nodes or 1) if by_importance else {}
    return heapq.nsmallest(limit, wanted, key=lambda node: (-ranks.get(node.id, 0.0), node.id))


def _has(node: KnowledgeNode, properties: Mapping[str, str]) -> bool:
    for name, text in properties.items():
        value = node.properties.get(name)
        values = value if isinstance(value, Sequence) and not isinstance(value, str) else (value,)
        if text not in map(str, values):
            return False
    return True


def list_edges(
    graph: GraphReader,
    node_id: str | None = None,
    depth: int | None = None,
    *,
    types: Sequence[str] | None = None,
    direction: Direction | str = Direction.BOTH,
    limit: int = 100,
) -> list[KnowledgeEdge]:
    """Return the first ``limit`` edges, heaviest first, ties by id: of a node, or without one of the whole graph.

    With ``depth`` they are those among the node and the nodes within so many edges of it, at most ``limit``, as
    :func:`near` returns them. ``types`` leaves out other
    edges, and follows none of them. Raises GraphError if the graph lacks the node, or if ``depth`` isn't 1 to
    MOST_HOPS.
    """
    check_depth(depth)
    if node_id is None:
        edges = graph.edges()
    elif depth is None:
        edges = graph.get_edges_of_node(node_id, direction=direction)
    else:
        around = near(graph, node_id, depth, limit=limit, types=types, direction=direction)
        edges = graph.get_subgraph([node_id, *(one.node.id for one in around)]).edges()
    wanted = (edge for edge in edges if types is None or edge.type in types)
    return heapq.nsmallest(limit, wanted, key=lambda edge: (-edge.weight, edge.id))


def check_depth(depth: int | None) -> None:
    """Raise GraphError unless a depth is 1 to MOST_HOPS, or None for no bound."""
    if depth is not None and not 1 <= depth <= MOST_HOPS:
        raise GraphError(f"The depth is {depth}.", f"Give 1 to {MOST_HOPS} edges.")
