"""Graphs over HTTP, read-only: knowledge graphs, and corpora as graphs."""

from __future__ import annotations

from fastapi.testclient import TestClient

from pipeline import HopRank, KnowledgeEdge, KnowledgeGraph, KnowledgeNode


def test_a_knowledge_graph_is_read(service: TestClient, graph: KnowledgeGraph) -> None:
    names = {"a": "a", "b": "the chef", "c": "c"}
    nodes = [KnowledgeNode(id_, "dish", properties={"name": name, "text": f"a {id_}"}) for id_, name in names.items()]
    graph.add_nodes(nodes)
    graph.add_edges([KnowledgeEdge("a", "b", "needs", weight=2.0), KnowledgeEdge("c", "b", "needs")])
    url = f"/v1/graphs/{graph.name}"

    around = service.get(f"{url}/neighbours", params={"id": "b", "limit": 1}).json()
    path, *bounded = (
        service.get(f"{url}/path", params={"source": "a", "target": "c", **depth}).json()
        for depth in ({}, {"depth": 2}, {"depth": 1})
    )

    assert {"name": graph.name, "nodes": 3, "edges": 2, "kind": None} in service.get("/v1/graphs").json()
    drawn = service.get(f"{url}/picture", params={"limit": 2}).json()
    assert ([node["id"] for node in drawn["nodes"]][1], drawn["total_nodes"]) == ("b", 3)
    assert drawn["node_types"] == [["dish", 2, "node-1"]]
    assert service.get(url).json()["nodes"] == 3
    assert service.get(f"{url}/node", params={"id": "a"}).json()["properties"]["text"] == "a a"
    assert service.get(f"{url}/node", params={"id": "the chef"}).json()["id"] == "b"
    assert [node["id"] for node in around["nodes"]] == ["a"]
    assert around["left_out"] == 1
    assert [(edge["source"], edge["target"], edge["weight"]) for edge in around["edges"]] == [("a", "b", 2.0)]
    assert [node["id"] for node in path["nodes"]] == ["a", "b", "c"]
    assert len(path["edges"]) == 2
    assert bounded == [path, {"nodes": [], "edges": []}]
    assert service.get(f"{url}/path?source=a&target=c&depth=21").status_code == 422


def test_a_corpus_is_read_as_a_graph(service: TestClient, hoprank: HopRank, library: str) -> None:
    (hit,) = hoprank.search("Who designed the Analytical Engine?", corpus=library, top_k=1).items
    url = f"/v1/corpora/{library}/graph"

    around = service.get(f"{url}/neighbours", params={"id": hit.metadata["id"]}).json()
    entity = next(node for node in around["nodes"] if node["type"] == "entity")
    path = service.get(f"{url}/path", params={"source": entity["id"], "target": hit.metadata["id"]}).json()

    drawn = service.get(f"{url}/picture").json()
    assert [row[0] for row in drawn["node_types"]] == ["entity", "document"], "passages are within their documents"
    names = {node["name"] for node in drawn["nodes"]}
    assert {"Ada Lovelace", "Charles Babbage"} <= names
    assert {row[0] for row in drawn["edge_types"]} <= {"MENTIONS", "REFERS_TO", "LINKS_TO"}
    assert len(drawn["edges"]) > len(drawn["nodes"]) / 2
    assert around["node"]["type"] == "chunk"
    assert {node["type"] for node in around["nodes"]} >= {"document", "entity"}
    assert [node["id"] for node in path["nodes"]] == [entity["id"], hit.metadata["id"]]
    assert service.get(f"{url}/path?source={entity['id']}&target={entity['id']}&depth=0").status_code == 422


def test_unknown_graphs_and_nodes_are_told(service: TestClient, graph: KnowledgeGraph, library: str) -> None:
    for url, type_ in (
        ("/v1/graphs/no such graph", "UnknownGraph"),
        (f"/v1/graphs/{graph.name}/node?id=no", "UnknownNode"),
        (f"/v1/graphs/{graph.name}/path?source=no&target=no", "UnknownNode"),
        (f"/v1/corpora/{library}/graph/neighbours?id=no", "UnknownNode"),
    ):
        answer = service.get(url)
        assert (answer.status_code, answer.json()["type"]) == (404, type_)


def test_a_graph_of_a_domain_is_told_as_what_it_is(service: TestClient, graph: KnowledgeGraph) -> None:
    graph.add_nodes([KnowledgeNode("cook", "skill"), KnowledgeNode("pan", "package")])
    graph.add_edges([KnowledgeEdge("cook", "pan", "uses")])

    listed = {one["name"]: one["kind"] for one in service.get("/v1/graphs").json()}

    assert listed[graph.name] == "skills"
