"""Write and read a corpus as Parquet: a folder with a table for each kind of part.

Metadata, counts and what describes the corpus are texts of JSON, since their names are any.
"""

import json
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.db.client import batches
from pipeline.edges import EDGES, EdgeKind
from pipeline.errors import SourceError
from pipeline.files import DEFAULT_LIMITS, Line, parse_json
from pipeline.ingest.sources.parquet import Rows
from pipeline.ingest.sources.parser_process import ParserProcess
from pipeline.ingest.sources.rows import table_rows
from pipeline.records import METADATA, metadata_of
from pipeline.transfer.check import GUARD, checked
from pipeline.transfer.formats import TABLES, Part

_BATCH = 5_000  # rows of a row group; chosen by hand, not measured

_LIMITS = replace(DEFAULT_LIMITS, bytes_unpacked=2**63)
"""Edges of a long document are packed to a hundredth of what they are as JSON, and less."""

_COLUMNS = {
    "corpus": [(pa.string(), "head")],
    "document": [(pa.string(), "key title path modified original hash text_hash metadata")],
    "chunk": [
        (pa.string(), "document text title heading embedded metadata"),
        (pa.int64(), "ordinal start end line_start line_end tokens"),
        (pa.list_(pa.string()), "links link_relations link_contexts"),
        (pa.list_(pa.float32()), "embedding"),
    ],
    "entity": [(pa.string(), "key name")],
    "counts": [(pa.string(), "kind counts"), (pa.int64(), "shard")],
    "edge": [
        (pa.string(), "kind source_document target_document target_entity context"),
        (pa.int64(), "source_ordinal target_ordinal count position"),
        (pa.float64(), "score"),
        (pa.list_(pa.string()), "relations"),
        (pa.bool_(), "about mutual"),
    ],
}
_SCHEMAS = {
    kind: pa.schema([(name, type_) for type_, names in columns for name in names.split()])
    for kind, columns in _COLUMNS.items()
}


def write_parquet(parts: Iterable[Part], path: Path) -> None:
    """Write ``parts`` as tables into the new folder ``path``, in batches of bounded size."""
    path.mkdir()
    with ExitStack() as stack:
        writers = {
            kind: stack.enter_context(pq.ParquetWriter(path / f"{TABLES[kind]}.parquet", schema))
            for kind, schema in _SCHEMAS.items()
        }
        # The parts of a kind follow each other, so batches are full but for the last of each.
        known = (part for part in parts if part.kind in _SCHEMAS)
        for kind, group in groupby(known, key=lambda part: part.kind):
            for rows in batches(map(_row, group), _BATCH):
                writers[kind].write_table(pa.Table.from_pylist(rows, schema=_SCHEMAS[kind]))


def _row(part: Part) -> dict[str, Any]:
    value = part.value
    match part.kind:
        case "corpus":
            return {"head": _json(value)}
        case "document" | "chunk":
            return {**value, "metadata": _json(metadata_of(value))}
        case "counts":
            return {**value, "counts": _json(value["counts"])}
        case "edge":
            return _edge_row(value)
    return value


def _edge_row(value: dict[str, Any]) -> dict[str, Any]:
    source_document, source_ordinal = value["source"]
    target = value["target"]
    if isinstance(target, list):
        ends = {"target_document": target[0], "target_ordinal": target[1]}
    else:
        ends = {f"target_{EDGES[EdgeKind(value['kind'])].target}": target}
    return {**value, "source_document": source_document, "source_ordinal": source_ordinal, **ends}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def read_parquet(path: Path) -> Iterator[Part]:
    """Yield the parts of a corpus that :func:`write_parquet` wrote into the folder ``path``.

    Raises SourceError naming the table and the row that is no part of a corpus, a table that is missing or can't be
    read, and an export that isn't whole.
    """
    for name in TABLES.values():
        if not (path / f"{name}.parquet").is_file():
            raise SourceError(
                f"{path} has no {name}.parquet, so it is no whole export of a corpus.",
                "Export it again.",
            )
    with ParserProcess() as process:
        yield from checked(path, _values(path, process))


def _values(path: Path, process: ParserProcess) -> Iterator[tuple[str, Any, Line]]:
    for kind, name in TABLES.items():
        file = path / f"{name}.parquet"
        columns = tuple(_SCHEMAS[kind].names)
        with GUARD.naming(file):
            for line in table_rows(Rows(file, _LIMITS, columns=columns), GUARD, process):
                yield kind, _value(kind, line.object(), line), line


def _value(kind: str, row: dict[str, Any], line: Line) -> Any:
    """Return what :func:`_row` made a row of, or what the check refuses."""
    match kind:
        case "corpus":
            return _parsed(row, "head", line)
        case "document" | "chunk":
            metadata = _parsed(row, "metadata", line)
            row.pop("metadata", None)
            return row | {METADATA + name: field for name, field in metadata.items()}
        case "counts":
            return {**row, "counts": _parsed(row, "counts", line)}
        case "edge":
            return _edge(row)
    return row


def _parsed(row: dict[str, Any], column: str, line: Line) -> dict[str, Any]:
    with GUARD.naming(line.place):
        value = parse_json(str(row.get(column)), GUARD)
    if not isinstance(value, dict):
        raise line.fault(f"has in the column `{column}` no JSON object")
    return value


def _edge(row: dict[str, Any]) -> dict[str, Any]:
    source = [row.pop("source_document", None), row.pop("source_ordinal", None)]
    document, ordinal, entity = (row.pop(f"target_{end}", None) for end in ("document", "ordinal", "entity"))
    target = entity if document is None else document if ordinal is None else [document, ordinal]
    return {**row, "source": source, "target": target}
