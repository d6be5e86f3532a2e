"""Questions about a corpus over HTTP: examples to ask, and judgements of hits, which become a queryset."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from typer.testing import CliRunner

from pipeline import HopRank
from pipeline.cli.app import app
from pipeline.db.catalogue import drop_corpus, get_corpus
from pipeline.errors import CorpusError
from pipeline.evaluate.datasets import read_dataset
from pipeline.flows import questions
from pipeline.flows.documents import StoredText
from pipeline.retrieve.legs import Leg
from tests.serve.http.conftest import Start

QUESTION = "Who designed the Analytical Engine?"
TOKEN = "reads-one-corpus-0001"


def test_examples_are_of_the_names_of_the_corpus_and_each_finds_something(
    service: TestClient, hoprank: HopRank, library: str
) -> None:
    first, again = (service.get(f"/v1/corpora/{library}/examples").json()["questions"] for _ in range(2))

    assert first == again
    assert 3 <= len(first) <= 6
    assert "What is said about Ada Lovelace?" in first
    assert any(question.startswith("How are ") for question in first)
    for question in first:
        found = hoprank.search(question, corpus=library, top_k=3)
        assert found.items, question


def test_examples_that_were_kept_come_first_and_an_empty_corpus_has_none(hoprank: HopRank, corpus_name: str) -> None:
    hoprank.add([{"id": "a", "text": "no name at all"}], corpus_name)
    assert hoprank.examples(corpus_name) == []

    questions.keep_examples(hoprank.client, corpus_name, ["Where is it?"])

    assert hoprank.examples(corpus_name) == ["Where is it?"]


def test_judgements_become_a_queryset_and_go_with_their_corpus(
    service: TestClient,
    start: Start,
    hoprank: HopRank,
    corpus_name: str,
    tmp_path: Path,
    cypher: Callable[..., Any],
    server_environment: dict[str, str],
) -> None:
    texts = {"ada": "Ada Lovelace met Charles Babbage.", "engine": "Charles Babbage designed the Analytical Engine."}
    hoprank.add([{"id": key, "text": text} for key, text in texts.items()], corpus_name)
    url = f"/v1/corpora/{corpus_name}/judgements"

    def say(document: str, relevance: float | None, question: str = QUESTION) -> int:
        body = {"question": question, "document": document, "relevance": relevance}
        return service.put(url, json=body).status_code

    kept = [say("engine", 0), say("engine", 1), say("ada", 0), say("ada", 1, "Who met?"), say("ada", None, "Who met?")]
    assert set(kept) == {204}
    assert say("no such document", 1) == 404
    said = [{"question": QUESTION, "document": key, "relevance": value} for key, value in (("ada", 0), ("engine", 1))]
    assert service.get(url).json() == said
    assert service.get(url, params={"question": f"  {QUESTION} "}).json() == said
    assert service.get(url, params={"question": "another"}).json() == []
    reader = start(tokens=[{"token": TOKEN, "corpora": [corpus_name]}])
    headers = {"Authorization": f"Bearer {TOKEN}"}
    assert reader.get(url, headers=headers).json() == said
    body = {"question": QUESTION, "document": "ada", "relevance": 1}
    assert reader.put(url, headers=headers, json=body).status_code == 403

    link = hoprank.settings.link.model_copy(update={"similar_threshold": 0.9})
    HopRank(hoprank.client, hoprank.embedder, hoprank.settings.model_copy(update={"link": link})).relink(
        corpus_name
    )  # makes it anew
    result = CliRunner().invoke(
        app, ["corpus", "judgements", corpus_name, "--to", str(tmp_path / "said")], env=server_environment
    )
    assert result.exit_code == 0, result.output
    assert "2 judgements of 1 question" in result.output
    (query,) = read_dataset(tmp_path / "said").queries
    assert (query.text, dict(query.relevant)) == (QUESTION, {"engine": 1.0})
    with_documents = ["corpus", "judgements", corpus_name, "--to", str(tmp_path / "whole"), "--documents"]
    assert CliRunner().invoke(app, with_documents, env=server_environment).exit_code == 0
    alone = hoprank.evaluate(tmp_path / "whole", legs=[Leg.WHOLE])
    assert [leg.measures["recall@2"] for leg in alone.legs] == [1.0]
    report = hoprank.evaluate(tmp_path / "said", corpus=corpus_name, legs=[Leg.WHOLE])
    assert [leg.measures["recall@2"] for leg in report.legs if leg.leg == Leg.WHOLE] == [1.0]

    def left(id_: str) -> int:
        return len(cypher("MATCH (j:HopRankJudgement {corpus: $id}) RETURN j", id=id_))

    corpus = get_corpus(hoprank.client, corpus_name)
    assert left(corpus.id) == 2
    drop_corpus(hoprank.client, corpus)
    assert left(corpus.id) == 0


def test_judgements_are_written_with_their_documents_and_files_are_replaced_together(
    hoprank: HopRank, corpus_name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = {f"d{number}": f"Text number {number}.\n\nAnother paragraph." for number in range(5)}
    hoprank.add([{"id": key, "text": text, "metadata": {"year": 1}} for key, text in texts.items()], corpus_name)
    client = hoprank.client
    questions.judge(client, corpus_name, QUESTION, "d0", 1.0)

    questions.write_judgements(client, corpus_name, tmp_path / "whole", documents=True)

    written = {path.name: path.read_text("utf-8") for path in (tmp_path / "whole").iterdir()}
    rows = [json.loads(line) for line in written["corpus.jsonl"].splitlines()]
    expected = [{"id": key, "title": "", "metadata": {"year": 1}, "text": text} for key, text in texts.items()]
    assert rows == expected

    def broken(*_: object) -> Iterator[StoredText]:
        raise CorpusError("It was dropped.", "")
        yield

    monkeypatch.setattr(questions, "read_documents", broken)
    questions.judge(client, corpus_name, "Another question?", "d1", 1.0)
    with pytest.raises(CorpusError, match="dropped"):
        questions.write_judgements(client, corpus_name, tmp_path / "whole", documents=True)
    assert {path.name: path.read_text("utf-8") for path in (tmp_path / "whole").iterdir()} == written
    assert [path.name for path in tmp_path.iterdir()] == ["whole"]
