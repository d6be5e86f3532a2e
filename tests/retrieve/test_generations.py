"""A retriever reads the generation that its first query finds, not the one that it was made for."""

from __future__ import annotations

import pytest

from pipeline import HopRank
from pipeline.flows.search import Retriever
from pipeline.retrieve.filters import matches
from pipeline.retrieve.legs import Leg

QUESTION = "Who met Cleo?"


@pytest.fixture(scope="module")
def earlier(hoprank: HopRank, shared_corpus_name: str, tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    """A retriever whose corpus has been updated since: of its six documents, the texts of two were replaced."""
    folder = tmp_path_factory.mktemp("generations")
    for number in range(4):
        (folder / f"bread-{number}.md").write_text("Bread is baked in a hot oven.\n" * (number + 1))
    for name, text in {"a": "Ada met Ben.", "b": "Ben met Ada."}.items():
        (folder / f"{name}.md").write_text(f"---\nyear: 1833\n---\n# {name}\n\n{text}\n")
    hoprank.ingest(folder, corpus=shared_corpus_name)
    retriever = hoprank.retriever(shared_corpus_name)
    for name, text in {"a": "Ada Lovelace met Cleo.", "b": "Cleo met Ada Lovelace."}.items():
        (folder / f"{name}.md").write_text(f"---\nyear: 1901\n---\n# {name}\n\n{text}\n")
    hoprank.ingest(folder, corpus=shared_corpus_name)
    return retriever


@pytest.mark.parametrize("filters", [None, {"year": 1901}, {"ordinal": 0}], ids=["all", "document's", "chunk's"])
@pytest.mark.parametrize("leg", list(Leg))
def test_each_leg_finds_what_was_written_since(earlier: Retriever, leg: Leg, filters: dict[str, object] | None) -> None:
    found = earlier.search(QUESTION, leg=leg, filters=filters)

    texts = {item.metadata["document"]: item.content for item in found.items}
    assert texts.keys() >= {"a.md", "b.md"}
    assert all("Cleo" in texts[document] for document in ("a.md", "b.md"))


def test_filters_match_the_values_that_were_written_since(earlier: Retriever) -> None:
    assert len(earlier.match({"year": 1901})) == 2
    assert not earlier.match({"year": 1833})


@pytest.mark.parametrize("leg", [Leg.VECTOR, Leg.FULLTEXT])
def test_an_index_is_compared_with_matches_written_since(
    earlier: Retriever, leg: Leg, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipeline.retrieve.filters.search.FETCHED_AT_MOST", 0)

    assert len(earlier.search(QUESTION, leg=leg, filters={"year": 1901}).items) == 2
    assert matches.EXACT_UNDER > 2


@pytest.mark.parametrize("filters", [None, {"year": 1901}], ids=["all", "filtered"])
def test_hits_are_explained_by_relations_written_since(earlier: Retriever, filters: dict[str, object] | None) -> None:
    found = earlier.search("Who is Ada Lovelace?", leg=Leg.GRAPH, filters=filters, explain=True)

    paths = {item.metadata["document"]: item.metadata["evidence"] for item in found.items}
    assert paths.keys() >= {"a.md", "b.md"}
    assert any(len(path) > 1 for path in paths.values())


def test_passages_are_put_in_order_by_relations_written_since(earlier: Retriever) -> None:
    context = earlier.context("Who is Ada Lovelace?", len, tokens=1000, filters={"year": 1901})

    assert len(context.passages) == 2
    assert context.passages[1].tie
