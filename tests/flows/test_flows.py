"""Ingesting, removing and dropping on the real graph: what is refused, and what two at once leave."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from pipeline import HopRank
from pipeline.db.catalogue import Corpus, create_corpus, find_corpus, get_corpus
from pipeline.db.client import Client
from pipeline.db.corpus import CorpusHandle, open_corpus
from pipeline.db.lease import lease
from pipeline.errors import Busy, CorpusError, FingerprintError, SourceError
from pipeline.flows import maintain

Jsonl = Callable[..., Path]
GraphOf = Callable[[str], Any]

ANIMALS = [
    {"id": "otter", "title": "Otter", "text": "The otter swims in the Severn all day, and eats trout."},
    {"id": "beaver", "title": "Beaver", "text": "The beaver builds dams on the Severn."},
    {"id": "severn", "title": "Severn", "text": "The Severn rises on Plynlimon in Wales."},
    {"id": "blank", "title": "Blank", "text": ""},
]


@pytest.fixture
def jsonls(tmp_path: Path) -> Callable[..., list[Path]]:
    """Write each list of documents to a file of its own."""

    def write(*files: Sequence[Mapping[str, str]]) -> list[Path]:
        paths = [tmp_path / f"{number}.jsonl" for number in range(len(files))]
        for path, rows in zip(paths, files, strict=True):
            path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        return paths

    return write


def test_a_malformed_line_makes_no_corpus_and_leaves_one_as_it_was(
    hoprank: HopRank, corpus_name: str, jsonl: Jsonl, graph_of: GraphOf
) -> None:
    path = jsonl(ANIMALS)
    hoprank.ingest(path, corpus=corpus_name)
    before = graph_of(corpus_name)
    path.write_text('{"id": "otter", "text": "Other words."}\nno json\n')

    with pytest.raises(SourceError, match="line 2"):
        hoprank.ingest(path, corpus=corpus_name)
    assert graph_of(corpus_name) == before

    written = hoprank.client.written
    with pytest.raises(SourceError, match="line 2"):
        hoprank.ingest(path, corpus="never-made")
    assert hoprank.client.written == written


def test_an_id_that_no_index_takes_is_refused_before_anything_is_written(
    hoprank: HopRank, corpus_name: str, jsonl: Jsonl, left_as_it_was: None
) -> None:
    with pytest.raises(SourceError, match="line 2 has an id of 1,001 characters"):
        hoprank.ingest(jsonl([ANIMALS[0], {"id": "é" * 1001, "text": "x"}]), corpus=corpus_name)


@pytest.mark.slow
def test_an_id_may_be_long(hoprank: HopRank, corpus_name: str, jsonl: Jsonl) -> None:
    hoprank.ingest(jsonl([{"id": "💥" * 1000, "title": "T" * 20_000, "text": "An otter swims."}]), corpus=corpus_name)

    assert hoprank.search("otter", corpus=corpus_name).items[0].metadata["document"] == "💥" * 1000


@pytest.mark.slow
@pytest.mark.parametrize("setting", [{"max_tokens": 50}, {"overlap": 3}])
def test_another_chunker_is_refused_and_changes_nothing(
    hoprank: HopRank, corpus_name: str, jsonl: Jsonl, setting: dict[str, int]
) -> None:
    hoprank.ingest(jsonl(ANIMALS), corpus=corpus_name)
    written = hoprank.client.written
    chunk = hoprank.settings.chunk.model_copy(update=setting)
    other = HopRank(hoprank.client, hoprank.embedder, hoprank.settings.model_copy(update={"chunk": chunk}))

    with pytest.raises(FingerprintError, match="chunked by"):
        other.ingest(jsonl(ANIMALS), corpus=corpus_name)

    assert hoprank.client.written == written
    assert other.search("Severn", corpus=corpus_name).items


def test_strict_makes_what_would_be_skipped_an_error(hoprank: HopRank, corpus_name: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("An otter swims.")
    (tmp_path / "b.txt").write_bytes(b"\xff\xfe\xfd")

    with pytest.raises(SourceError, match=r"b\.txt"):
        hoprank.ingest(tmp_path, corpus=corpus_name, strict=True)
    assert find_corpus(hoprank.client, corpus_name) is None

    summary = hoprank.ingest(tmp_path, corpus=corpus_name)
    assert (summary.documents, len(summary.skipped)) == (1, 1)


def test_a_folder_with_nothing_to_read_makes_no_corpus(hoprank: HopRank, corpus_name: str, tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"\x89PNG")

    summary = hoprank.ingest(tmp_path, corpus=corpus_name)

    assert (summary.documents, len(summary.skipped)) == (0, 1)
    assert find_corpus(hoprank.client, corpus_name) is None


def test_who_writes_is_named_to_whoever_else_wants_to(hoprank: HopRank, corpus_name: str, jsonl: Jsonl) -> None:
    hoprank.ingest(jsonl(ANIMALS), corpus=corpus_name)
    corpus = get_corpus(hoprank.client, corpus_name)

    with lease(open_corpus(hoprank.client, corpus_name)):
        for write in (
            lambda: hoprank.ingest(jsonl([{"id": "new", "text": "New."}]), corpus=corpus_name),
            lambda: hoprank.delete(["otter"], corpus=corpus_name),
            lambda: maintain.drop(hoprank.client, corpus_name),
        ):
            with pytest.raises(Busy, match="Process"):
                write()

    assert get_corpus(hoprank.client, corpus_name) == corpus
    assert hoprank.delete(["otter"], corpus=corpus_name).documents == 3


@pytest.fixture
def overtaken_by(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], None]:
    """Have something else run to its end just before the next flow takes the right to write."""

    def arrange(other: Callable[[], object]) -> None:
        quicker = [other]

        def late(corpus: CorpusHandle, wait: float = 0.0) -> AbstractContextManager[tuple[CorpusHandle, str]]:
            while quicker:
                quicker.pop()()
            return lease(corpus)

        monkeypatch.setattr("pipeline.ingest.update.write_session.lease", late)

    return arrange


@pytest.mark.parametrize("first", [1, 0], ids=["a corpus that is there", "a new corpus"])
def test_an_ingest_that_another_one_overtook_loses_nothing(
    hoprank: HopRank,
    corpus_name: str,
    new_corpus: Callable[[], Any],
    overtaken_by: Callable[[Callable[[], object]], None],
    jsonls: Callable[..., list[Path]],
    graph_of: GraphOf,
    first: int,
) -> None:
    paths = jsonls(ANIMALS[:1], ANIMALS[1:2], ANIMALS[2:])
    if first:
        hoprank.ingest(paths[0], corpus=corpus_name)
    overtaken_by(lambda: hoprank.ingest(*paths[:2], corpus=corpus_name))

    summary = hoprank.ingest(paths[2], corpus=corpus_name)

    with new_corpus() as fresh:
        hoprank.ingest(*paths, corpus=fresh)
        assert graph_of(corpus_name) == graph_of(fresh)
    assert (summary.documents, summary.changed) == (4, 2)


def test_a_removal_that_an_ingest_overtook_loses_nothing(
    hoprank: HopRank,
    corpus_name: str,
    overtaken_by: Callable[[Callable[[], object]], None],
    jsonls: Callable[..., list[Path]],
    graph_of: GraphOf,
) -> None:
    before, later = jsonls(ANIMALS[:2], ANIMALS[2:])
    hoprank.ingest(before, corpus=corpus_name)
    overtaken_by(lambda: hoprank.ingest(later, corpus=corpus_name))

    outcome = hoprank.delete(["beaver"], corpus=corpus_name)

    assert outcome.documents == get_corpus(hoprank.client, corpus_name).documents == 3
    assert {key for key, *_ in graph_of(corpus_name)["documents"]} == {"otter", "severn", "blank"}


def test_a_new_corpus_that_another_model_made_first_is_refused_and_left_to_it(
    hoprank: HopRank, corpus_name: str, jsonl: Jsonl, monkeypatch: pytest.MonkeyPatch
) -> None:
    def quicker(client: Client, name: str, **properties: Any) -> Corpus:
        create_corpus(client, name, **{**properties, "fingerprint": "other@1/384"})
        return create_corpus(client, name, **properties)

    monkeypatch.setattr("pipeline.flows.ingest.create_corpus", quicker)

    with pytest.raises(FingerprintError, match="other@1/384"):
        hoprank.ingest(jsonl(ANIMALS), corpus=corpus_name)
    assert get_corpus(hoprank.client, corpus_name).fingerprint == "other@1/384"


@pytest.mark.slow
def test_a_reader_of_a_corpus_that_is_dropped_is_told_so(
    hoprank: HopRank, corpus_name: str, jsonl: Jsonl, left_as_it_was: None
) -> None:
    hoprank.ingest(jsonl(ANIMALS), corpus=corpus_name)
    said: list[str] = []
    begun = threading.Event()

    def read() -> None:
        try:
            while True:
                hoprank.search("Where does the Severn rise?", corpus=corpus_name)
                begun.set()
        except CorpusError as error:
            said.append(error.message)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    begun.wait()
    maintain.drop(hoprank.client, corpus_name)
    for reader in readers:
        reader.join()

    assert said == [f"There is no corpus {corpus_name!r}."] * 3


def test_wrong_input_takes_no_corpus_from_another_that_has_filled_it_meanwhile(
    hoprank: HopRank, corpus_name: str, jsonls: Callable[..., list[Path]], monkeypatch: pytest.MonkeyPatch
) -> None:
    right, wrong = jsonls(ANIMALS[:2], ANIMALS[2:3])

    def refuse(*_: object) -> None:
        monkeypatch.undo()
        raise SourceError("The file was changed meanwhile.", "Run this again.")

    def late(corpus: CorpusHandle, wait: float = 0.0) -> AbstractContextManager[tuple[CorpusHandle, str]]:
        monkeypatch.setattr("pipeline.ingest.update.write_session.lease", lease)
        hoprank.ingest(right, corpus=corpus_name)
        monkeypatch.setattr("pipeline.flows.ingest.write_generation", refuse)
        return lease(corpus)

    monkeypatch.setattr("pipeline.ingest.update.write_session.lease", late)
    with pytest.raises(SourceError, match="meanwhile"):
        hoprank.ingest(wrong, corpus=corpus_name)

    assert get_corpus(hoprank.client, corpus_name).documents == 2
