"""Link settings belong to a corpus: an ingest keeps them, and a relink brings every edge to others."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from pipeline import HopRank
from pipeline.cli.app import app
from pipeline.db.catalogue import get_corpus, list_corpora
from pipeline.edges import EdgeKind
from pipeline.flows import maintain
from pipeline.progress import Progress
from pipeline.settings import load_settings
from pipeline.transfer.restore import restore

Jsonl = Callable[[Iterable[Mapping[str, Any]]], Path]
GraphOf = Callable[[str], dict[str, set[Any]]]

TEXTS = {
    "otter": "The otter is a mammal that lives in rivers and eats fish. Also see Mustelidae.",
    "beaver": "The beaver is a mammal that lives in rivers and gnaws trees.",
    "heron": "The heron is a bird that stands in rivers and eats fish.",
    "fox": "The fox is a mammal of the woods, and hunts mice at night. Mustelidae it is none of.",
    "owl": "The owl is a bird of the woods, and hunts mice at night.",
    "loom": "Punched cards told the loom which threads to lift.",
}
DOCUMENTS = [{"id": key, "title": key.title(), "text": text} for key, text in TEXTS.items()]
THEIRS = {**load_settings().link.of_edges, "similar_threshold": 0.6}
"""The settings of new corpora: 0.6 is what auto means for the bundled model."""

LOOSE = {"similar_threshold": 0.2, "similar_top_k": 3, "title_shared_by": 1}


@pytest.fixture
def animals(hoprank: HopRank, corpus_name: str, jsonl: Jsonl) -> str:
    hoprank.ingest(jsonl(DOCUMENTS), corpus=corpus_name)
    return corpus_name


@pytest.fixture
def loose(hoprank: HopRank) -> HopRank:
    """The same connection with other link settings."""
    link = hoprank.settings.link.model_copy(update=LOOSE)
    return HopRank(hoprank.client, hoprank.embedder, hoprank.settings.model_copy(update={"link": link}))


@pytest.fixture
def freshly_linked(loose: HopRank, new_corpus: Callable[[], Any], jsonl: Jsonl) -> Iterator[str]:
    with new_corpus() as name:
        loose.ingest(jsonl(DOCUMENTS), corpus=name)
        yield name


@pytest.mark.slow
def test_a_relinked_corpus_is_one_that_was_ingested_with_the_settings(
    loose: HopRank, animals: str, freshly_linked: str, graph_of: GraphOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = get_corpus(loose.client, animals)
    monkeypatch.setattr(loose.embedder, "encode", lambda *_: pytest.fail("a relink embeds nothing"))

    made = loose.relink(animals)

    assert graph_of(animals) == graph_of(freshly_linked)
    assert made.edges[EdgeKind.SIMILAR] > before.edges[EdgeKind.SIMILAR]
    assert made.links == loose.settings.link.of_edges
    assert loose.relink(animals) == made, "there is nothing left to do"
    assert not [corpus.name for corpus in list_corpora(loose.client) if before.id in corpus.name]


@pytest.mark.slow
def test_an_ingest_keeps_the_settings_of_the_corpus_and_says_so(
    hoprank: HopRank, loose: HopRank, animals: str, new_corpus: Callable[[], Any], jsonl: Jsonl, graph_of: GraphOf
) -> None:
    more = [*DOCUMENTS, {"id": "stoat", "title": "Stoat", "text": "The stoat is a mammal that hunts mice in woods."}]

    summary = loose.ingest(jsonl(more), corpus=animals)

    assert "link.similar_threshold is 0.6 in the corpus and 0.2 in the settings" in summary.linked_otherwise
    assert get_corpus(loose.client, animals).links == THEIRS
    with new_corpus() as other:
        assert hoprank.ingest(jsonl(more), corpus=other).linked_otherwise == ()
        assert graph_of(animals) == graph_of(other)


@pytest.mark.slow
def test_a_removal_and_a_calibration_keep_to_them_too(loose: HopRank, hoprank: HopRank, animals: str) -> None:
    loose.delete(["loom"], corpus=animals)

    assert get_corpus(loose.client, animals).links == THEIRS
    assert loose.calibrate(animals).present == 0.6


@pytest.mark.slow
@pytest.mark.parametrize("whole", [False, True], ids=["while it links", "before the switch"])
def test_an_interrupted_relink_leaves_the_old_links_and_another_takes_its_place(
    hoprank: HopRank,
    loose: HopRank,
    animals: str,
    freshly_linked: str,
    graph_of: GraphOf,
    monkeypatch: Any,
    whole: bool,
) -> None:
    before = graph_of(animals)
    third = hoprank.settings.link.model_copy(update={"similar_threshold": 0.4})

    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    def fail_at_the_end(*given: Any) -> None:
        restore(*given)
        raise KeyboardInterrupt

    settings = hoprank.settings.model_copy(update={"link": third})
    if whole:
        monkeypatch.setattr("pipeline.flows.maintain.restore", fail_at_the_end)
    else:
        monkeypatch.setattr("pipeline.transfer.restore.link_similar", fail)
    with pytest.raises(KeyboardInterrupt):
        maintain.relink(hoprank.client, hoprank.embedder, settings, animals, progress=Progress())
    monkeypatch.undo()
    assert graph_of(animals) == before

    loose.relink(animals)

    assert graph_of(animals) == graph_of(freshly_linked)
    assert get_corpus(loose.client, animals).links == loose.settings.link.of_edges


def test_an_export_carries_them(hoprank: HopRank, animals: str, tmp_path: Path) -> None:
    path = tmp_path / "export.jsonl"
    maintain.export_corpus(hoprank.client, animals, path, progress=Progress())
    exported = json.loads(path.read_text(encoding="utf-8").splitlines()[0])["corpus"]

    assert exported["links"] == THEIRS


@pytest.mark.slow
def test_the_command_relinks_and_ingest_warns(server_environment: dict[str, str], animals: str, jsonl: Jsonl) -> None:
    def run(*arguments: str) -> Any:
        return CliRunner().invoke(app, list(arguments), env=server_environment)

    path, other = str(jsonl(DOCUMENTS)), ("--set", "link.similar_threshold=0.2")
    warned = run("ingest", path, "--corpus", animals, *other)
    relinked = run("relink", animals, *other)
    silent = run("ingest", path, "--corpus", animals, *other)

    assert f"hoprank relink {animals}" in warned.stderr
    assert f"{animals} is linked by the present settings: " in relinked.stdout
    assert "relink" not in silent.stderr
    assert "similar_threshold 0.2" in run("corpus", "stats", animals).stdout
    assert run("relink", f"{animals}-not").exit_code == 2
