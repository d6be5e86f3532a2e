"""The first stage of a search: what it brings of the graph around the seeds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline import HopRank
from pipeline.edges import EdgeKind
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


@pytest.mark.slow
def test_a_name_comes_with_its_mentions_and_the_chunk_if_it_is_one(
    hoprank: HopRank, corpus_name: str, jsonl: Callable[..., Path]
) -> None:
    texts = {"Mary Somerville": "Mary Somerville met John Herschel.", "Letters": "John Herschel wrote to Ada Lovelace."}
    hoprank.ingest(
        jsonl({"id": title, "title": title, "text": text} for title, text in texts.items()), corpus=corpus_name
    )
    reader = CorpusReader(hoprank.retriever(corpus_name).corpus, hoprank.settings)
    documents = {row["id"]: row["document"] for row in reader.corpus.read("chunk_documents", label=reader.corpus.label)}
    question = "Did Mary Somerville or John Herschel write to Ada Lovelace, or to Charles Babbage?"

    names = explore(reader, question, [1.0] * 384, CandidateLimits(100, 10, 50)).names

    assert {(name.name, name.frequency, name.titled, documents.get(name.only_chunk or "")) for name in names} == {
        ("Mary Somerville", 1, True, "Mary Somerville"),
        ("John Herschel", 2, False, None),
        ("Ada Lovelace", 1, False, "Letters"),
    }


@pytest.fixture
def manual(hoprank: HopRank, corpus_name: str, tmp_path: Path) -> CorpusReader:
    """A page that links a manual of eight chunks, of which the fifth tells of otters, as the page does."""
    animals = ("beaver", "moose", "heron", "badger", "otter", "marten", "lynx", "eagle")
    sections = (f"## The {animal}\n\n{f'One {animal} was seen at the lake. ' * 18}" for animal in animals)
    (tmp_path / "manual.md").write_text("\n\n".join(["# Manual", *sections]))
    (tmp_path / "page.md").write_text("# Page\n\nAn otter is told of in the [manual](manual.md).")
    hoprank.ingest(tmp_path, corpus=corpus_name)
    return CorpusReader(hoprank.retriever(corpus_name).corpus, hoprank.settings)


@pytest.mark.slow
@pytest.mark.parametrize("given", [False, True])
def test_a_long_document_that_is_linked_brings_its_first_chunk_and_the_candidates_once_each(
    hoprank: HopRank, manual: CorpusReader, given: bool
) -> None:
    question = "Where is an otter?"
    rows = hoprank.client.read("chunk_texts", label=manual.corpus.label, generation=manual.corpus.generation)
    of_page = next(row["id"] for row in rows if row["document"] == "page.md")
    first = next(row["id"] for row in rows if "beaver" in row["text"])
    otter = next(row["id"] for row in rows if row["document"] == "manual.md" and "otter" in row["text"])
    assert len(rows) == 9

    seeds = [of_page, first, otter] if given else None
    found = explore(manual, question, hoprank.embedder.embed_query(question), CandidateLimits(2, 10, 50), seeds)

    if not given:
        assert set(found.vector.ids) == set(found.fulltext.ids) == {of_page, otter}
    linked = [link for link in found.neighbourhood.links if link.kind is EdgeKind.LINKS_TO]
    assert {link.source for link in linked} == {of_page}
    assert sorted((link.target, link.share) for link in linked) == sorted([(first, 0.5), (otter, 0.5)])


@pytest.mark.slow
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


def by_words(hoprank: HopRank, corpus: str, question: str) -> list[str]:
    """The documents whose text, title or heading holds a question's words, best first."""
    return [item.metadata["document"] for item in hoprank.search(question, corpus=corpus, leg="fulltext").items]
