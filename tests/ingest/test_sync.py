"""Syncing a corpus with a folder: the plan, only that work, and what was removed is gone."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from pipeline import HopRank
from pipeline.db.catalogue import find_corpus, get_corpus
from pipeline.embedding.embedder import Embedder
from pipeline.errors import SourceError
from pipeline.ingest.update.changes import Plan, SyncSummary
from pipeline.records import Vector
from tests.graph_dump import Dump

GraphOf = Callable[[str], Dump]
Write = Callable[[Path, Mapping[str, str]], Path]

NOTES = {
    "ada.md": "# Ada Lovelace\n\nAda Lovelace met Charles Babbage in Turin.",
    "babbage.md": "# Charles Babbage\n\nCharles Babbage spoke in Turin. See [Ada](ada.md).",
    "turin.md": "# Turin\n\nTurin lies on the Po.",
    "po.md": "# Po\n\nThe Po passes Turin.",
}


@pytest.fixture
def notes(write: Write, tmp_path: Path) -> Path:
    return write(tmp_path / "notes", NOTES)


def edit(write: Write, notes: Path) -> None:
    """Add one, change one, rename one, remove one."""
    write(notes, {"rome.md": "# Rome\n\nRome lies on the Tiber.", "ada.md": "# Ada Lovelace\n\nShe saw the Po."})
    (notes / "turin.md").rename(notes / "torino.md")
    (notes / "po.md").unlink()


def documents(plan: Plan) -> tuple[object, ...]:
    return plan.added, plan.changed, plan.renamed, plan.removed, plan.unchanged


def test_the_plan_tells_what_is_new_changed_renamed_and_gone_and_changes_nothing(
    hoprank: HopRank, corpus_name: str, notes: Path, write: Write
) -> None:
    hoprank.sync(notes, corpus=corpus_name)
    written, corpus = hoprank.client.written, get_corpus(hoprank.client, corpus_name)
    edit(write, notes)

    plan = hoprank.sync(notes, corpus=corpus_name, dry_run=True).plan

    assert documents(plan) == (("rome.md",), ("ada.md",), (("turin.md", "torino.md"),), ("po.md",), 1)
    assert (plan.chunks_to_embed, plan.edges_to_relink > 0) == (2, True)
    assert hoprank.client.written == written
    assert get_corpus(hoprank.client, corpus_name) == corpus


@pytest.mark.slow
def test_a_sync_leaves_the_graph_of_a_fresh_ingest(
    hoprank: HopRank, corpus_name: str, notes: Path, graph_of: GraphOf, new_corpus: Callable[[], Any], write: Write
) -> None:
    hoprank.sync(notes, corpus=corpus_name)
    edit(write, notes)
    told: list[Plan] = []

    summary = hoprank.sync(notes, corpus=corpus_name, announce=told.append)

    with new_corpus() as fresh:
        hoprank.ingest(notes, corpus=fresh)
        assert graph_of(corpus_name) == graph_of(fresh)
    assert told == [summary.plan]
    assert summary.done is not None
    assert (summary.done.documents, summary.done.changed) == (4, 3)


def test_a_folder_that_was_moved_is_unchanged_but_for_its_paths(
    hoprank: HopRank, corpus_name: str, notes: Path
) -> None:
    hoprank.sync(notes, corpus=corpus_name)
    generation = get_corpus(hoprank.client, corpus_name).generation
    moved = Path(shutil.move(notes, notes.with_name("moved")))

    summary = hoprank.sync(moved, corpus=corpus_name)

    assert (documents(summary.plan), summary.plan.moved) == (((), (), (), (), 4), 4)
    assert get_corpus(hoprank.client, corpus_name).generation == generation
    found = hoprank.search("Turin", corpus=corpus_name).items
    assert {Path(item.metadata["path"]).parent for item in found} == {moved}


@pytest.mark.slow
def test_a_renamed_file_is_not_embedded_again(
    hoprank: HopRank, corpus_name: str, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hoprank.sync(notes, corpus=corpus_name)
    (notes / "turin.md").rename(notes / "torino.md")
    encoded: list[str] = []
    encode = Embedder.encode

    def noted(self: Embedder, texts: Sequence[str], done: Callable[[int], None] | None = None) -> Vector:
        encoded.extend(texts)
        return encode(self, texts, done)

    monkeypatch.setattr(Embedder, "encode", noted)

    summary = hoprank.sync(notes, corpus=corpus_name)

    assert summary.plan.chunks_to_embed == 0
    assert encoded == []


def test_a_dry_run_of_a_new_corpus_makes_none(hoprank: HopRank, corpus_name: str, notes: Path) -> None:
    summary: SyncSummary = hoprank.sync(notes, corpus=corpus_name, dry_run=True)

    assert summary.plan.added == tuple(sorted(NOTES))
    assert summary.done is None
    assert find_corpus(hoprank.client, corpus_name) is None


def test_an_empty_folder_takes_not_all_away(hoprank: HopRank, corpus_name: str, notes: Path, tmp_path: Path) -> None:
    hoprank.sync(notes, corpus=corpus_name)
    (tmp_path / "empty").mkdir()

    with pytest.raises(SourceError, match="all 4 of") as caught:
        hoprank.sync(tmp_path / "empty", corpus=corpus_name)

    assert "corpus drop" in caught.value.fix
    assert get_corpus(hoprank.client, corpus_name).documents == 4
