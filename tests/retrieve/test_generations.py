"""A retriever reads the generation that its first query finds, not the one that it was made for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from pipeline import HopRank
from pipeline.db.catalogue import get_corpus
from pipeline.flows.search import Retriever
from pipeline.ingest.update.write_session import WriteSession
from pipeline.retrieve.filters import matches
from pipeline.retrieve.legs import Leg
from pipeline.retrieve.passage_relations import read_relations
from pipeline.retrieve.question import check_question

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


@pytest.mark.slow
def test_scores_are_those_of_the_old_state_until_the_new_one_is_whole(
    hoprank: HopRank, new_corpus: Callable[[], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(numbers: Iterable[int]) -> None:
        for number in numbers:
            links = "See [a](a.md)." if number % 2 else ""
            (tmp_path / f"{number}.md").write_text(
                f"# Part {number}\n\nAda Lovelace met Cleo Number{number}. {links}\n"
            )

    def scores(corpus: str) -> list[Any]:
        retriever = hoprank.retriever(corpus)
        walk = retriever.rank(check_question("Who met Ada Lovelace?"), Leg.WHOLE).walk.scores
        return [walk, read_relations(retriever.corpus, list(walk)).names]

    def die(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    (tmp_path / "a.md").write_text("# Ada\n\nAda Lovelace wrote notes.\n" + "A long text on the sea.\n" * 200)
    write(range(4))
    with new_corpus() as name:
        hoprank.ingest(tmp_path, corpus=name)
        before = scores(name)
        write(range(4, 9))
        (tmp_path / "a.md").write_text("# Ada\n\nAda Lovelace wrote notes.\n" + "A long text on the sea.\n" * 400)
        monkeypatch.setattr(WriteSession, "publish", die)
        with pytest.raises(KeyboardInterrupt):
            hoprank.ingest(tmp_path, corpus=name)
        monkeypatch.undo()
        assert get_corpus(hoprank.client, name).staging is not None

        assert scores(name) == before
        hoprank.ingest(tmp_path, corpus=name)
        assert scores(name) != before
