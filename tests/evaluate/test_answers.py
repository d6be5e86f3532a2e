"""Answers in contexts: what counts as held."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.evaluate.answers import holds_answer, with_answers
from pipeline.evaluate.datasets import Query, read_dataset


@pytest.mark.parametrize(
    ("context", "answer", "held"),
    [
        ("She was born in the Academy of Performing Arts, Prague.", "academy of performing arts", True),
        ("He led “The Beatles”.", "Beatles", True),
        ("Beatlesque songs", "Beatles", False),
        ("It took 1,500 men.", "1,500", True),
        ("It took 11,500 men.", "1,500", False),
        ("Über den Fluß", "über den fluss", True),
        ("北京 是 首都", "北京", True),
        ("yes", "yes", False),
        ("anything", "", False),
        ("anything", "the", False),
    ],
)
def test_an_answer_is_held_as_words_in_a_row(context: str, answer: str, held: bool) -> None:
    assert holds_answer(context, [answer]) == held


@given(st.text(), st.text(), st.text())
def test_a_text_holds_what_it_was_made_of(before: str, answer: str, after: str) -> None:
    held = holds_answer(f"{before} {answer} {after}", [answer])

    assert held == bool(with_answers([Query("q", "?", {"a": 1.0}, answers=(answer,))]))


def test_answers_are_read_as_texts_and_lists(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [
        {"id": "a", "query": "?", "answer": "Lyon", "answer_aliases": ["Lyons", "", None, {"x": 1}]},
        {"id": "b", "query": "?", "answers": ["Rhone", 1833]},
        {"id": "c", "query": "?", "answer": "yes"},
        {"id": "d", "query": "?"},
    ]
    (tmp_path / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "qrels.tsv").write_text("q\td\tr\n" + "".join(f"{row['id']}\tx\t1\n" for row in rows))

    queries = read_dataset(tmp_path).queries

    assert [query.answers for query in queries] == [("Lyon", "Lyons"), ("Rhone", "1833"), ("yes",), ()]
    assert [query.id for query in with_answers(queries)] == ["a", "b"]


def test_answers_of_hipporag_are_read(tmp_path: Path) -> None:
    (tmp_path / "few_corpus.json").write_text(json.dumps([{"title": "Lyon", "text": "Lyon stands there."}]))
    question = {
        "id": "1",
        "question": "Where?",
        "answer": "Lyon",
        "answer_aliases": ["Lyons"],
        "paragraphs": [{"title": "Lyon", "paragraph_text": "Lyon stands there.", "is_supporting": True}],
    }
    (tmp_path / "few.json").write_text(json.dumps([question]))

    assert read_dataset(tmp_path).queries[0].answers == ("Lyon", "Lyons")
