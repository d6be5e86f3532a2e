"""Keep a graph of services: bring it to a state, find paths in it, rank its nodes."""

from hoprank import HopRank, KnowledgeEdge, KnowledgeNode

DEPENDS = {
    "shop": ["payments", "catalogue"],
    "payments": ["ledger", "auth"],
    "catalogue": ["search"],
    "ledger": ["postgres"],
    "auth": ["postgres"],
    "search": ["postgres"],
}

with HopRank.connect() as hoprank:
    graph = hoprank.graph("example-services")
    names = {*DEPENDS, *(needed for needs in DEPENDS.values() for needed in needs)}
    nodes = [KnowledgeNode(name, "service") for name in sorted(names)]
    edges = [KnowledgeEdge(name, needed, "depends_on") for name, needs in DEPENDS.items() for needed in needs]
    graph.sync(nodes, edges)  # what the graph has besides these is removed; a second run writes nothing

    print(graph.find_path("shop", "postgres"))
    print([node.id for node in graph.get_neighbors("postgres", direction="in")], "need postgres")
    print("most depends on:", next(iter(graph.importance(direction="out"))))
