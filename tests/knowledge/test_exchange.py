"""Graphs to files and back, exactly; and as networkx reads and writes them."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline import KnowledgeEdge, KnowledgeGraph, KnowledgeNode
from pipeline.db.catalogue import list_graphs
from pipeline.db.client import Client
from pipeline.errors import GraphError
from pipeline.knowledge.exchange import Format, read_graph, write_graph
from pipeline.knowledge.visibility import ALL

SUFFIX = {Format.JSON: "json", Format.JSONL: "jsonl", Format.GRAPHML: "graphml"}
NODES = [
    KnowledgeNode(
        "a\r\n`\"<&>'",
        "t",
        ["x", "y z"],
        {
            "p": 1,
            "q": 1.5,
            "yes": True,
            "n": None,
            "l": ["a"],
            "d": {"e": [1]},
            "": "",
            "s": " spaced\n",
            "reverse": True,
        },
        [0.1, 0.2],
        "2026-01-01T00:00:00+00:00",
        "2026-01-02T00:00:00+00:00",
        child_ids=["b"],
    ),
    KnowledgeNode("b", "😀", created_at="2026-01-01", updated_at="2026-01-01", parent_id="a\r\n`\"<&>'"),
    KnowledgeNode("c", "t", created_at="2026-01-01", updated_at="2026-01-01"),
]
EDGES = [
    KnowledgeEdge("b", NODES[0].id, "r", "1", weight=0.1, properties={"k": [None], "w": 2}),
    KnowledgeEdge("b", "c", "r s", "2", directed=False, weight=1 / 3),
    KnowledgeEdge("b", "c", "r s", "3", directed=False, valid_at="2025-01-01", invalid_at="2025-02-01"),
    KnowledgeEdge("c", "c", "loop", expired_at="2026-02-01"),
]
EDGES = [dataclasses.replace(edge, created_at="2026-01-01") for edge in EDGES]


@pytest.fixture
def imported(client: Client, graph: KnowledgeGraph) -> Callable[..., KnowledgeGraph]:
    return lambda path, kind=None: KnowledgeGraph.import_graph(path, graph.name, kind, client=client)


def content(graph: KnowledgeGraph) -> tuple[list[KnowledgeNode], list[KnowledgeEdge]]:
    """All that a graph holds, with what has ended."""
    store = graph._store.at(ALL)
    nodes, edges = store.scan_nodes(), store.scan_edges()
    return sorted(nodes, key=lambda node: node.id), sorted(edges, key=lambda edge: edge.id)


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(Format))
def test_a_round_trip_is_exact(
    graph: KnowledgeGraph, imported: Callable[..., KnowledgeGraph], tmp_path: Path, kind: Format
) -> None:
    graph.add_nodes(NODES)
    graph.add_edges(EDGES)
    before = content(graph)
    path = tmp_path / f"graph.{SUFFIX[kind]}"

    graph.export(path, kind)
    after = imported(path, kind)
    after.export(again := tmp_path / f"again.{SUFFIX[kind]}", kind)

    assert before == (sorted(NODES, key=lambda node: node.id), sorted(EDGES, key=lambda edge: edge.id))
    assert content(after) == before
    if kind is not Format.JSONL:
        assert again.read_text() == path.read_text()
    assert not list(tmp_path.glob(".*"))


TEXT = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), min_size=1, max_size=10)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
GRAPHML = (
    '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    '<key id="k" for="edge" attr.name="weight" attr.type="{kind}"/>'
    '<graph edgedefault="directed"><node id="a"/><edge source="a" target="a"><data key="k">{text}</data></edge></graph>'
    "</graphml>"
)
ENTITY = '<!DOCTYPE graphml [<!ENTITY e "cut">]>' + GRAPHML.format(kind="string", text="be&e;fore")

CONTROL = re.compile(r"\\x[01]|\\uffff|\\ufffe|[\x00-\x1f\ufffe\uffff]")
"""What XML can't hold, in Python's own way of writing texts."""


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[KnowledgeNode], list[KnowledgeEdge]]:
    ids = draw(st.lists(TEXT, min_size=1, max_size=5, unique=True))
    nodes = [
        KnowledgeNode(
            one, draw(TEXT), draw(st.lists(TEXT, max_size=2)), draw(st.dictionaries(TEXT, VALUES, max_size=3))
        )
        for one in ids
    ]
    edges = [
        KnowledgeEdge(
            draw(st.sampled_from(ids)),
            draw(st.sampled_from(ids)),
            draw(TEXT),
            f"e{number}",
            weight=draw(st.floats(0, 1e6)),
            directed=draw(st.booleans()),
            properties=draw(st.dictionaries(TEXT, VALUES, max_size=2)),
        )
        for number in range(draw(st.integers(0, 5)))
    ]
    return nodes, edges


@pytest.mark.parametrize("kind", list(Format))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graph=graphs())
def test_any_graph_comes_back(tmp_path: Path, kind: Format, graph: tuple[Any, Any]) -> None:
    nodes, edges = (sorted(part, key=lambda record: record.id) for part in graph)
    path = tmp_path / "graph"
    with contextlib.ExitStack() as stack:
        if kind is Format.GRAPHML and CONTROL.search(repr(graph)):
            stack.enter_context(contextlib.suppress(GraphError))
            path.unlink(missing_ok=True)
        write_graph("g", nodes, edges, path, kind)
    if not path.exists():
        return

    read = read_graph(path, kind)

    assert [sorted(part, key=lambda record: record.id) for part in read] == [nodes, edges]


@pytest.mark.parametrize("directed", [True, False])
def test_networkx_reads_it(graph: KnowledgeGraph, tmp_path: Path, directed: bool) -> None:
    graph.add_nodes(KnowledgeNode(one, "t", properties={"p": 1}) for one in "abc")
    graph.add_edges(
        [KnowledgeEdge("a", "b", "r", directed=directed, weight=0.5), KnowledgeEdge("b", "c", "r", directed=False)]
    )
    path = tmp_path / "graph"
    graph.export(path, Format.GRAPHML)

    read = nx.read_graphml(path)

    assert read.is_directed() is directed
    assert set(read) == set("abc")
    assert nx.has_path(read, "c", "b")
    assert nx.has_path(read, "b", "a") is not directed
    assert {weight for _, _, weight in read.edges(data="weight")} == {0.5, 1.0}
    assert read.nodes["a"]["type"] == "t"


@pytest.mark.parametrize("make", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_what_networkx_writes_is_imported(
    imported: Callable[..., KnowledgeGraph], tmp_path: Path, make: type[nx.Graph]
) -> None:
    theirs = make()
    theirs.add_node(1, colour="red", type="disc")
    theirs.add_edge(1, "two", weight=0.5, since=1999)
    if theirs.is_multigraph():
        theirs.add_edge(1, "two", weight=0.25)
    path = tmp_path / "graph"
    nx.write_graphml(theirs, path)

    ours = imported(path, Format.GRAPHML)

    nodes, edges = content(ours)
    assert [(node.id, node.type, node.properties) for node in nodes] == [
        ("1", "disc", {"colour": "red"}),
        ("two", "node", {}),
    ]
    assert len(edges) == theirs.number_of_edges()
    assert {edge.weight for edge in edges} == {weight for _, _, weight in theirs.edges(data="weight")}
    assert {edge.directed for edge in edges} == {theirs.is_directed()}
    assert any(edge.properties.get("since") == 1999 for edge in edges)


def lines(*rows: Any) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


A, B = {"node": {"id": "a", "type": "t"}}, {"node": {"id": "b", "type": "t"}}
EDGE = {"edge": {"source": "a", "target": "b", "type": "r"}}


MANY = [{"node": {"id": str(number), "type": "t"}} for number in range(3_000)]
"""More than are read before the first are written."""


def open_files() -> set[str]:
    """The files that this process has open, where the system says."""
    files = set()
    for opened in Path("/proc/self/fd").iterdir() if sys.platform == "linux" else ():
        with contextlib.suppress(FileNotFoundError):
            files.add(str(opened.readlink()))
    return files


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "line 1 isn't JSON"),
        (lines(A) + "\nnonsense\n", "line 3 isn't JSON"),
        (lines(A, ["a"]), "line 2 is neither a node nor an edge"),
        (lines(A, {"vertex": {}}), "line 2 is neither a node nor an edge"),
        (lines({"node": {"id": "a"}}), "lacks type"),
        (lines({"node": {"id": "a", "type": "t", "colour": 1}}), "has colour"),
        (lines({"node": 3}), "'3' is no node"),
        (lines(A, A, *MANY), "'a' is there more than once"),
        (lines(A, EDGE), "needs the node 'b'"),
        (lines(A, B, EDGE, EDGE), "is there more than once"),
        (lines({"node": {"id": "a", "type": "t", "parent_id": "p"}}), "'a' names 'p'"),
        (
            lines(
                {"node": {"id": "a", "type": "t", "parent_id": "b"}},
                {"node": {"id": "b", "type": "t", "parent_id": "a"}},
            ),
            "own ancestors",
        ),
        (
            lines(
                {"node": {"id": "a", "type": "t", "embedding": [1]}},
                {"node": {"id": "b", "type": "t", "embedding": [1, 2]}},
            ),
            "one length",
        ),
        (lines({"node": {"id": "a", "type": "t", "embedding": "x"}}), "embedding"),
    ],
)
def test_a_file_that_is_wrong_is_refused_and_changes_nothing(
    client: Client,
    graph: KnowledgeGraph,
    cypher: Callable[..., Any],
    imported: Callable[..., KnowledgeGraph],
    tmp_path: Path,
    text: str,
    said: str,
) -> None:
    graph.add_node(KnowledgeNode("before", "t"))
    path = tmp_path / "graph.jsonl"
    path.write_text(text)

    with pytest.raises(GraphError, match=said) as caught:
        imported(path)

    assert str(path) not in open_files()
    assert caught.value.fix
    assert [node.id for node in KnowledgeGraph(graph.name, client=client).nodes()] == ["before"]
    assert cypher("MATCH (g:HopRankKnowledgeGraph {awaited_name: $name}) RETURN g", name=graph.name) == []


@pytest.mark.slow
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), value=ANYTHING)
def test_any_value_of_any_field_is_taken_or_refused_by_name(
    client: Client,
    graph: KnowledgeGraph,
    imported: Callable[..., KnowledgeGraph],
    tmp_path: Path,
    data: st.DataObject,
    value: object,
) -> None:
    records = [json.loads(line) for line in lines(A, B, EDGE).splitlines()]
    ((_, fields),) = data.draw(st.sampled_from(records)).items()
    known = KnowledgeNode.__slots__ + KnowledgeEdge.__slots__
    fields[data.draw(st.sampled_from([*fields, *known, "new"]))] = value
    path = tmp_path / "graph.jsonl"
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))

    with contextlib.suppress(GraphError):
        imported(path)
    assert graph.name in {one.name for one, _ in list_graphs(client)}


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("graph.json", "[]", "holds no JSON mapping"),
        ("graph.json", "{}", "is no hoprank-graph"),
        ("graph.json", '{"format": "hoprank-graph", "version": 1}', "no list of nodes"),
        ("graph.graphml", "<a", "is no GraphML"),
        ("graph.graphml", "<a/>", "holds no GraphML graph"),
        ("graph.graphml", ENTITY, "holds entities of its own"),
        ("graph.graphml", GRAPHML.format(kind="long", text="many"), "'weight' holds 'many', which isn't of type long"),
        ("graph.graphml", GRAPHML.format(kind="double", text=""), "'weight' holds '', which isn't of type double"),
        ("graph.graphml", GRAPHML.replace("weight", "j.x").format(kind="string", text="{{"), "isn't JSON"),
        ("graph.graphml", GRAPHML.replace("attr.name", "name").format(kind="long", text="1"), "of no named attribute"),
        ("graph\udcff.graphml", "<graphml/>", "holds no GraphML graph"),
        ("graph.xyz", "", "can't be told from its name"),
        ("graph.json", "\udc80", "isn't valid UTF-8"),
    ],
)
def test_what_is_no_graph_is_refused(
    imported: Callable[..., KnowledgeGraph], tmp_path: Path, name: str, text: str, said: str
) -> None:
    path = tmp_path / name
    path.write_bytes(text.encode("utf-8", "surrogateescape"))

    with pytest.raises(GraphError, match=said):
        imported(path)


def test_a_format_that_there_is_not_is_refused_with_those_that_there_are(tmp_path: Path) -> None:
    for refused in (
        lambda: write_graph("g", [], [], tmp_path / "g.json", "node-link"),
        lambda: read_graph(tmp_path, "node-link"),
    ):
        with pytest.raises(GraphError, match="node-link") as caught:
            refused()
        assert caught.value.fix == f"Give one of {', '.join(Format)}."
    with pytest.raises(GraphError, match=r"no\.json can't be read"):
        read_graph(tmp_path / "no.json", Format.JSON)


def test_a_file_appears_whole_or_not_at_all(graph: KnowledgeGraph, tmp_path: Path) -> None:
    graph.add_node(KnowledgeNode("\x01", "t"))
    (tmp_path / "graph.graphml").write_text("before")

    with pytest.raises(GraphError, match="control character"):
        graph.export(tmp_path / "graph.graphml")
    with pytest.raises(GraphError, match="can't be written"):
        graph.export(tmp_path / "no" / "graph.json")

    assert (tmp_path / "graph.graphml").read_text() == "before"
    assert [path.name for path in tmp_path.iterdir()] == ["graph.graphml"]


@pytest.mark.slow
def test_an_import_may_be_larger_than_a_batch(imported: Callable[..., KnowledgeGraph], tmp_path: Path) -> None:
    def rows() -> Iterator[dict[str, Any]]:
        for number in range(4_500):
            yield {"edge": {"source": str(number), "target": str((number + 1) % 4_500), "type": "r"}}
            yield {"node": {"id": str(number), "type": "t", **({"parent_id": "0"} if number else {})}}

    path = tmp_path / "graph.jsonl"
    path.write_text(lines(*rows()))

    graph = imported(path)

    assert (graph.size().nodes, graph.size().edges) == (4_500, 4_500)
    assert len((graph.get_node("0") or NODES[0]).child_ids) == 4_499
    graph.update_node("7", type="u")


@pytest.mark.parametrize("form", Format)
def test_graphs_of_different_histories_are_written_byte_for_byte(
    form: Format,
    new_graph: Callable[..., contextlib.AbstractContextManager[KnowledgeGraph]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pipeline.knowledge.exchange.json_format._RUN", 3)

    def properties(names: str) -> dict[str, Any]:
        return {name: dict.fromkeys(names, 1) for name in names}

    written = []
    for order in (1, -1):
        with new_graph() as graph:
            names = "zaq"[::order]
            nodes = [KnowledgeNode(f"n{one}", "t", properties=properties(names)) for one in range(9)]
            edges = [
                KnowledgeEdge(f"n{one}", f"n{(one * 5 + 2) % 9}", kind, properties=properties(names))
                for one in range(9)
                for kind in "xy"
            ]
            graph.sync(nodes[::order], edges[::order])
            path = tmp_path / f"{order}.{SUFFIX[form]}"
            graph.export(path, form)
            text = path.read_text().replace(graph.name, "NAME")
            written.append(re.sub(r"20\d\d-\d\d-\d\dT[\d:.]+(\+00:00|Z)?", "TIME", text))

    assert written[0] == written[1]
    assert "n8" in written[0]
