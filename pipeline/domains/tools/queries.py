"""Queries of a tool graph: tools, chains, a tool with its links, the nodes around one and the path between two."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, Self

from pipeline.api import HopRank
from pipeline.domains.tools.catalogue import node_id, tool_of
from pipeline.domains.tools.chains.network import LINKS, Link, ToolNetwork
from pipeline.domains.tools.chains.plan import Chain
from pipeline.domains.tools.chains.search import chains_between, chains_for, chains_in_order, find_tool
from pipeline.domains.tools.find import FoundTool, Role, clauses, embedding_by, find_tools
from pipeline.domains.tools.index import ToolIndex
from pipeline.domains.tools.schema import SERVICE, TOOL, ToolEdge
from pipeline.domains.tools.settings import ToolSettings
from pipeline.domains.tools.types.system import TypeSystem
from pipeline.embedding.embedder import Embedder
from pipeline.errors import GraphError, did_you_mean
from pipeline.knowledge import KnowledgeGraph, KnowledgeNode, Reached, explore

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

    def to_json(self) -> dict[str, Any]:
        """Return the node's id and type, its distance and similarity."""
        distance, similarity = self.distance, self.similarity
        return {"id": self.node.id, "type": self.node.type, "distance": distance, "similarity": similarity}


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
    """Searches of one tool graph, which is read once. Thread-safe. Raises GraphError if the graph holds no tools.

    ``check`` is called after each reading, and raises if the graph has changed: what was read is not kept then.
    """

    def __init__(
        self,
        graph: KnowledgeGraph,
        embedder: Embedder,
        settings: ToolSettings,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        nodes, services = graph.find_nodes_by_type(TOOL), graph.find_nodes_by_type(SERVICE)
        if not nodes:
            raise GraphError(f"The graph {graph.name!r} holds no tools.", "Build it: hoprank tools build PATH.")
        self._graph, self._embed, self._settings, self._check = graph, embedding_by(embedder), settings, check
        self._flows = graph.get_edges_by_type(ToolEdge.DATA_FLOW.value)
        self._tools = [tool_of(node) for node in nodes]
        names = {node.id: str(node.properties.get("name", node.id)) for node in services}
        self._services = {id_.removeprefix(node_id(SERVICE)): name for id_, name in names.items()}
        self.index = ToolIndex.of_nodes(nodes, services, self._flows)
        check()

    @classmethod
    def open(cls, hoprank: HopRank, graph: str = "tools") -> Self:
        """Read the tool graph of a name; raises GraphError if there is none, or if it holds no tools."""
        settings = hoprank.settings.section(ToolSettings)
        return cls(hoprank.graph(graph, create=False), hoprank.embedder, settings)

    @cached_property
    def network(self) -> ToolNetwork:
        """The links between the tools, read at their first use: finding tools needs none."""
        others = (self._graph.get_edges_by_type(kind.value) for kind in LINKS if kind is not ToolEdge.DATA_FLOW)
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
        limit = limit or self._settings.chains
        parts = clauses(task)
        if len(parts) > 1:
            return chains_in_order(self.network, [self._relevance(part, _FOR_A_CLAUSE) for part in parts], limit=limit)
        found = self._relevance(task, _CANDIDATES)
        return chains_for(self.network, found, longest=self._settings.longest, limit=limit)

    def _relevance(self, task: str, top_k: int) -> dict[str, float]:
        """Return the targets found for a task, each with its share of the best score."""
        found = [tool for tool in self.find(task, top_k) if tool.role is Role.TARGET]
        best = max((tool.score for tool in found), default=1.0)
        return {tool.id: tool.score / best for tool in found}

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
            fix = did_you_mean(name, names, "`hoprank tools list` shows the tools.")
            raise GraphError(f"The graph {self._graph.name!r} has no tool {name!r}.", fix)
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
        raise GraphError(f"The graph {graph.name!r} has no node {name!r}.", "`hoprank tools list` shows the tools.")
    return tool.id


def _why(link: Link) -> str:
    parts = [f"{fit.output} fits {fit.input}" for fit in link.mappings]
    stated = [f"stated as a need{f', {link.condition}' if link.condition else ''}"] if link.stated else []
    return "; ".join([*stated, *parts]) or "named in its text"
