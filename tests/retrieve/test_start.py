"""The first stage of a search: what it brings of the graph around the seeds."""

from __future__ import annotations

from pipeline import HopRank
from pipeline.records import EdgeKind
from pipeline.retrieve.start import StartSettings, begin


def test_a_chunk_that_is_a_seed_twice_over_counts_once(hoprank: HopRank, library: str) -> None:
    retriever = hoprank.retriever(library)
    documents = hoprank.client.read("chunk_documents", label=retriever.corpus.label)
    chunk = {row["document"]: row["id"] for row in documents}
    # One chunk alone mentions her, so that it is a seed as the question's name, too.
    question, seeds = "Mary Somerville", [chunk["somerville"]]

    start = begin(hoprank.client, retriever.corpus, question, [1.0] * 384, StartSettings(100, 10, 50), seeds)

    assert [name.only_chunk for name in start.names] == seeds
    referred = [link for link in start.around.links if link.kind is EdgeKind.REFERS_TO]
    assert [(link.source, link.target, link.share) for link in referred] == [(seeds[0], chunk["ada"], 1.0)]
