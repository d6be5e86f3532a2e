"""Vector and full text are fused on the server, for the seeds to expand, and in the client, for the ranking: alike."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import neo4j
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline import HopRank
from pipeline.db.queries import load_queries
from pipeline.db.vectors import packed
from pipeline.retrieve.candidates import HYBRID_K, fuse_hybrid
from pipeline.retrieve.fusion import Ranked
from pipeline.retrieve.legs import Leg
from pipeline.retrieve.question import fulltext_query

Cypher = Callable[..., list[neo4j.Record]]

_, _, AFTER = load_queries()["explore"].text.partition("// best: both rankings, fused\n")
FUSION, _, _ = AFTER.partition("// chunks: ")
rankings = st.lists(st.sampled_from("abcdefghij"), unique=True, max_size=10)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rankings, rankings, st.integers(1, 12))
def test_the_server_fuses_as_the_client(cypher: Cypher, near: list[str], matching: list[str], first: int) -> None:
    query = f"WITH $near AS near, $matching AS matching\n{FUSION}RETURN best"
    legs = [Ranked(leg, dict.fromkeys(ids, 0.0)) for leg, ids in ((Leg.VECTOR, near), (Leg.FULLTEXT, matching))]

    (row,) = cypher(query, near=near, matching=matching, first=first, k=HYBRID_K)

    assert row["best"] == fuse_hybrid(*legs).ids[:first]


@pytest.mark.slow
@pytest.mark.parametrize("limit", [3, 12])
def test_both_rankings_come_in_the_clients_order(
    hoprank: HopRank, corpus_name: str, jsonl: Callable[..., Path], limit: int
) -> None:
    same = [{"id": f"{number}", "title": "Otters", "text": "An otter swims."} for number in range(12)]
    hoprank.ingest(jsonl([*same, {"id": "moose", "text": "A moose walks."}]), corpus=corpus_name)
    corpus = hoprank.retriever(corpus_name).corpus

    (row,) = corpus.read(
        "explore",
        vector=packed(hoprank.embedder.embed_query("otter")),
        text=fulltext_query("otter"),
        limit=limit,
        names=[],
        seeds=None,
        first=5,
        k=HYBRID_K,
        hub=50,
        unnamed=True,
        boxes=[],
    )

    for ids, scores in ((row["near"], row["near_scores"]), (row["matching"], row["matching_scores"])):
        assert len(ids) == limit
        assert list(zip(ids, scores, strict=True)) == sorted(
            zip(ids, scores, strict=True), key=lambda pair: (-pair[1], pair[0])
        )
