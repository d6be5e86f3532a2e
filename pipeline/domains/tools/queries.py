"""Queries of a tool graph: tools, chains, a tool with its links, the nodes around one and the path between two."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Self

import numpy as np

from pipeline.domains.tools.catalogue import node_id, tool_of
from pipeline.domains.tools.chains.network import LINKS, Link, ToolNetwork
from pipeline.domains.tools.chains.plan import Chain
from pipeline.domains.tools.chains.search import chains_between, chains_for, chains_in_order, find_tool
from pipeline.domains.tools.chains.task import TaskWords
from pipeline.domains.tools.find import FoundTool, clauses, embedding_by, find_tools, score_tools
from pipeline.domains.tools.index import ToolIndex
from pipeline.domains.tools.schema import SERVICE, TOOL, ToolEdge
from pipeline.domains.tools.settings import ToolSettings
from pipeline.domains.tools.types.system import TypeSystem
from pipeline.embedding.embedder import Embedder
from pipeline.errors import GraphError, did_you_mean
from pipeline.knowledge import KnowledgeEdge, KnowledgeGraph, KnowledgeNode, Reached, explore
from pipeline.retrieve.question import check_question

_CANDIDATES = 12
"""Tools found for a task of one clause among which chains are sought. Chosen by hand; not measured."""

_FOR_A_CLAUSE = 5
"""Tools found for each clause of a task. Chosen by hand: with 8 clauses at most, 40 tools are combined."""


@dataclass(frozen=True, slots=True)
class ReachedNode:
    """A node, its distance in edges, and its similarity, 1 / (1 + distance)."""

    node: KnowledgeNode
    distance: int

    @property
    def similarity(self) -> float:
        """The similarity to the node where the traversal began."""
        return 1 / (1 + self.distance)


@dataclass(frozen=True, slots=True)
class LinkedTool:
    """A tool at the other end of a link, the link's confidence, and its evidence."""

    tool: str
    confidence: float
    why: str


@dataclass(frozen=True, slots=True)
class ToolDetails:
    """A tool with its inputs and outputs (``path (type)``), and the tools that may run before and after it."""

    id: str
    name: str
    service: str
    description: str
    takes: tuple[str, ...]
    returns: tuple[str, ...]
    before: tuple[LinkedTool, ...]
    after: tuple[LinkedTool, ...]


class ToolSearch:
    """Searches of the tools and services of one graph. Thread-safe.

    ``edges`` returns the edges of a type, ``name`` is the graph's. Raises GraphError if it holds no tools.
    """

    def __init__(
        self,
        nodes: Sequence[KnowledgeNode],
        edges: Callable[[str], Sequence[KnowledgeEdge]],
        embedder: Embedder,
        settings: ToolSettings,
        name: str = "tools",
        check: Callable[[], None] = lambda: None,
    ) -> None:
        tools = [node for node in nodes if node.type == TOOL]
        services = [node for node in nodes if node.type == SERVICE]
        if not tools:
            raise GraphError(f"The graph {name!r} holds no tools.", "Build it: hoprank tools build PATH.")
        self._name, self._edges, self._check = name, edges, check
        self._embed, self._settings = embedding_by(embedder), settings
        self._flows = edges(ToolEdge.DATA_FLOW.value)
        self._tools = [tool_of(node) for node in tools]
        names = {node.id: str(node.properties.get("name", node.id)) for node in services}
        self._services = {id_.removeprefix(node_id(SERVICE)): name for id_, name in names.items()}
        self.index = ToolIndex.of_nodes(tools, services, self._flows)
        check()

    @classmethod
    def read(
        cls,
        graph: KnowledgeGraph,
        embedder: Embedder,
        settings: ToolSettings,
        check: Callable[[], None] = lambda: None,
    ) -> Self:
        """Read a graph, once. ``check`` is called after each reading, and raises if the graph has changed since."""
        nodes = [*graph.find_nodes_by_type(TOOL), *graph.find_nodes_by_type(SERVICE)]
        return cls(nodes, graph.get_edges_by_type, embedder, settings, graph.name, check)

    @cached_property
    def network(self) -> ToolNetwork:
        """The links between the tools, read at their first use: finding tools needs none."""
        others = (self._edges(kind.value) for kind in LINKS if kind is not ToolEdge.DATA_FLOW)
        network = ToolNetwork.of_edges(self._tools, self._services, chain(self._flows, *others))
        self._check()
        return network

    @cached_property
    def _system(self) -> TypeSystem:
        fields = (*self.network.takes.values(), *self.network.returns.values())
        return TypeSystem(self._settings.conversions, (field.type for each in fields for field in each))

    def find(self, task: str, top_k: int | None = None) -> list[FoundTool]:
        """Return the tools for a task, best first; without ``top_k`` as many as the task seems to need."""
        return find_tools(self.index, task, self._embed, top_k)

    def chains(self, task: str, limit: int | None = None) -> list[Chain]:
        """Return the best chains for a task: a tool for each clause, or any tools that fit a single clause."""
        limit, longest = limit or self._settings.chains, self._settings.longest
        task = check_question(task, "task")
        parts, words = clauses(task), TaskWords(self.network, task)
        if len(parts) > 1:
            candidates = [self._relevance(part, _FOR_A_CLAUSE) for part in parts]
            return chains_in_order(self.network, words, candidates, longest=longest, limit=limit)
        found = self._relevance(task, _CANDIDATES)
        return chains_for(self.network, words, found, longest=longest, limit=limit)

    def _relevance(self, text: str, top_k: int) -> dict[str, float]:
        """Return the tools that fit a text best, each with its share of the best score and cosine."""
        scored = score_tools(self.index, text, self._embed)
        shares = scored.scores / scored.scores.max() * np.maximum(scored.cosines / scored.cosines.max(), 0.0)
        best = np.argsort(-shares, kind="stable")[:top_k].tolist()
        return {self.index.tools[row].id: float(shares[row]) for row in best if shares[row] > 0}

    def chains_between(self, start: str, goal: str, limit: int | None = None) -> list[Chain]:
        """Return the best chains from a tool or available data to a tool or wanted data."""
        longest, limit = self._settings.longest, limit or self._settings.chains
        return chains_between(self.network, self._system, start, goal, longest=longest, limit=limit)

    def show(self, name: str) -> ToolDetails:
        """Return a tool, by id or name, with its links; raises GraphError if there is none or several have the name."""
        network = self.network
        tool = find_tool(network.tools.values(), name)
        if tool is None:
            names = [one.name for one in network.tools.values()]
            fix = did_you_mean(name, names, f"`hoprank graph list {self._name} --type {TOOL}` lists them.")
            raise GraphError(f"The graph {self._name!r} has no tool {name!r}.", fix)
        before, after = network.incoming.get(tool.id, ()), network.outgoing.get(tool.id, ())
        return ToolDetails(
            id=tool.id,
            name=tool.name,
            service=network.services.get(tool.service, tool.service),
            description=tool.description,
            takes=tuple(f"{field.path} ({field.type.name})" for field in network.takes[tool.id]),
            returns=tuple(f"{field.path} ({field.type.name})" for field in network.returns[tool.id]),
            before=tuple(LinkedTool(link.source, link.confidence, _why(link)) for link in before),
            after=tuple(LinkedTool(link.target, link.confidence, _why(link)) for link in after),
        )


def traverse(
    graph: KnowledgeGraph, start: str, depth: int, edge_types: Sequence[str] = (), limit: int = 50
) -> list[ReachedNode]:
    """Return the nodes within ``depth`` edges of a node or tool, nearest first, ties by id; edges lead both ways.

    Raises GraphError if the graph has no such node, or if ``depth`` is out of bounds.
    """
    explore.check_depth(depth)
    types, start_id, reached = _checked(edge_types), _id(graph, start), list[Reached]()
    for hops in range(1, depth + 1):  # no farther than it takes to fill the limit: all that is reached is read
        before, reached = len(reached), explore.near(graph, start_id, hops, types=types)
        if not before < len(reached) < limit:
            break
    nodes = (ReachedNode(one.node, one.hops) for one in reached)
    return sorted(nodes, key=lambda one: (one.distance, one.node.id))[:limit]


def path(
    graph: KnowledgeGraph, start: str, goal: str, depth: int = 8, edge_types: Sequence[str] = ()
) -> list[KnowledgeNode]:
    """Return the nodes of a path with the fewest edges between two nodes or tools; nothing if there is none."""
    types = _checked(edge_types)
    return list(explore.path(graph, _id(graph, start), _id(graph, goal), depth, types=types).nodes)


def _checked(edge_types: Sequence[str]) -> list[str] | None:
    """Return edge types, None for all; raises GraphError for an unknown one."""
    known = [kind.value for kind in ToolEdge]
    for name in edge_types:
        if name not in known:
            fix = did_you_mean(name, known, f"Give one of {', '.join(known)}.")
            raise GraphError(f"There is no edge type {name!r}.", fix)
    return list(edge_types) or None


def _id(graph: KnowledgeGraph, name: str) -> str:
    """Return the id of the node with an id, or of the tool with a name."""
    if graph.get_node(name):
        return name
    named = graph.filter_nodes_by_property("name", name)
    tool = find_tool((tool_of(node) for node in named if node.type == TOOL), name)
    if tool is None:
        raise GraphError(
            f"The graph {graph.name!r} has no node {name!r}.",
            f"`hoprank graph list {graph.name} --type {TOOL}` lists the tools.",
        )
    return tool.id


def _why(link: Link) -> str:
    parts = [f"{fit.output} fits {fit.input}" for fit in link.mappings]
    stated = [f"stated as a need{f', {link.condition}' if link.condition else ''}"] if link.stated else []
    return "; ".join([*stated, *parts]) or "named in its text"
