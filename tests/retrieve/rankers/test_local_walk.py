"""The local walk: it is PageRank, it agrees with GDS on the same graph, and what a filter leaves out is not walked."""

from __future__ import annotations

import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline import HopRank
from pipeline.edges import EdgeKind
from pipeline.retrieve.candidates import CandidateLimits, explore
from pipeline.retrieve.expansion import ChunkLink, Mentions, Neighbourhood
from pipeline.retrieve.rankers.gds_walk import GdsWalk
from pipeline.retrieve.rankers.local_walk import rank_by_walk
from pipeline.retrieve.reader import CorpusReader
from pipeline.retrieve.seeds import Seeds
from pipeline.settings import load_settings

WALK = load_settings().walk.model_copy(update={"iterations": 200, "gds_tolerance": 1e-12})
HERE = Neighbourhood(
    10,
    {"ada": Mentions(2, {"c1": True, "c2": False}), "ben": Mentions(3, {"c2": True, "c3": False, "c4": False})},
    (ChunkLink("c4", "c5", EdgeKind.SIMILAR, 0.8),),
)


def walked(here: Neighbourhood, seeds: Seeds, limit: int = 100) -> dict[str, float]:
    return dict(rank_by_walk(here, seeds, WALK, limit).scores)


def test_it_is_personalised_pagerank() -> None:
    graph = networkx.Graph()
    graph.add_weighted_edges_from(zip(*HERE.edges(WALK), strict=True))
    exact = networkx.pagerank(graph, WALK.damping, personalization={"c1": 0.75, "ben": 0.25}, tol=1e-12, max_iter=1000)

    found = walked(HERE, Seeds({"c1": 0.75}, {"ben": 0.25}))

    assert found == pytest.approx({id_: exact[id_] for id_ in ("c1", "c2", "c3", "c4", "c5")}, rel=1e-6)
    assert list(found) == sorted(found, key=lambda id_: (-found[id_], id_))


def test_seeds_that_nothing_is_linked_to_keep_what_they_start_with() -> None:
    assert walked(Neighbourhood(3, {}, ()), Seeds({"c1": 1.0}, {})) == {"c1": pytest.approx(1 - WALK.damping)}
    assert walked(Neighbourhood(3, {}, ()), Seeds({}, {"ada": 1.0})) == {}
    assert walked(HERE, Seeds({}, {})) == {}


@given(st.sets(st.sampled_from(["c1", "c2", "c3", "c4", "c5"])))
def test_what_is_not_kept_is_neither_found_nor_walked_through(kept: set[str]) -> None:
    found = walked(HERE.filtered(kept), Seeds({"c1": 0.5} if "c1" in kept else {}, {"ada": 0.5}))

    assert found.keys() <= kept
    if "c2" not in kept:
        assert found.keys() <= {"c1"}


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_the_best_chunks_come_first_whatever_the_limit(limit: int) -> None:
    seeds = Seeds({"c1": 0.5}, {"ben": 0.5})

    assert list(walked(HERE, seeds, limit)) == list(walked(HERE, seeds))[:limit]


def test_both_engines_agree_on_a_whole_graph(hoprank: HopRank, library: str) -> None:
    retriever = hoprank.retriever(library)
    chunks = [row["id"] for row in hoprank.client.read("chunk_documents", label=retriever.corpus.label)]
    reader = CorpusReader(retriever.corpus, hoprank.settings)
    found = explore(reader, "Ada", [1.0] * 384, CandidateLimits(100, 10, 10_000), chunks)
    seeds = Seeds({chunks[0]: 0.5, chunks[1]: 0.5}, {})
    local = rank_by_walk(found.neighbourhood, seeds, WALK, 100).scores
    server = GdsWalk(retriever.corpus, WALK).rank(seeds, found.generation, found.chunks, 100).scores

    assert {id_ for id_, score in server.items() if score > 1e-9} == {id_ for id_, s in local.items() if s > 1e-9}
    in_server, here = sum(server.values()), sum(local.values())
    assert {id_: score / here for id_, score in local.items()} == pytest.approx(
        {id_: server[id_] / in_server for id_ in local}, rel=1e-3, abs=1e-6
    )
