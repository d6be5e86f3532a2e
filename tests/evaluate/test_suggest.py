"""Questions worth judging: how far rankings differ, and which questions are named."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline import HopRank
from pipeline.db.catalogue import find_corpus
from pipeline.errors import QuerySetError
from pipeline.evaluate.suggest import average_overlap, suggest

RANKINGS = st.lists(st.sampled_from("abcdefghijklmn"), unique=True, max_size=12)
ANIMALS = [
    {"id": "otter", "title": "Otter", "text": "The otter swims in the Severn all day, and eats trout."},
    {"id": "beaver", "title": "Beaver", "text": "The beaver builds dams on the Severn."},
    {"id": "severn", "title": "Severn", "text": "The Severn rises on Plynlimon in Wales."},
]
QUERIES = [
    {"id": "q1", "query": "Where does the river of the otter rise?"},
    {"id": "q2", "query": "Who builds dams?"},
    {"id": "q3", "query": "Trout?"},
]


@pytest.mark.parametrize(
    ("one", "other", "overlap"),
    [("abc", "abc", 1.0), ("ab", "ba", 0.5), ("abc", "xyz", 0.0), ("", "", 1.0), ("", "a", 0.0), ("ab", "a", 0.75)],
)
def test_average_overlap_is_the_mean_share_of_common_documents(one: str, other: str, overlap: float) -> None:
    assert average_overlap(one, other) == overlap


@given(RANKINGS, RANKINGS)
def test_overlap_has_no_order_and_is_whole_for_equal_starts_alone(one: Sequence[str], other: Sequence[str]) -> None:
    overlap = average_overlap(one, other)

    assert overlap == average_overlap(other, one)
    assert 0 <= overlap <= 1
    assert (overlap == 1) == (one[:10] == other[:10])


def test_the_questions_on_which_rankings_disagree_most_come_first_with_what_to_judge() -> None:
    questions = {"same": "Same?", "apart": "Apart?", "swapped": "Swapped?"}
    rankings = {"vector": ["ab", "ab", "ab"], "fulltext": ["ab", "cd", "ab"], "hoprank": ["ab", "ef", "ba"]}

    found = suggest(questions, rankings, 2)

    assert [(one.id, one.disagreement, "".join(one.documents)) for one in found] == [
        ("apart", 1.0, "acebdf"),
        ("swapped", 0.3333, "ab"),
    ]


def test_questions_without_judgements_are_suggested_and_the_temporary_corpus_goes(
    hoprank: HopRank, tmp_path: Path
) -> None:
    for name, rows in (("corpus", ANIMALS), ("queries", QUERIES)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    assert {one.id for one in hoprank.suggest(tmp_path)} == {"q1", "q2", "q3"}
    (tmp_path / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq2\tbeaver\t1\n")
    (found,) = hoprank.suggest(tmp_path, 1)
    assert found.id in ("q1", "q3")
    assert set(found.documents) <= {"otter", "beaver", "severn"}
    (tmp_path / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\totter\t1\nq2\tbeaver\t1\nq3\totter\t1\n")
    with pytest.raises(QuerySetError, match="has judgements of each of its queries"):
        hoprank.suggest(tmp_path)
    assert find_corpus(hoprank.client, tmp_path.name) is None
