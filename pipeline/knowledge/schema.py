"""The schema of a kind of graph: its node types, and its edge types with the types of their endpoints."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pipeline.errors import GraphError
from pipeline.knowledge.records import KnowledgeEdge, KnowledgeNode


@dataclass(frozen=True, slots=True)
class EdgeType:
    """An edge type: the node types, one or several, of ``source`` and ``target``, and what an edge says of them."""

    source: str | tuple[str, ...]
    target: str | tuple[str, ...]
    description: str


@dataclass(frozen=True, slots=True)
class Schema:
    """``nodes`` describes the node types and ``edges`` the edge types, by name.

    Example::

        Schema(
            nodes={"dish": "what is cooked", "food": "what it is made of"},
            edges={"needs": EdgeType("dish", "food", "the dish takes the food")},
        )
    """

    nodes: Mapping[str, str]
    edges: Mapping[str, EdgeType]

    def check(self, nodes: Iterable[KnowledgeNode], edges: Iterable[KnowledgeEdge]) -> None:
        """Raise GraphError naming the first node or edge whose type, or whose endpoint's type, the schema lacks.

        Endpoints that are not among ``nodes`` are not checked.
        """
        types = {node.id: node.type for node in nodes}
        for node_id, kind in types.items():
            if kind not in self.nodes:
                raise GraphError(f"The node {node_id[:80]!r} has the type {kind!r}.", _one_of(self.nodes))
        for edge in edges:
            where = f"The edge from {edge.source[:80]!r} to {edge.target[:80]!r}"
            if edge.type not in self.edges:
                raise GraphError(f"{where} has the type {edge.type!r}.", _one_of(self.edges))
            edge_type = self.edges[edge.type]
            for node_id, declared in ((edge.source, edge_type.source), (edge.target, edge_type.target)):
                allowed = (declared,) if isinstance(declared, str) else declared
                if (end := types.get(node_id)) is not None and end not in allowed:
                    raise GraphError(f"{where}, {edge.type!r}, has an end of type {end!r}.", _one_of(allowed))


def _one_of(names: Iterable[str]) -> str:
    return f"The schema declares: {', '.join(map(str, names))}."
