"""The first stage of a search: what it brings of the graph around the seeds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline import HopRank
from pipeline.records import EdgeKind
from pipeline.retrieve.candidates import CandidateLimits, explore
from pipeline.retrieve.reader import CorpusReader


def test_a_chunk_that_is_a_seed_twice_over_counts_once(hoprank: HopRank, library: str) -> None:
    retriever = hoprank.retriever(library)
    documents = hoprank.client.read("chunk_documents", label=retriever.corpus.label)
    chunk = {row["document"]: row["id"] for row in documents}
    # One chunk alone mentions her, so that it is a seed as the question's name, too.
    question, seeds = "Mary Somerville", [chunk["somerville"]]

    reader = CorpusReader(retriever.corpus, hoprank.settings)
    found = explore(reader, question, [1.0] * 384, CandidateLimits(100, 10, 50), seeds)

    assert [name.only_chunk for name in found.names] == seeds
    referred = [link for link in found.neighbourhood.links if link.kind is EdgeKind.REFERS_TO]
    assert [(link.source, link.target, link.share) for link in referred] == [(seeds[0], chunk["ada"], 1.0)]


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("otter otter beaver", "otter"),
        ("beaver beaver otter", "beaver"),
        ("Who saw an otter, the otter, and a beaver?", "otter"),
        ("Who saw a beaver, the beaver, and an otter?", "beaver"),
    ],
)
def test_a_word_that_is_repeated_weighs_more(
    hoprank: HopRank, corpus_name: str, jsonl: Callable[..., Path], question: str, first: str
) -> None:
    hoprank.ingest(
        jsonl({"id": key, "text": f"{key} swims"} for key in ("otter", "beaver", "moose")), corpus=corpus_name
    )

    assert by_words(hoprank, corpus_name, question)[0] == first


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("What does max_tokens do?", ["underscore"]),
        ("Is it `MAX_TOKENS`?", ["underscore"]),
        ("node.js!", ["dot"]),
        ("(can't)", ["apostrophe"]),
        ("title:max_tokens^9 AND NOT node.js~2", ["dot", "underscore"]),
    ],
)
def test_words_that_are_joined_are_found_whole(
    hoprank: HopRank, corpus_name: str, jsonl: Callable[..., Path], question: str, found: list[str]
) -> None:
    texts = {"underscore": "set max_tokens here", "dot": "run node.js here", "apostrophe": "you can't swim"}
    hoprank.ingest(jsonl({"id": key, "text": text} for key, text in texts.items()), corpus=corpus_name)

    assert sorted(by_words(hoprank, corpus_name, question)) == found


def by_words(hoprank: HopRank, corpus: str, question: str) -> list[str]:
    """The documents whose text, title or heading holds a question's words, best first."""
    return [item.metadata["document"] for item in hoprank.search(question, corpus=corpus, leg="fulltext").items]
