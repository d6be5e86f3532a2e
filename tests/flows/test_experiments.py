"""Tuning on kept corpora: what it reads of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from pipeline import HopRank
from pipeline.db.catalogue import list_corpora
from pipeline.evaluate.tuning.lessons import study
from pipeline.flows import experiments, maintain
from pipeline.retrieve.scoring.coverage import Passage


def write(folder: Path, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "corpus.jsonl").write_text(json.dumps({"id": "otter", "title": "Otter", "text": text}))
    asked = [{"id": f"q{number}", "query": f"Where does the otter {number} swim?"} for number in range(5)]
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, asked)))
    judged = "".join(f"{one['id']}\totter\t1\n" for one in asked)
    (folder / "qrels.tsv").write_text(f"query\tdocument\trelevance\n{judged}")
    return folder


@pytest.fixture
def kept(hoprank: HopRank, corpus_name: str) -> Iterator[str]:
    """A name for kept corpora, which are dropped."""
    yield corpus_name
    for corpus in list_corpora(hoprank.client):
        if corpus.name.startswith(f"{corpus_name}/"):
            maintain.drop(hoprank.client, corpus.name)


@pytest.mark.slow
def test_a_corpus_that_changed_since_the_last_tuning_teaches_by_its_new_passages(
    hoprank: HopRank, kept: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    def noting(explore: Any, passages: Mapping[str, Passage], *rest: Any) -> object:
        seen.extend(passage.text for passage in passages.values())
        return study(explore, passages, *rest)

    monkeypatch.setattr(experiments, "study", noting)
    monkeypatch.setattr(experiments, "tune_on", lambda *_, **__: None)

    for text in ("It swims in the Severn.", "It swims in the Wye."):
        folders = [write(tmp_path / name, text) for name in ("animals", "rivers")]
        experiments.tune(hoprank, folders, corpus_name=kept)

    assert seen == ["It swims in the Severn."] * 2 + ["It swims in the Wye."] * 2
