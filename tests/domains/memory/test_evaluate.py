"""Measuring memories: turns and sessions that answer, within the filter of a question."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from pipeline import HopRank
from pipeline.cli.app import app
from pipeline.db.catalogue import list_corpora
from pipeline.domains.memory.evaluate import LEGS, evaluate, recall_at, session_of
from pipeline.domains.memory.records import Memory
from pipeline.errors import QuerySetError
from pipeline.examples import example_corpus, example_queryset
from pipeline.ingest.sources import read
from pipeline.records import Document

TURNS = {
    "h1/s1:1": ("Ada", "The gauge at Orme Lock sends its readings by radio."),
    "h1/s1:2": ("Bo", "My desk stands beside the stove."),
    "h1/s2:1": ("Ada", "Orme Lock has a new keeper, who plays the cello."),
    "h1/s2:2": ("Bo", "The antenna fell into the harbour."),
    "h2/s1:1": ("Cy", "The gauge at Vind sends its readings by pigeon."),
    "h2/s1:2": ("Di", "We eat herring on Fridays."),
}
QUESTIONS = {
    "q1": ("How does the gauge send its readings?", 2, ["h2/s1:1"]),
    "q2": ("Who plays the cello at Orme Lock?", 1, ["h1/s2:1"]),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two conversations, and a question to each; the first is answered otherwise in the other conversation."""
    turns = [
        {
            "id": key,
            "text": text,
            "metadata": {
                "conversation": int(key[1]),
                "session": int(key[4]),
                "turn": int(key[6:]),
                "date": "2026-03-02T09:00:00",
                "speaker": speaker,
            },
        }
        for key, (speaker, text) in TURNS.items()
    ]
    queries = [{"id": id_, "query": text, "filter": {"conversation": of}} for id_, (text, of, _) in QUESTIONS.items()]
    (tmp_path / "corpus.jsonl").write_text("\n".join(map(json.dumps, turns)), encoding="utf-8")
    (tmp_path / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)), encoding="utf-8")
    rows = [f"{id_}\t{key}\t1" for id_, (_, _, keys) in QUESTIONS.items() for key in keys]
    (tmp_path / "qrels.tsv").write_text("\n".join(["query\tdoc\trelevance", *rows]), encoding="utf-8")
    return tmp_path


@pytest.mark.slow
def test_every_ranking_is_measured_within_the_filter(hoprank: HopRank, folder: Path) -> None:
    before = [corpus.name for corpus in list_corpora(hoprank.client)]

    report = evaluate(hoprank, folder)

    assert list(report.metrics) == list(LEGS)
    assert (report.queries, report.turns) == (2, 6)
    assert report.metrics["hoprank"] == {
        "turn_recall@5": 1.0,
        "turn_recall@10": 1.0,
        "session_recall@5": 1.0,
        "session_recall@10": 1.0,
    }
    assert [corpus.name for corpus in list_corpora(hoprank.client)] == before


@pytest.mark.slow
@pytest.mark.usefixtures("server_environment")
def test_the_command_prints_a_table_and_writes_the_json(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "report.json"

    result = CliRunner().invoke(app, ["memory", "evaluate", str(folder), "--json", str(target)])

    assert result.exit_code == 0, result.output
    assert "sessions@10" in result.stdout
    written: dict[str, Any] = json.loads(target.read_text(encoding="utf-8"))
    assert set(written["metrics"]["bm25"]) >= {"turn_recall@5", "session_recall@10"}


@pytest.mark.parametrize("given", ["[1]", '"one"'])
def test_a_malformed_filter_is_named(hoprank: HopRank, folder: Path, given: str) -> None:
    line = f'{{"id": "q1", "query": "x", "filter": {given}}}'
    (folder / "queries.jsonl").write_text(line, encoding="utf-8")
    (folder / "qrels.tsv").write_text("query\tdoc\trelevance\nq1\th1/s1:1\t1", encoding="utf-8")

    with pytest.raises(QuerySetError, match=r"queries\.jsonl, line 1 has the filter"):
        evaluate(hoprank, folder)


@pytest.mark.slow
def test_judged_sessions_replace_those_of_the_turns_and_blank_lines_are_skipped(hoprank: HopRank, folder: Path) -> None:
    (folder / "qrels-session.tsv").write_text("query\tsession\trelevance\n\nq1\th2/nowhere\t1\n\n", encoding="utf-8")

    report = evaluate(hoprank, folder)

    assert report.metrics["hoprank"]["turn_recall@5"] == 1.0
    assert report.metrics["hoprank"]["session_recall@5"] == 0.5


def test_recall_is_the_share_of_the_relevant() -> None:
    assert recall_at(["a", "b", "c"], {"c", "d"}, 3) == 0.5
    assert recall_at(["a", "b", "c"], {"c"}, 2) == 0


def test_a_session_is_named_by_the_key_or_by_its_names() -> None:
    assert session_of(Memory("c1/s2:3", "x", "2026-01-01")) == "c1/s2"
    assert session_of(Memory("note", "x", "2026-01-01", session="s", conversation="c")) == "c/s"


@pytest.mark.slow
def test_the_figures_of_the_examples_are_as_they_were(hoprank: HopRank, tmp_path: Path) -> None:
    # Each text is a turn, cut to the length of one; four are a session.
    texts = sorted((one for one in read([str(example_corpus())]) if isinstance(one, Document)), key=lambda one: one.key)
    turns = [
        {
            "id": one.key,
            "text": f"{one.title}. {one.text[one.body_start :][:400]}",
            "metadata": {"conversation": 1, "session": at // 4, "turn": at, "date": "2026-03-02", "speaker": "Ada"},
        }
        for at, one in enumerate(texts)
    ]
    (tmp_path / "corpus.jsonl").write_text("\n".join(map(json.dumps, turns)), encoding="utf-8")
    for name in ("queries.jsonl", "qrels.tsv"):
        (tmp_path / name).write_bytes((example_queryset() / name).read_bytes())

    report = evaluate(hoprank, tmp_path)

    assert {leg: [of["turn_recall@5"], of["session_recall@5"]] for leg, of in report.metrics.items()} == {
        "bm25": pytest.approx([0.671, 0.736], abs=0.02),
        "vector": pytest.approx([0.643, 0.74], abs=0.02),
        "hybrid": pytest.approx([0.713, 0.771], abs=0.02),
        "hoprank": pytest.approx([0.748, 0.798], abs=0.02),
    }
