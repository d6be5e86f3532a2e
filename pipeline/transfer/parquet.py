"""Write a corpus as Parquet: a folder with one table each for documents, chunks, entities and edges."""

import json
from collections.abc import Iterable
from contextlib import ExitStack
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.db.client import batches
from pipeline.edges import EDGES, EdgeKind
from pipeline.records import metadata_of
from pipeline.transfer.formats import Part

_BATCH = 5_000  # rows of a row group; chosen by hand, not measured

_COLUMNS = {
    "document": [(pa.string(), "key title path hash metadata")],
    "chunk": [
        (pa.string(), "document text title heading embedded metadata"),
        (pa.int64(), "ordinal start end line_start line_end tokens"),
        (pa.list_(pa.string()), "links link_relations link_contexts"),
        (pa.list_(pa.float32()), "embedding"),
    ],
    "entity": [(pa.string(), "key name")],
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
_TABLES = {"document": "documents", "chunk": "chunks", "entity": "entities", "edge": "edges"}


def write_parquet(parts: Iterable[Part], path: Path) -> None:
    """Write ``parts`` as tables into the new folder ``path``, in batches of bounded size."""
    path.mkdir()
    with ExitStack() as stack:
        writers = {
            kind: stack.enter_context(pq.ParquetWriter(path / f"{_TABLES[kind]}.parquet", schema))
            for kind, schema in _SCHEMAS.items()
        }
        # The parts of a kind follow each other, so batches are full but for the last of each.
        known = (part for part in parts if part.kind in _SCHEMAS)
        for kind, group in groupby(known, key=lambda part: part.kind):
            for rows in batches(map(_row, group), _BATCH):
                writers[kind].write_table(pa.Table.from_pylist(rows, schema=_SCHEMAS[kind]))


def _row(part: Part) -> dict[str, Any]:
    value = part.value
    if part.kind in ("document", "chunk"):
        return {**value, "metadata": json.dumps(metadata_of(value), ensure_ascii=False, sort_keys=True)}
    if part.kind != "edge":
        return value
    source_document, source_ordinal = value["source"]
    target = value["target"]
    if isinstance(target, list):
        ends = {"target_document": target[0], "target_ordinal": target[1]}
    else:
        ends = {f"target_{EDGES[EdgeKind(value['kind'])].target}": target}
    return {**value, "source_document": source_document, "source_ordinal": source_ordinal, **ends}
