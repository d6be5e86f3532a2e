"""Reading querysets: what is accepted, and what every kind of wrong file is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import QuerySetError
from pipeline.evaluate.datasets import Dataset, Query, check_documents, read_dataset, read_document_ids

HEADER = "query_id\tdoc_id\trelevance\n"
QUERIES = '{"id": "q1", "query": "who sang it?"}\n{"id": "q2", "query": "where?"}\n'
QRELS = HEADER + "q1\td1\t1\nq1\td2\t3\nq2\td1\t0.5\n"


def write(folder: Path, queries: str | bytes = QUERIES, qrels: str | bytes = QRELS) -> Path:
    for name, content in (("queries.jsonl", queries), ("qrels.tsv", qrels)):
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def refusal(folder: Path) -> QuerySetError:
    with pytest.raises(QuerySetError) as caught:
        read_dataset(folder)
    assert caught.value.fix
    return caught.value


def test_reads_queries_in_order_with_their_relevant_documents(tmp_path: Path) -> None:
    queryset = read_dataset(write(tmp_path))

    assert queryset.name == tmp_path.name
    assert queryset.queries == (
        Query("q1", "who sang it?", {"d1": 1.0, "d2": 3.0}),
        Query("q2", "where?", {"d1": 0.5}),
    )
    assert queryset.unjudged == ()
    assert queryset.corpus_path is None


def test_names_the_corpus_when_there_is_one(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text('{"id": "d1", "text": "x"}\n{"id": 2, "text": ""}\n{"_id": "d3"}\n')

    queryset = read_dataset(write(tmp_path))

    assert queryset.corpus_path == tmp_path / "corpus.jsonl"
    assert read_document_ids(queryset.corpus_path) == {"d1", "2", "d3"}


def test_a_relative_folder_still_gives_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(write(tmp_path))

    assert read_dataset(Path()).name == tmp_path.name


def test_numbers_as_ids_match_what_the_qrels_write(tmp_path: Path) -> None:
    queryset = read_dataset(write(tmp_path, '{"id": 7, "query": "who?"}', HEADER + "7\td1\t1"))

    assert queryset.queries == (Query("7", "who?", {"d1": 1.0}),)


def test_queries_without_relevant_documents_are_left_out_and_named(tmp_path: Path) -> None:
    qrels = HEADER + "q2\td1\t0\nq2\td2\t-1\nq1\td1\t1\nq1\td3\t0\n"

    queryset = read_dataset(write(tmp_path, QUERIES + '{"id": "q3", "query": "why?"}\n', qrels))

    assert [query.id for query in queryset.queries] == ["q1"]
    assert queryset.queries[0].relevant == {"d1": 1.0}
    assert queryset.unjudged == ("q2", "q3")
    assert queryset.remarks == ("2 queries without a relevant document can't be measured ('q2', 'q3').",)


def test_byte_order_marks_carriage_returns_and_blank_lines_are_passed_over(tmp_path: Path) -> None:
    queries = ("\ufeff" + QUERIES.replace("\n", "\r\n\r\n")).encode()
    qrels = ("\ufeff" + QRELS.replace("\n", "\r\n") + "\r\n").encode()

    assert read_dataset(write(tmp_path, queries, qrels)).queries == read_dataset(write(tmp_path)).queries


def test_only_line_feeds_end_lines(tmp_path: Path) -> None:
    queries = json.dumps({"id": "q\u2028 1", "query": "one\u2028two\x85three"}, ensure_ascii=False)

    queryset = read_dataset(write(tmp_path, queries, HEADER + "q\u2028 1\td\x85 1\t1\n"))

    assert queryset.queries == (Query("q\u2028 1", "one\u2028two\x85three", {"d\x85 1": 1.0}),)


def test_a_query_may_be_repeated(tmp_path: Path) -> None:
    assert read_dataset(write(tmp_path, QUERIES + QUERIES)) == read_dataset(write(tmp_path))


def test_a_judgement_may_be_repeated_but_not_contradicted(tmp_path: Path) -> None:
    assert read_dataset(write(tmp_path, qrels=QRELS + "q1\td1\t1.0\n")).queries[0].relevant["d1"] == 1.0

    error = refusal(write(tmp_path, qrels=QRELS + "q1\td1\t2\n"))

    assert "qrels.tsv, line 5 judges document 'd1' for query 'q1' once more" in error.message


@pytest.mark.parametrize("missing", ["queries.jsonl", "qrels.tsv"])
def test_a_missing_file_is_named(tmp_path: Path, missing: str) -> None:
    (write(tmp_path) / missing).unlink()

    error = refusal(tmp_path)

    assert f"{missing} can't be read: no such file" in error.message
    assert missing in error.fix


def test_what_is_not_a_folder_is_named(tmp_path: Path) -> None:
    assert "nowhere is not a folder" in refusal(tmp_path / "nowhere").message
    assert "qrels.tsv is not a folder" in refusal(write(tmp_path) / "qrels.tsv").message
    assert "x is not a folder" in refusal(tmp_path / ("x" * 300)).message


@pytest.mark.parametrize(
    ("queries", "qrels", "message"),
    [
        (QUERIES + '{"id": "q3", "query": ', QRELS, "queries.jsonl, line 3 isn't JSON: Expecting value at column 23."),
        (QUERIES + "[" * 100_000, QRELS, "queries.jsonl, line 3 is nested too deeply"),
        (QUERIES + '{"id": ' + "1" * 5_000 + "}", QRELS, "queries.jsonl, line 3 isn't JSON that can be read"),
        (QUERIES + '["q3", "who?"]', QRELS, "queries.jsonl, line 3 isn't a JSON object"),
        (QUERIES + '{"query": "who?"}', QRELS, "queries.jsonl, line 3 has no `id`"),
        (QUERIES + '{"id": "q3"}', QRELS, "queries.jsonl, line 3 has no `query`"),
        (QUERIES + '{"id": true, "query": "who?"}', QRELS, "queries.jsonl, line 3 has the `id` True"),
        (QUERIES + '{"id": "", "query": "who?"}', QRELS, "queries.jsonl, line 3 has the `id` ''"),
        (
            QUERIES + '{"id": "q1", "query": "who?"}',
            QRELS,
            "queries.jsonl, line 3 has the query id 'q1', which was used before",
        ),
        (
            QUERIES,
            QRELS + "q1 d3 1",
            "qrels.tsv, line 5 hasn't 3 columns separated by tabs, none of them empty: 'q1 d3 1'",
        ),
        (QUERIES, QRELS + "q1\t0\td3\t1", "qrels.tsv, line 5 hasn't 3 columns"),
        (QUERIES, QRELS + "q1\t\t1", "qrels.tsv, line 5 hasn't 3 columns"),
        (QUERIES, QRELS + "q1\td3\thigh", "qrels.tsv, line 5 has the relevance 'high', which is not a number"),
        (QUERIES, QRELS + "q1\td3\tnan", "qrels.tsv, line 5 has the relevance 'nan', which is not a number"),
        (QUERIES, QRELS + "q1\td3\t1e999", "qrels.tsv, line 5 has the relevance '1e999', which is not a number"),
        (QUERIES, "q1\t0\td1\t1\t1\n", "qrels.tsv, line 1 hasn't 3 columns"),
        (QUERIES, "q1 0 d1 1\nq1 d2 1\n", "qrels.tsv, line 2 hasn't 4 columns"),
        (QUERIES, "q8\td1\t1\n", "qrels.tsv names no relevant document for any query of queries.jsonl"),
        (QUERIES, "", "qrels.tsv, line 1 hasn't 3 columns"),
        (QUERIES, HEADER, "qrels.tsv names no relevant document for any query of queries.jsonl"),
        (QUERIES, HEADER + "q1\td1\t0\n", "qrels.tsv names no relevant document for any query of queries.jsonl"),
        ("\n", HEADER, "queries.jsonl holds no queries"),
        (QUERIES.encode() + b"\xff\n", QRELS, "queries.jsonl, line 3 isn't valid UTF-8"),
        (QUERIES, HEADER.encode() + b"q\xe9\td\t1", "qrels.tsv, line 2 isn't valid UTF-8"),
    ],
)
def test_what_is_malformed_is_refused_by_file_and_line(
    tmp_path: Path, queries: str | bytes, qrels: str | bytes, message: str
) -> None:
    assert message in refusal(write(tmp_path, queries, qrels)).message


@pytest.mark.parametrize("text", ["\ud83d high tide", "\x00", "?!...", "of the", 'title:"x" AND (foo* OR', 1965])
def test_any_text_is_asked(tmp_path: Path, text: str | int) -> None:
    queries = QUERIES + json.dumps({"id": 3, "query": text}) + "\n"

    (asked,) = (one for one in read_dataset(write(tmp_path, queries, QRELS + "3\td1\t1\n")).queries if one.id == "3")

    assert asked.text == str(text).replace("\ud83d", "\ufffd").replace("\x00", "\ufffd")


@pytest.mark.parametrize(
    "place", ["test.tsv", "dev.tsv", "dev.txt", "qrels/dev.tsv", "qrels/valid.tsv", "qrels/test.txt"]
)
def test_a_folder_may_have_one_split_alone(tmp_path: Path, place: str) -> None:
    expected = read_dataset(write(tmp_path)).queries
    (tmp_path / place).parent.mkdir(exist_ok=True)
    (tmp_path / "qrels.tsv").rename(tmp_path / place)

    dataset = read_dataset(tmp_path)

    assert (dataset.name, dataset.queries) == (f"{tmp_path.name}/{Path(place).stem}", expected)


@pytest.mark.parametrize(
    "qrels",
    [
        QRELS.replace("\n", "\t\n"),
        "query-id 0 corpus-id score\n" + QRELS.removeprefix(HEADER),
        HEADER.replace("\t", " ") + "".join(line.replace("\t", "\t0\t", 1) for line in QRELS.splitlines(True)[1:]),
        QRELS.removeprefix(HEADER),
        HEADER.replace("\t", " ") + QRELS.removeprefix(HEADER).replace("\t", "  "),
        "".join(
            line.replace("\t", " 0 ", 1).replace("\t", " ") for line in QRELS.removeprefix(HEADER).splitlines(True)
        ),
        "".join(line.replace("\t", "\tQ0\t", 1) for line in QRELS.splitlines(True)),
    ],
)
def test_layouts_of_judgements_are_read_as_they_are(tmp_path: Path, qrels: str) -> None:
    assert read_dataset(write(tmp_path, qrels=qrels)).queries == read_dataset(write(tmp_path)).queries


def test_queries_that_cant_be_asked_are_left_out_and_named(tmp_path: Path) -> None:
    empty = {"q4": "", "q5": None, "q6": "\u00ad\u200e"}
    queries = QUERIES + '{"id": "q3", "text": " "}\n'
    queries += "".join(json.dumps({"id": id_, "text": text}) + "\n" for id_, text in empty.items())

    queryset = read_dataset(write(tmp_path, queries, QRELS + "q8\td3\t1\nq9\td3\t1\nq8\td1\t1\nq3\td1\t1\n"))

    assert queryset.queries == read_dataset(write(tmp_path)).queries
    assert queryset.remarks == (
        "1 query without a text can't be asked ('q3').",
        "2 queries in qrels.tsv that queries.jsonl doesn't have can't be asked ('q8', 'q9').",
    )


def test_a_query_longer_than_is_read_is_asked_as_far_as_that(tmp_path: Path) -> None:
    text = "tide " * 4_000

    queryset = read_dataset(write(tmp_path, f'{{"id": "q1", "query": "{text}"}}', HEADER + "q1\td1\t1\n"))

    assert queryset.queries[0].text == text[:9_999]
    assert queryset.remarks == ("1 query is longer than 10,000 characters, and asked as far as that ('q1').",)


def test_utf_16_is_read_as_everywhere_else(tmp_path: Path) -> None:
    written = write(tmp_path, QUERIES.encode("utf-16"), QRELS.encode("utf-16"))

    assert read_dataset(written).queries == read_dataset(write(tmp_path)).queries


def test_a_folder_in_the_place_of_a_file_is_refused(tmp_path: Path) -> None:
    (write(tmp_path) / "qrels.tsv").unlink()
    (tmp_path / "qrels.tsv").mkdir()

    assert "qrels.tsv can't be read: is a directory" in refusal(tmp_path).message


@pytest.mark.parametrize("relevant", [{}, {"d1": 0.0}, {"d1": 1.0, "d2": float("nan")}, {"d1": float("inf")}])
def test_a_query_has_relevant_documents_only(relevant: dict[str, float]) -> None:
    with pytest.raises(QuerySetError, match="query 'q1' has no relevant document"):
        Query("q1", "who?", relevant)


def test_unstored_documents_are_counted_and_the_first_few_named() -> None:
    keys = [f"d{number}" for number in range(8)]
    queryset = Dataset("songs", (Query("q1", "who?", dict.fromkeys(keys, 1.0)), Query("q2", "why?", {"d7": 1.0})))

    assert check_documents(queryset, set(keys)) is queryset
    (remark,) = check_documents(queryset, {"d0"}).remarks
    with pytest.raises(QuerySetError) as caught:
        check_documents(queryset, {"d9"})

    assert remark == (
        "Not in the corpus, so that they count as not found: 7 of 8 relevant documents"
        " ('d1', 'd2', 'd3', 'd4', 'd5', ...)."
    )
    assert caught.value.message == (
        "queryset 'songs': none of the 8 relevant documents in its qrels is in the corpus:"
        " 'd0', 'd1', 'd2', 'd3', 'd4', ..."
    )
    assert caught.value.fix


ids = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\r\n\0"), min_size=1).filter(str.strip)


@given(
    st.dictionaries(
        ids.filter(lambda key: not key.startswith("\ufeff")), st.dictionaries(ids, st.integers(-1, 4)), min_size=1
    )
)
def test_what_is_written_is_what_is_read(
    tmp_path_factory: pytest.TempPathFactory, judged: dict[str, dict[str, int]]
) -> None:
    judged["always"] = {"judged": 1}
    queries = "".join(json.dumps({"id": query_id, "query": f"{query_id}?"}) + "\n" for query_id in judged)
    qrels = "".join(
        f"{query_id}\t{key}\t{grade}\n" for query_id, grades in judged.items() for key, grade in grades.items()
    )

    queryset = read_dataset(write(tmp_path_factory.mktemp("queryset"), queries, HEADER + qrels))

    expected = {
        query_id: {key: grade for key, grade in grades.items() if grade > 0} for query_id, grades in judged.items()
    }
    assert {query.id: query.relevant for query in queryset.queries} == {k: v for k, v in expected.items() if v}
    assert queryset.unjudged == tuple(query_id for query_id, relevant in expected.items() if not relevant)
