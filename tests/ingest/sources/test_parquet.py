"""Tables of documents: what a row may hold, how a bad one is named, and what a damaged table costs."""

from __future__ import annotations

import datetime
import json
import random
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.errors import SourceError
from pipeline.files import Limits
from pipeline.files.limits import MEGABYTE
from pipeline.ingest.sources import parquet, read, rows
from pipeline.ingest.sources.parser_process import ParserProcess
from pipeline.ingest.sources.reader import documents_of, documents_of_files
from pipeline.records import Document, Skipped
from tests.ingest.sources.hostile import TABLES

Columns = Mapping[str, Any]

ROWS = ParserProcess.rows
SMALL = Limits(seconds=6, bytes_of_memory=400 * MEGABYTE, bytes_unpacked=20 * MEGABYTE)


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Read tables in this process: what the other one is for has tests of its own."""

    def ask(_: ParserProcess, wanted: parquet.Rows) -> object:
        return parquet.next_rows(wanted)

    with monkeypatch.context() as patched:
        patched.setattr(ParserProcess, "rows", ask)
        yield


@pytest.fixture
def there(monkeypatch: pytest.MonkeyPatch, here: None) -> None:
    """Read tables in the process that is for them."""
    monkeypatch.setattr(ParserProcess, "rows", ROWS)


def table(folder: Path, columns: Columns, name: str = "table.parquet", **options: Any) -> str:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(dict(columns)), path, **options)
    return str(path)


def documents(*paths: str) -> list[Document]:
    return [item for item in read(list(paths)) if isinstance(item, Document)]


def test_a_row_is_the_document_that_a_line_is(tmp_path: Path) -> None:
    objects: list[dict[str, Any]] = [
        {
            "id": "a",
            "title": "A",
            "text": "# One\n\n# Two\n\nText.",
            "lang": "en",
            "metadata": {"by": {"name": "Ada"}, "year": 1},
        },
        {"id": "b", "title": None, "text": "", "lang": None, "metadata": None},
        {"id": "c", "title": "C", "text": "Three.", "lang": "de", "metadata": {"by": {"name": None}, "year": 2}},
    ]
    path = table(tmp_path, {name: [one[name] for one in objects] for name in objects[0]})

    found = documents(path)

    assert [(one.path, one.key) for one in found] == [(path, "a"), (path, "b"), (path, "c")]
    expected = documents_of(objects)
    assert [(one.title, one.text, one.blocks, one.metadata) for one in found] == [
        (one.title, one.text, one.blocks, one.metadata) for one in expected
    ]
    assert found[0].metadata == {"lang": "en", "by.name": "Ada", "year": 1}


def utc(*parts: int) -> datetime.datetime:
    return datetime.datetime(*parts, tzinfo=datetime.UTC)  # type: ignore[arg-type, misc]


@pytest.mark.parametrize(
    ("values", "kind", "stored"),
    [
        ([datetime.date(2024, 5, 6)], pa.date32(), "2024-05-06"),
        ([utc(2024, 5, 6, 7)], pa.timestamp("us"), "2024-05-06T07:00:00"),
        ([utc(2024, 5, 6, 7)], pa.timestamp("ms", "UTC"), "2024-05-06T07:00:00+00:00"),
        ([1_714_978_800_123_456_789], pa.timestamp("ns"), "2024-05-06T07:00:00.123456"),
        ([datetime.time(12, 30)], pa.time64("us"), "12:30:00"),
        ([1_500_000_000], pa.duration("ns"), 1.5),
        ([Decimal("12.500")], pa.decimal128(20, 3), 12.5),
        ([Decimal("7")], pa.decimal128(20, 0), 7),
        (
            [Decimal("0.1000000000000000055511151231257827")],
            pa.decimal128(38, 34),
            "0.1000000000000000055511151231257827",
        ),
        ([2**63 - 1], pa.int64(), 2**63 - 1),
        ([2**64 - 1], pa.uint64(), str(2**64 - 1)),
        ([1.5], pa.float16(), 1.5),
        ([float("nan")], pa.float64(), None),
        ([None], pa.null(), None),
        (["x"], pa.large_string(), "x"),
        (["x"], pa.dictionary(pa.int8(), pa.string()), "x"),
        ([b"x"], pa.binary(), "x"),
        ([b"\xff\x00"], pa.binary(), "ff00"),
        ([b"\xff" * 5000], pa.large_binary(), "5,000 bytes"),
        ([b"ab"], pa.binary(2), "6162"),
        ([["a", "b", None]], pa.list_(pa.string()), ["a", "b"]),
        ([[1, 2]], pa.list_(pa.int32(), 2), [1, 2]),
        ([[datetime.date(2024, 5, 6)]], pa.list_(pa.date32()), ["2024-05-06"]),
        ([[]], pa.map_(pa.string(), pa.string()), None),
        ([[[("a", 1)]]], pa.list_(pa.map_(pa.string(), pa.int64())), '[{"a": 1}]'),
        (["a\0b"], pa.string(), "a\ufffdb"),
    ],
)
def test_a_value_of_any_type_is_metadata(tmp_path: Path, values: list[Any], kind: Any, stored: object) -> None:
    path = table(tmp_path, {"id": ["a"], "text": ["x"], "it": pa.array(values, kind)})

    (document,) = documents(path)

    assert document.metadata == ({} if stored is None else {"it": stored})


def test_objects_are_structs_maps_or_json(tmp_path: Path) -> None:
    maps = pa.array([[("year", 1), ("old", None)], None, []], pa.map_(pa.string(), pa.int64()))
    structs = pa.array([{"year": 1, "old": None}, None, {"year": None, "old": None}])
    texts = ['{"year": 1, "old": null}', None, ""]

    for objects in (maps, structs, texts):
        path = table(tmp_path, {"id": [1, 2, 3], "text": ["x"] * 3, "metadata": objects})
        assert [(one.key, one.metadata) for one in documents(path)] == [("1", {"year": 1}), ("2", {}), ("3", {})]


def test_times_of_spark_and_numbers_of_rows_of_pandas(tmp_path: Path) -> None:
    columns = {"id": ["a"], "text": ["x"], "at": [datetime.datetime(2024, 5, 6)], "__index_level_0__": [7]}  # noqa: DTZ001
    path = table(tmp_path, columns, use_deprecated_int96_timestamps=True)

    assert documents(path)[0].metadata == {"at": "2024-05-06T00:00:00"}


def test_chunks_and_embeddings_come_with_a_row(tmp_path: Path) -> None:
    numbers = pa.list_(pa.float32())
    chunk = pa.struct({"text": pa.string(), "embedding": numbers, "metadata": pa.string(), "page": pa.int8()})
    given = [{"text": "x", "embedding": [0.5, 1], "metadata": '{"by": "Ada"}', "page": 2}, {"text": "y"}]
    path = table(
        tmp_path,
        {
            "id": ["a", "b", "c", "d"],
            "text": [None, "Whole.", " ", "Cut."],
            "chunks": pa.array([given, None, None, None], pa.list_(chunk)),
            "embedding": pa.array([None, [1.0, 0.0], [1.0, 0.0], None], numbers),
        },
    )

    a, b, c, d = documents(path)

    assert [(one.start, one.end, one.embedding, one.metadata) for one in a.prechunked] == [
        (0, 1, (0.5, 1.0), {"by": "Ada", "page": 2}),
        (3, 4, (), {}),
    ]
    assert [(one.start, one.end, one.embedding) for one in b.prechunked] == [(0, 6, (1.0, 0.0))]
    assert (c.prechunked, d.prechunked) == ((), ())
    assert b.metadata == {}
    (line,) = documents_of([{"id": "b", "text": "Whole.", "embedding": [1, 0]}])
    assert line.prechunked == b.prechunked


FINE = {"id": ["a", "b", "c"], "text": ["x", "y", "z"]}


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ({"id": ["a", None, "c"]}, "has no id"),
        ({"id": ["a", " ", "c"]}, "has an id that isn't"),
        ({"id": [[1], [2], [3]]}, "has an id that isn't"),
        ({"text": ["x", None, "z"]}, "has no text"),
        ({"text": [1, 2, 3]}, "has a text that isn't a string"),
        ({"text": [b"x", b"\xff\xfe", b"z"]}, "has a value in the column `text` that can't be read"),
        ({"metadata": [None, "{", None]}, "isn't JSON"),
        ({"metadata": [None, "[1]", None]}, "has metadata that isn't an object"),
        ({"metadata": [None, "[" * 300 + "]" * 300, None]}, "is nested too deeply"),
        ({"embedding": [None, ["a"], None]}, "has an embedding that isn't a list of numbers"),
        ({"embedding": [None, [1.0, None], None]}, "has an embedding that isn't a list of numbers"),
        ({"chunks": [None, [{"text": "x"}], None]}, "has both a text and chunks"),
        ({"at": pa.array([0, 2**60, 0], pa.timestamp("s"))}, "has a value in the column `at` that can't be read"),
        ({"id": ["a", "x" * 1001, "c"]}, "has an id of 1,001 characters"),
    ],
)
def test_a_bad_row_is_an_error_that_names_it_before_anything_is_read(
    tmp_path: Path, columns: Columns, problem: str
) -> None:
    path = table(tmp_path, {**FINE, **columns})
    first = "row 1" if columns.get("id") == [[1], [2], [3]] or columns.get("text") == [1, 2, 3] else "row 2"

    with pytest.raises(SourceError, match=problem) as caught:
        read([path])
    assert f"{path}, {first} " in caught.value.message or "holds no documents (row 1" in caught.value.message
    assert caught.value.fix


def test_a_bad_row_in_a_folder_is_left_out_and_the_others_are_read(tmp_path: Path) -> None:
    path = table(tmp_path, {"id": ["a", "b", "a", "c"], "text": ["x", None, "y", "z"]}, row_group_size=3)
    (tmp_path / "lines.jsonl").write_text('{"id": "a", "text": "first"}\n')

    found = list(read([str(tmp_path)]))

    assert [(one.key, one.text) for one in found if isinstance(one, Document)] == [("a", "first"), ("c", "z")]
    assert [one for one in found if isinstance(one, Skipped)] == [
        Skipped(f"{path}, row 1", "gives the id 'a' again"),
        Skipped(f"{path}, row 2", "has no text"),
        Skipped(f"{path}, row 3", "gives the id 'a' again"),
    ]
    with pytest.raises(SourceError, match="'a' on row 1 and again on row 3"):
        read([table(tmp_path, {"id": ["a", "b", "a"], "text": ["x", "y", "y"]})])


@pytest.mark.parametrize("missing", ["id", "text"])
def test_a_table_of_something_else_names_its_columns_and_the_fix(tmp_path: Path, missing: str) -> None:
    renamed = {"content" if name == missing else name: values for name, values in FINE.items()}
    path = table(tmp_path, renamed)

    with pytest.raises(SourceError, match=f"has no column `{missing}`: its columns are .*content") as caught:
        read([path])
    assert f"df.rename(columns={{...: {missing!r}}})" in caught.value.fix
    (skipped,) = read([str(tmp_path)])
    assert isinstance(skipped, Skipped)


def test_folders_of_partitions_are_columns(tmp_path: Path) -> None:
    table(tmp_path, {"id": ["a"], "text": ["x"]}, "t/year=2024/month=05/part-0.parquet")
    table(tmp_path, {"id": ["b"], "text": ["x"], "month": [7]}, "t/year=2023/month=06/part-0.parquet")
    named = table(
        tmp_path, {"id": ["c"], "text": ["x"]}, "t/year=__HIVE_DEFAULT_PARTITION__/place=S%C3%BCd%2F1/p.parquet"
    )

    found = {one.key: one.metadata for one in documents(str(tmp_path / "t"))}

    assert found == {"a": {"year": 2024, "month": 5}, "b": {"year": 2023, "month": 7}, "c": {"place": "Süd/1"}}
    assert documents(named)[0].metadata == {"place": "Süd/1"}
    assert {one.key for one in documents(str(tmp_path / "t" / "**" / "part-*.parquet"))} == {"a", "b"}


def test_a_folder_of_spark_is_read_strictly(tmp_path: Path) -> None:
    table(tmp_path, FINE, "t.parquet/part-00000.snappy.parquet")
    for marker in ("_SUCCESS", "_metadata", ".part-00000.snappy.parquet.crc"):
        (tmp_path / "t.parquet" / marker).write_bytes(b"")

    assert [one.text for one in read([str(tmp_path)], strict=True) if isinstance(one, Document)] == FINE["text"]


def test_a_damaged_table_takes_no_ids_from_a_whole_one(tmp_path: Path) -> None:
    columns = {"id": [*range(3000)], "text": [str(number) * 9 for number in range(3000)]}
    path = Path(table(tmp_path, columns, "a.parquet", row_group_size=1000, compression="none"))
    table(tmp_path, columns, "b.parquet")
    data = path.read_bytes()
    page = pq.read_metadata(path).row_group(2).column(1)
    at = page.dictionary_page_offset
    path.write_bytes(data[:at] + b"\xff" * 50 + data[at + 50 :])

    found = list(read([str(tmp_path)]))

    assert [one.source for one in found if isinstance(one, Skipped)] == [str(path)]
    assert len([one for one in found if isinstance(one, Document)]) == 3000


def test_an_empty_table_and_an_empty_file_are_told(tmp_path: Path) -> None:
    (tmp_path / "nothing.parquet").write_bytes(b"")
    for path in (table(tmp_path, {"id": [], "text": []}), str(tmp_path / "nothing.parquet")):
        with pytest.raises(SourceError, match=r"parquet is empty"):
            read([path])


def test_a_row_over_the_limit_is_named(tmp_path: Path) -> None:
    path = table(tmp_path, {"id": ["a", "b"], "text": ["x", "y" * 2000]})

    with pytest.raises(SourceError, match=r"row 2 is longer than 1,000 characters"):
        read([path], limits=Limits(bytes_read=1000))


def test_bytes_of_a_table_are_its_documents(tmp_path: Path) -> None:
    path = Path(table(tmp_path, {"id": ["a", None], "text": ["x", "y"]}))

    found = list(documents_of_files({"t/table.parquet": path.read_bytes(), "no.parquet": b"PAR1"}))

    assert isinstance(found[0], Document)
    assert (found[0].key, found[0].path) == ("a", "")
    assert found[1] == Skipped("t/table.parquet, row 2", "has no id")
    assert "isn't well-formed Parquet" in str(found[2])


def test_any_range_of_row_groups_can_be_read_alone(tmp_path: Path) -> None:
    path = Path(table(tmp_path, {"id": [*range(10)], "text": ["x"] * 10}, row_group_size=3))

    with ParserProcess() as process:
        assert process.row_counts(path, Limits()) == [3, 3, 3, 1]
        found = [
            [(row.number, one.key) for row, one in rows.documents(path, Limits(), process, groups)]  # type: ignore[union-attr]
            for groups in ((0, 1), (1, 3), (3, None), (4, None))
        ]
    assert found == [
        [(1, "0"), (2, "1"), (3, "2")],
        [(number + 1, str(number)) for number in range(3, 9)],
        [(10, "9")],
        [],
    ]


def test_a_reading_goes_on_where_it_was_after_other_requests_to_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "_MOST_ROWS", 4)
    paths = [
        Path(table(tmp_path, {"id": [*range(23)], "text": [name] * 23}, f"{name}.parquet", row_group_size=7))
        for name in ("a", "b")
    ]

    with ParserProcess() as process:
        readings = [rows.documents(path, Limits(), process) for path in paths]
        found = [(one.key, one.text) for pair in zip(*readings, strict=True) for _, one in pair]
    assert found == [(str(number), name) for number in range(23) for name in ("a", "b")]


def json_values() -> st.SearchStrategy[Any]:
    leaves = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=4)
    return st.dictionaries(
        st.text(max_size=3),
        st.recursive(leaves, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner)),
        max_size=3,
    )


TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)


@settings(max_examples=30, deadline=None)
@given(given=st.lists(st.tuples(TEXTS, st.none() | TEXTS, json_values()), min_size=1, max_size=6))
def test_a_table_is_read_as_its_rows_as_lines_are(
    tmp_path_factory: pytest.TempPathFactory, given: Sequence[tuple[str, str | None, Mapping[str, Any]]]
) -> None:
    folder = tmp_path_factory.mktemp("same")
    objects = [
        {"id": f"{place}", "text": text, "title": title, "metadata": metadata}
        for place, (text, title, metadata) in enumerate(given)
    ]
    as_text = [json.dumps(one["metadata"]) for one in objects]
    path = table(
        folder, {**{key: [one[key] for one in objects] for key in ("id", "text", "title")}, "metadata": as_text}
    )
    lines = folder / "table.jsonl"
    lines.write_text("".join(json.dumps(one) + "\n" for one in objects))

    found = documents(path)

    assert [(one.key, one.title, one.text, one.blocks, one.metadata) for one in found] == [
        (one.key, one.title, one.text, one.blocks, one.metadata) for one in documents(str(lines))
    ]
    shutil.rmtree(folder)


@pytest.mark.slow
@pytest.mark.usefixtures("there")
@pytest.mark.parametrize("kind", TABLES)
def test_a_hostile_table_is_read_or_refused_within_its_limits(tmp_path: Path, kind: str) -> None:
    (tmp_path / "a.parquet").write_bytes(TABLES[kind]())
    table(tmp_path, FINE, "b.parquet")
    begun = time.monotonic()

    found = list(read([str(tmp_path)], limits=SMALL))

    assert time.monotonic() - begun < SMALL.seconds + 9
    assert any(isinstance(one, Skipped) for one in found)
    assert [one.text for one in found if isinstance(one, Document)][-3:] == FINE["text"]


@pytest.mark.usefixtures("there")
def test_a_large_table_is_read_in_pieces(tmp_path: Path) -> None:
    path = tmp_path / "large.parquet"
    chance = random.Random(7)  # noqa: S311
    texts = [chance.randbytes(50_000).hex() for _ in range(1_000)]
    table(tmp_path, {"id": [*range(1_000)], "text": texts}, path.name, compression="none", write_batch_size=10)

    with ParserProcess() as process:
        process.row_counts(path, SMALL)  # the library itself takes more
        wanted = parquet.Rows(path, replace(SMALL, bytes_of_memory=60 * MEGABYTE))
        sizes = []
        while True:
            found, is_end = process.rows(wanted)
            sizes.append(len(found))
            wanted = replace(wanted, first=wanted.first + len(found))
            if is_end:
                break

    assert path.stat().st_size > 100 * MEGABYTE
    assert (sum(sizes), max(sizes)) == (1_000, 20)


@given(
    st.lists(st.none() | st.lists(st.floats(width=32), max_size=3), min_size=1, max_size=6),
    st.sampled_from([pa.list_(pa.float32()), pa.large_list(pa.float64())]),
    st.integers(0, 5),
    st.booleans(),
)
def test_vectors_come_as_they_are_written_wherever_a_batch_begins(
    vectors: list[list[float] | None], kind: pa.DataType, start: int, nulls: bool
) -> None:
    column = pa.array(vectors, kind)
    batch = pa.RecordBatch.from_arrays([column], names=["embedding"]).slice(start)

    found = [parquet.row_value(json.loads(str(text))) for text in parquet._texts(batch, {"year": 1}, nulls=nulls)]

    expected = [{"year": 1, **({"embedding": one} if nulls or one is not None else {})} for one in vectors[start:]]
    assert repr(found) == repr(expected)  # equal and of one type; nan isn't equal to itself
