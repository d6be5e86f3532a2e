"""Querysets as BEIR and HippoRAG publish them: told apart, read as they are, refused with a reason."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipeline import HopRank
from pipeline.errors import QuerySetError
from pipeline.evaluate.datasets import read_dataset
from pipeline.retrieve.legs import Leg

CORPUS = [
    {"title": "Otter", "text": "The otter swims in the Severn all day."},
    {"title": "Severn", "text": "The Severn rises on Plynlimon in Wales. It is long."},
    {"title": "Severn", "text": "Severn is also a small town in Ontario."},
    {"title": "Beaver", "text": "The beaver builds dams."},
]
QUESTION = "Where does the river of the otter rise?"


def passage(place: int, supporting: bool, text: str = "text") -> dict[str, Any]:
    return {"title": CORPUS[place]["title"], text: CORPUS[place]["text"], "is_supporting": supporting}


FACTS: dict[str, Any] = {
    "_id": "f1",
    "question": QUESTION,
    "supporting_facts": [["Otter", 0], ["Severn", 0]],
    "context": [
        ["Otter", ["The otter swims in the Severn all day."]],
        ["Severn", ["The Severn rises on Plynlimon in Wales.", " It is long."]],
        ["Beaver", ["The beaver builds dams."]],
    ],
}
UNSPACED: dict[str, Any] = {
    **FACTS,
    "context": [
        ["Otter", ["The otter swims in the Severn all day."]],
        ["Severn", ["The Severn rises on Plynlimon in Wales.", "It is long."]],
    ],
}
PARAGRAPHS: dict[str, Any] = {
    "id": "p1",
    "question": QUESTION,
    "paragraphs": [passage(0, True, "paragraph_text"), passage(1, True, "paragraph_text"), passage(3, False)],
}
CONTEXTS = {"question": QUESTION, "contexts": [passage(0, True), passage(1, True), passage(2, False)]}
EXPECTED = {"Otter": 1.0, "Severn": 1.0}


def hipporag(folder: Path, questions: object, corpus: object = CORPUS, name: str = "rivers") -> Path:
    (folder / f"{name}.json").write_text(json.dumps(questions))
    (folder / f"{name}_corpus.json").write_text(json.dumps(corpus))
    return folder


def beir(folder: Path, *splits: str) -> Path:
    rows = [{"_id": f"d{place}", **one, "metadata": {"kind": "beir"}} for place, one in enumerate(CORPUS)]
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, rows)))
    queries: list[dict[str, Any]] = [
        {"_id": split, "text": f"{QUESTION} ({split})", "metadata": {}} for split in ("train", "dev", "test")
    ]
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)))
    (folder / "qrels").mkdir()
    for split in splits:
        text = f"query-id\tcorpus-id\tscore\n{split}\td0\t1\n{split}\td1\t2\n{split}\td3\t0\n"
        (folder / "qrels" / f"{split}.tsv").write_text(text)
    return folder


def refusal(path: Path, split: str | None = None) -> str:
    with pytest.raises(QuerySetError) as caught:
        read_dataset(path, split)
    return str(caught.value)


@pytest.mark.parametrize(
    ("splits", "asked", "read"),
    [
        (("train", "dev", "test"), None, "test"),
        (("train", "dev"), None, "dev"),
        (("train",), None, "train"),
        (("train", "test"), "train", "train"),
    ],
)
def test_beir_is_read_split_by_split(tmp_path: Path, splits: tuple[str, ...], asked: str | None, read: str) -> None:
    queryset = read_dataset(beir(tmp_path, *splits), asked)

    assert queryset.name == f"{tmp_path.name}/{read}"
    (query,) = queryset.queries
    assert (query.id, query.relevant) == (read, {"d0": 1.0, "d1": 2.0})
    assert queryset.unjudged == ()
    assert queryset.corpus_path == tmp_path / "corpus.jsonl"


def test_a_split_that_is_not_there_is_refused(tmp_path: Path) -> None:
    assert "It has test, train." in refusal(beir(tmp_path, "train", "test"), "dev")


def test_splits_are_beirs_alone(tmp_path: Path) -> None:
    own, published = tmp_path / "own", tmp_path / "published"
    own.mkdir()
    published.mkdir()
    (own / "queries.jsonl").write_text('{"id": "q", "query": "?"}')

    assert "has no split 'dev'" in refusal(own, "dev")
    assert "has no split 'dev'" in refusal(hipporag(published, [PARAGRAPHS]), "dev")


@pytest.mark.parametrize(("question", "id_"), [(FACTS, "f1"), (UNSPACED, "f1"), (PARAGRAPHS, "p1"), (CONTEXTS, "1")])
def test_hipporag_says_in_three_ways_what_answers_a_question(tmp_path: Path, question: object, id_: str) -> None:
    queryset = read_dataset(hipporag(tmp_path, [question]))

    (query,) = queryset.queries
    assert (queryset.name, query.id, query.text, query.relevant) == ("rivers", id_, QUESTION, EXPECTED)
    assert queryset.documents is not None
    assert [one.key for one in queryset.documents] == ["Otter", "Severn", "Severn (2)", "Beaver"]
    assert [one.title for one in queryset.documents] == ["Otter", "Severn", "Severn", "Beaver"]


def test_hipporag_s_first_corpora_are_titles_with_sentences(tmp_path: Path) -> None:
    corpus = {"Otter": ["The otter swims", " in the Severn all day."], "Severn": ["It rises", "in Wales."]}

    queryset = read_dataset(hipporag(tmp_path, [FACTS], corpus))

    assert queryset.queries[0].relevant == EXPECTED
    assert [one.text for one in queryset.documents or ()] == [
        "The otter swims in the Severn all day.",
        "It rises in Wales.",
    ]


@pytest.mark.parametrize("name", ["rivers.json", "rivers_corpus.json"])
def test_a_folder_of_several_asks_which(tmp_path: Path, name: str) -> None:
    hipporag(hipporag(tmp_path, [FACTS]), [FACTS], name="lakes")

    assert "holds 2 querysets: lakes.json, rivers.json" in refusal(tmp_path)
    assert read_dataset(tmp_path / name).name == "rivers"


def test_passages_that_are_there_twice_come_once_and_keys_stay_apart(tmp_path: Path) -> None:
    corpus = [{"title": "A", "text": text} for text in ("one", "one", "two")] + [
        {"title": "A (2)", "text": "three"},
        {"title": "", "text": "four"},
    ]
    question = {"question": "?", "contexts": [{"title": "A (2)", "text": "three", "is_supporting": True}]}

    queryset = read_dataset(hipporag(tmp_path, [question], corpus))

    assert [one.key for one in queryset.documents or ()] == ["A", "A (2)", "A (2) (2)", "passage 5"]
    assert queryset.queries[0].relevant == {"A (2) (2)": 1.0}


def test_questions_without_an_answer_are_left_out(tmp_path: Path) -> None:
    queryset = read_dataset(hipporag(tmp_path, [PARAGRAPHS, {"id": "p2", "question": "?", "paragraphs": []}]))

    assert queryset.unjudged == ("p2",)


@pytest.mark.parametrize(
    ("questions", "corpus", "says"),
    [
        ({}, CORPUS, "rivers.json is not a list"),
        ([], CORPUS, "rivers.json is not a list"),
        ([3], CORPUS, "rivers.json is not a list"),
        ([{"question": "?", "answer": "!"}], CORPUS, "question 1 doesn't say which passages answer it"),
        ([{**FACTS, "context": 3}], CORPUS, "question 1 doesn't say"),
        ([{**FACTS, "context": [["Otter", "no list"]]}], CORPUS, "no list of sentences"),
        ([{**FACTS, "question": " "}], CORPUS, "question 1 has the question ' '"),
        ([PARAGRAPHS, PARAGRAPHS], CORPUS, "'p1' was used before"),
        ([PARAGRAPHS], CORPUS[2:], "the passage 'Otter', which answers it, is not in the corpus"),
        ([PARAGRAPHS], [{"title": "Otter"}], "passage 1 has no text"),
        ([PARAGRAPHS], "Otter", "rivers_corpus.json is not a list"),
        ([{"question": "?", "paragraphs": []}], CORPUS, "no question with a passage"),
    ],
)
def test_what_is_malformed_is_named(tmp_path: Path, questions: object, corpus: object, says: str) -> None:
    assert says in refusal(hipporag(tmp_path, questions, corpus))


def test_files_that_are_missing_or_no_json_are_named(tmp_path: Path) -> None:
    hipporag(tmp_path, [PARAGRAPHS])
    (tmp_path / "rivers.json").write_text("[{")
    assert "rivers.json isn't JSON" in refusal(tmp_path)

    (tmp_path / "rivers.json").unlink()
    assert "rivers.json can't be read" in refusal(tmp_path)
    assert "lakes.json is not a folder" in refusal(tmp_path / "lakes.json")


@pytest.mark.slow
@pytest.mark.parametrize("write", [lambda folder: hipporag(folder, [PARAGRAPHS]), lambda folder: beir(folder, "test")])
def test_published_sets_are_evaluated_as_they_are(
    hoprank: HopRank, corpus_name: str, tmp_path: Path, write: Callable[[Path], Path]
) -> None:
    folder = write(tmp_path)

    first = hoprank.evaluate(folder, corpus=corpus_name, legs=[Leg.WHOLE])
    again = hoprank.evaluate(folder, corpus=corpus_name, legs=[Leg.WHOLE])

    assert (first.run.documents, first.queries) == (4, 1)
    assert first.legs[0].measures["recall@5"] == 1.0
    assert again.legs[0].measures == first.legs[0].measures
