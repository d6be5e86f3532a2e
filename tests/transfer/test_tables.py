"""An export in Parquet holds what one in JSON Lines does, and is checked as that is."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.errors import SourceError
from pipeline.ingest.sources import parquet as source
from pipeline.ingest.sources.metadata import flat
from pipeline.ingest.sources.parser_process import ParserProcess
from pipeline.records import as_properties
from pipeline.transfer.formats import Part
from pipeline.transfer.lines import write_lines
from pipeline.transfer.parquet import write_parquet
from pipeline.transfer.portable import exported

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)
COUNTS = st.integers(0, 2**63 - 1)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
SINGLES = st.floats(allow_nan=False, allow_infinity=False, width=32)
VALUES = TEXTS | st.booleans() | st.integers(-(2**63), 2**63 - 1) | NUMBERS
METADATA = st.dictionaries(TEXTS, VALUES | st.lists(TEXTS) | st.lists(COUNTS) | st.lists(NUMBERS), max_size=3).map(
    lambda given: as_properties(flat(given))
)
PLACES = st.tuples(TEXTS, COUNTS).map(list)

HEAD = {
    "format": 1,
    "schema": 6,
    "name": "it",
    "fingerprint": "m@1",
    "dimension": 3,
    "chunker": "c",
    "extractor": "e",
    "analyzer": "english",
    "links": {"a": 0.5, "b": True, "c": 3},
    "embeddings": True,
}


def records(kind: str, required: dict[str, Any], optional: dict[str, Any], metadata: bool = False) -> Any:
    fields = st.fixed_dictionaries(required, optional=optional)
    values = st.tuples(METADATA, fields).map(lambda pair: {**pair[0], **pair[1]}) if metadata else fields
    return st.lists(values.map(lambda value: Part(kind, value)), max_size=4)


def together(*groups: Sequence[Part]) -> list[Part]:
    parts = [part for group in groups for part in group]
    count = {kind: sum(part.kind == kind for part in parts) for kind in ("document", "chunk", "entity")}
    kinds = [part.value["kind"] for part in parts if part.kind == "edge"]
    sizes = {"documents": count["document"], "chunks": count["chunk"], "entities": count["entity"]}
    return [Part("corpus", {**HEAD, **sizes, "edges": {kind: kinds.count(kind) for kind in kinds}}), *parts]


NUMBERED = dict.fromkeys(("ordinal", "start", "end", "line_start", "line_end", "tokens"), COUNTS)
EVIDENCE = {
    "score": NUMBERS,
    "mutual": st.booleans(),
    "count": COUNTS,
    "position": COUNTS,
    "about": st.booleans(),
    "relations": st.lists(TEXTS, max_size=2),
    "context": TEXTS,
}


def edges(kinds: Sequence[str], target: Any) -> Any:
    return records("edge", {"kind": st.sampled_from(kinds), "source": PLACES, "target": target}, EVIDENCE)


CORPORA = st.builds(
    together,
    records(
        "document",
        {"key": TEXTS, "title": TEXTS},
        dict.fromkeys(("path", "hash", "modified", "original", "text_hash"), TEXTS),
        metadata=True,
    ),
    records(
        "chunk",
        {**dict.fromkeys(("document", "text", "title", "heading", "embedded"), TEXTS), **NUMBERED}
        | {"links": st.just(["a", "b"])},
        {
            "embedding": st.lists(SINGLES, min_size=1, max_size=3),
            "link_relations": st.lists(TEXTS, min_size=2, max_size=2),
            "link_contexts": st.lists(TEXTS, min_size=2, max_size=2),
        },
        metadata=True,
    ),
    records("entity", {"key": TEXTS, "name": TEXTS}, {}),
    records(
        "counts",
        {
            "kind": st.sampled_from(["casing", "aliases", "spellings"]),
            "shard": COUNTS,
            "counts": st.dictionaries(TEXTS, st.dictionaries(TEXTS, COUNTS, max_size=2), max_size=2),
        },
        {},
    ),
    edges(["SIMILAR", "CAPPED", "NEXT"], PLACES),
    edges(["MENTIONS", "REFERS_TO", "LINKS_TO"], TEXTS),
)


@pytest.fixture(autouse=True, scope="module")
def here() -> Any:
    """Read tables in this process: what the other one is for has tests of its own."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ParserProcess, "rows", lambda _, wanted: source.next_rows(wanted))
        yield


@settings(max_examples=40, deadline=None)
@given(parts=CORPORA)
def test_any_corpus_comes_back_as_it_was_from_either_format(
    tmp_path_factory: pytest.TempPathFactory, parts: list[Part]
) -> None:
    folder = tmp_path_factory.mktemp("export")
    write_parquet(parts, folder / "tables")
    write_lines(parts, folder / "corpus.jsonl")

    assert list(exported(folder / "tables")) == list(exported(folder / "corpus.jsonl")) == parts
    shutil.rmtree(folder)


def parts() -> list[Part]:
    chunk = dict.fromkeys(NUMBERED, 0) | dict.fromkeys(("document", "text", "title", "heading", "embedded"), "a")
    return together(
        [Part("document", {"key": "a", "title": "A", "hash": "h", "metadata.year": 1})],
        [Part("chunk", {**chunk, "ordinal": n, "links": [], "embedding": [1.0, 0.0, 0.0]}) for n in range(2)],
        [Part("entity", {"key": "e", "name": "E"})],
        [Part("counts", {"kind": "casing", "shard": 1, "counts": {"a": {"A": 1}}})],
        [
            Part("edge", {"kind": "NEXT", "source": ["a", 0], "target": ["a", 1]}),
            Part("edge", {"kind": "MENTIONS", "source": ["a", 0], "target": "e", "count": 1}),
        ],
    )


def tampered(table: str, change: Callable[[list[dict[str, Any]]], object]) -> Callable[[Path], None]:
    """Change the rows of a table, keeping its columns."""

    def spoil(folder: Path) -> None:
        path = folder / f"{table}.parquet"
        schema, rows = pq.read_schema(path), pq.read_table(path).to_pylist()
        change(rows)
        pq.write_table(pa.Table.from_pylist(rows, schema=schema), path)

    return spoil


def field(name: str, value: object) -> Callable[[list[dict[str, Any]]], object]:
    return lambda rows: rows[-1].update({name: value})


def without(table: str, column: str) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        path = folder / f"{table}.parquet"
        pq.write_table(pq.read_table(path).drop_columns([column]), path)

    return spoil


def added(folder: Path) -> None:
    path = folder / "chunks.parquet"
    pq.write_table(pq.read_table(path).append_column("until", [[5, 5]]), path)


def cut(folder: Path) -> None:
    path = folder / "chunks.parquet"
    path.write_bytes(path.read_bytes()[:-20])


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda folder: (folder / "counts.parquet").unlink(), "has no counts.parquet, so it is no whole export"),
        (lambda folder: (folder / "corpus.parquet").unlink(), "has no corpus.parquet, so it is no whole export"),
        (cut, r"chunks.parquet isn't well-formed Parquet"),
        (without("chunks", "embedding"), "chunks.parquet has no column `embedding`"),
        (without("edges", "target_entity"), "edges.parquet has no column `target_entity`"),
        (added, "chunks.parquet, row 1 has `until`, which is unknown"),
        (tampered("documents", list.clear), "ends early: of 1 documents it has 0"),
        (tampered("edges", list.pop), "ends early: of 1 edges MENTIONS it has 0"),
        (tampered("corpus", lambda rows: rows.append(rows[0])), "corpus.parquet, row 2 begins another corpus"),
        (tampered("corpus", field("head", "{")), "corpus.parquet, row 1 isn't JSON"),
        (tampered("corpus", field("head", json.dumps({**HEAD, "edges": {}, "dimension": 0}))), "has the `dimension` 0"),
        (tampered("documents", field("metadata", "[1]")), "row 1 has in the column `metadata` no JSON object"),
        (tampered("documents", field("metadata", '{"a": {"b": 1}}')), "more than metadata"),
        (tampered("documents", field("metadata", None)), "isn't JSON"),
        (tampered("documents", field("key", None)), "documents.parquet, row 1 has no `key`"),
        (tampered("chunks", field("ordinal", -1)), "chunks.parquet, row 2 has the `ordinal` -1"),
        (tampered("chunks", field("embedding", [float("nan")])), "chunks.parquet, row 2 holds NaN"),
        (tampered("counts", field("counts", '{"a": 3}')), "has the `counts.a` 3"),
        (tampered("edges", field("kind", "REMEMBERS")), "edges.parquet, row 2 has the `kind` 'REMEMBERS'"),
        (tampered("edges", field("source_ordinal", None)), "edges.parquet, row 2 has the `source.1` None"),
        (tampered("edges", field("target_entity", None)), "edges.parquet, row 2 has the `target"),
    ],
)
def test_tables_that_are_no_whole_export_are_refused_by_name(
    tmp_path: Path, spoil: Callable[[Path], object], said: str
) -> None:
    write_parquet(parts(), tmp_path / "tables")
    assert list(exported(tmp_path / "tables")) == parts()
    spoil(tmp_path / "tables")

    with pytest.raises(SourceError, match=said) as caught:
        list(exported(tmp_path / "tables"))
    assert str(tmp_path / "tables") in caught.value.message
    assert caught.value.fix
