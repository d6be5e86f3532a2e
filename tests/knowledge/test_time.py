"""The graph at other times: every read is that of a model in plain Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline import HopRank, KnowledgeEdge, KnowledgeGraph, KnowledgeNode
from pipeline.errors import GraphError
from pipeline.knowledge.visibility import Visibility

NewGraph = Callable[[], AbstractContextManager[KnowledgeGraph]]

Periods = dict[str, tuple[str | None, str | None]]

IDS = "abcdef"
TIMES = [f"20{year}-01-01T00:00:00+00:00" for year in range(10, 20)]
period = st.tuples(st.sampled_from([None, *TIMES]), st.sampled_from([None, *TIMES])).map(
    lambda ends: ends if None in ends else tuple(sorted(ends))  # type: ignore[type-var]  # no None among them
)
periods = st.fixed_dictionaries({"world": period, "graph": period})
moments = st.tuples(st.sampled_from([None, *TIMES]), st.sampled_from([None, *TIMES]))


def times(drawn: Periods) -> dict[str, Any]:
    (valid, invalid), (created, expired) = drawn["world"], drawn["graph"]
    return {"valid_at": valid, "invalid_at": invalid, "created_at": created or TIMES[0], "expired_at": expired}


graphs = st.tuples(
    st.lists(periods, min_size=len(IDS), max_size=len(IDS)),
    st.lists(st.tuples(st.sampled_from(IDS), st.sampled_from(IDS), st.booleans(), periods), max_size=10),
)


def seen(record: KnowledgeNode | KnowledgeEdge, as_of: str, known_at: str) -> bool:
    """The model, for canonical times, which sort as texts."""
    world = (record.valid_at or "") <= as_of < (record.invalid_at or "9999")
    return world and (record.created_at or "") <= known_at < (record.expired_at or "9999")


@pytest.mark.parametrize(
    ("at", "is_seen"), [(TIMES[0], False), (TIMES[1], True), (TIMES[2], True), (TIMES[3], False), (TIMES[4], False)]
)
def test_what_holds_is_seen_from_its_start_and_no_more_at_its_end(at: str, is_seen: bool) -> None:
    node = KnowledgeNode("a", "Concept", valid_at=TIMES[1], invalid_at=TIMES[3])
    known = KnowledgeNode("a", "Concept", created_at=TIMES[1], expired_at=TIMES[3])

    assert Visibility.at(at, TIMES[2]).sees(node) is is_seen
    assert Visibility.at(TIMES[2], at).sees(known) is is_seen


@pytest.mark.slow
@settings(max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graphs, st.lists(moments, min_size=1, max_size=4))
def test_every_read_sees_what_the_model_sees(
    new_graph: NewGraph,
    drawn: tuple[Sequence[Periods], Sequence[tuple[str, str, bool, Periods]]],
    asked: Sequence[tuple[str | None, str | None]],
) -> None:
    nodes = [
        KnowledgeNode(id_, "t", ["l"], {"text": f"word {id_}"}, [1.0, ord(id_) - 96], **times(drawn[0][place]))
        for place, id_ in enumerate(IDS)
    ]
    edges = [
        KnowledgeEdge(source, target, "r", str(number), directed=directed, **times(periods))
        for number, (source, target, directed, periods) in enumerate(drawn[1])
    ]
    with new_graph() as graph:
        graph.add_nodes(nodes)
        graph.add_edges(edges)
        for as_of, known_at in asked:
            ids = {node.id for node in nodes if seen(node, as_of or "2026", known_at or "2026")}
            wanted = {
                edge.id: edge
                for edge in edges
                if {edge.source, edge.target} <= ids and seen(edge, as_of or "2026", known_at or "2026")
            }
            then = graph.at(as_of, known_at)
            model = then.to_memory()

            assert {node.id for node in then.nodes()} == ids
            assert {edge.id for edge in then.edges()} == set(wanted)
            assert (then.size().nodes, then.size().edges) == (len(ids), len(wanted))
            assert {node.id for node in then.find_nodes_by_type("t")} == ids
            assert {node.id for node in then.find_nodes_by_label("l")} == ids
            assert {edge.id for edge in then.get_edges_by_type("r")} == set(wanted)
            assert {id_ for id_ in IDS if then.get_node(id_)} == ids
            assert {edge.id for edge in edges if then.get_edge(edge.id)} == set(wanted)
            assert {ranked.node.id for ranked in then.search("word", len(IDS), mode="bm25")} == ids
            found = {ranked.node.id for ranked in then.search("word", len(IDS), mode="graph")}
            assert found == {ranked.node.id for ranked in model.search("word", len(IDS), mode="graph")} <= ids
            assert {ranked.node.id for ranked in then.query([1.0, 1.0], len(IDS), None)} == ids
            assert then.importance() == pytest.approx(model.importance(), abs=1e-3)
            for id_ in sorted(ids):
                assert then.get_neighbor_info(id_) == model.get_neighbor_info(id_)
                assert [one.node.id for one in then.multi_hop_retrieval(id_)] == [
                    one.node.id for one in model.multi_hop_retrieval(id_)
                ]


def test_a_name_that_was_corrected_is_read_as_it_was_known(graph: KnowledgeGraph) -> None:
    """Ada worked at A until 2015; that it was B was found out in 2018."""
    graph.add_nodes([KnowledgeNode(id_, "t", created_at="2010-01-01") for id_ in ("ada", "a", "b")])
    held: dict[str, Any] = {"valid_at": "2012-01-01", "invalid_at": "2015-01-01"}
    graph.add_edges(
        [
            KnowledgeEdge("ada", "a", "works at", created_at="2013-01-01", expired_at="2018-01-01", **held),
            KnowledgeEdge("ada", "b", "works at", created_at="2018-01-01", **held),
        ]
    )

    def employers(as_of: str | None, known_at: str | None = None) -> list[str]:
        return [node.id for node in graph.at(as_of, known_at).get_neighbors("ada", "works at")]

    assert employers("2014-01-01") == ["b"]
    assert employers("2014-01-01", "2017-06-01") == ["a"]
    assert employers("2014-01-01", "2012-06-01") == []
    assert employers("2016-01-01", "2017-06-01") == []
    assert graph.get_neighbors("ada") == []


def test_what_begins_later_is_not_there_yet(graph: KnowledgeGraph) -> None:
    graph.add_nodes([KnowledgeNode("a", "t"), KnowledgeNode("later", "t", valid_at="2999-01-01")])

    assert [node.id for node in graph.nodes()] == ["a"]
    assert {node.id for node in graph.at("2999-06-01").nodes()} == {"a", "later"}


def test_a_view_is_read_only_and_exports_what_it_shows(graph: KnowledgeGraph, tmp_path: Path) -> None:
    graph.add_nodes(
        [KnowledgeNode("a", "t", created_at="2020-01-01"), KnowledgeNode("old", "t", expired_at="2999-01-01")]
    )
    view = graph.at(known_at="2021-01-01")

    with pytest.raises(GraphError, match="read-only"):
        view.add_node(KnowledgeNode("b", "t"))
    view.export(tmp_path / "view.jsonl")
    graph.export(tmp_path / "all.jsonl")
    assert len((tmp_path / "view.jsonl").read_text().splitlines()) == 1
    assert len((tmp_path / "all.jsonl").read_text().splitlines()) == 2


@pytest.mark.parametrize(
    ("time", "kept"),
    [("2026-01-31T12:00:00+02:00", "2026-01-31T10:00:00+00:00"), ("2026-01-31", "2026-01-31T00:00:00+00:00")],
)
def test_times_are_kept_as_utc(time: str, kept: str) -> None:
    assert KnowledgeEdge("a", "b", "r", valid_at=time).valid_at == kept


@pytest.mark.parametrize("time", ["tomorrow", "2026-13-01", 5, "0001-01-01T00:00:00+14:00"])
def test_what_is_no_time_is_refused(graph: KnowledgeGraph, time: str) -> None:
    with pytest.raises(GraphError, match=r"no time|out of range"):
        KnowledgeNode("a", "t", valid_at=time)
    with pytest.raises(GraphError, match=r"no time|out of range"):
        graph.at(time)


def test_a_period_doesnt_end_before_it_starts() -> None:
    with pytest.raises(GraphError, match="valid_at and invalid_at"):
        KnowledgeNode("a", "t", valid_at="2026-01-02", invalid_at="2026-01-01")


def test_a_corpus_has_no_other_time(hoprank: HopRank, library: str) -> None:
    opened = KnowledgeGraph.open(library, client=hoprank.client)

    assert opened.at().size() == opened.size()
    with pytest.raises(GraphError, match="keeps no history"):
        opened.at("2020-01-01")
