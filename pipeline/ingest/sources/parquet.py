"""Parquet tables as JSON, a row a text, for the reader of rows; called in the parser's process.

What JSON has no type for is mapped: times and dates to ISO 8601, durations to seconds, maps to objects, decimals to
numbers where a float writes them in the same digits, else to texts. Columns of vectors come as their bytes, which takes
a tenth of the time. Bytes are text if they are UTF-8, short ones
otherwise hexadecimal; of long ones, such as images, only the number is kept. Integers in INT96, as Spark wrote times,
are times. Folders ``name=value`` right above the file are columns, as in Hive.
"""

import base64
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date, time, timedelta
from decimal import Decimal
from itertools import takewhile
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import unquote

import numpy as np

from pipeline.files import Limits, Unreadable
from pipeline.files.guard import open_file, unopenable
from pipeline.ingest.sources.source import parser_errors

_ID, _TEXT = frozenset(("id", "_id")), frozenset(("text", "chunks"))
"""Columns of which a table of documents has one each."""

_ANSWER = 2_000_000
"""Characters after which an answer ends, and bytes of a batch of rows that it is read by; chosen by hand."""

_MOST_ROWS = 1_000  # of a batch; chosen by hand
_BUFFERS = 1 << 26, 1 << 20
"""Bytes read at a time, instead of a whole row group: of all columns, and at most of one. Chosen by hand."""

_LONGEST_BYTES = 1_000  # that are kept as hexadecimal: a hash, a UUID; chosen by hand
_ROWS_A_BYTE = 10
"""Rows for a byte of the file beyond which it holds no documents, each with an id and a text; chosen by hand."""

_INDEX = re.compile(r"__index_level_\d+__")  # the numbers of rows, as pandas writes them
_INTEGER = re.compile(r"-?\d{1,18}")
_NO_PARTITION = "__HIVE_DEFAULT_PARTITION__"

RowText = str | tuple[str, str]
"""A row as JSON, or what is wrong with it and the fix: see :func:`row_value`."""


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a table that are wanted: those of the row groups ``[start:stop]``, from row ``first`` of the file on.

    Rows and row groups count from 0; without ``stop`` all groups are wanted. ``columns`` are those that the table must
    have, and null ones are left out of its rows; without any, it is a table of documents.
    """

    path: Path
    limits: Limits
    start: int = 0
    stop: int | None = None
    first: int = 0
    columns: tuple[str, ...] = ()


_begun: dict[Rows, Iterator[RowText]] = {}
"""The rows that are read next, if the table is read on: at most one."""


def next_rows(wanted: Rows) -> tuple[list[RowText], bool]:
    """Return the first of the rows that are wanted, and whether they are the last. Raises Unreadable."""
    rows = _begun.pop(wanted, None) or _rows(wanted)
    _begun.clear()
    taken: list[RowText] = []
    size = 0
    with parser_errors("Parquet"):
        for row in rows:
            taken.append(row)
            size += len(row)
            if size > _ANSWER or len(taken) == _MOST_ROWS:
                _begun[replace(wanted, first=wanted.first + len(taken))] = rows
                return taken, False
    return taken, True


def row_value(decoded: Any) -> Any:
    """Return the object that a row's JSON is, decoded: it comes alone, or beside the bytes of its vectors by column."""
    if not isinstance(decoded, list):
        return decoded
    row, packed = decoded
    return row | {name: np.frombuffer(base64.b64decode(data), kind).tolist() for name, (kind, data) in packed.items()}


def row_counts(wanted: Rows) -> list[int]:
    """Return the number of rows of each row group of a table. Raises Unreadable."""
    with parser_errors("Parquet"), _opened(wanted) as table:
        return [rows for rows, _ in _groups(table)]


@contextmanager
def _opened(wanted: Rows) -> Iterator[Any]:
    """Yield the open table; its columns are read in pieces, so that memory holds a batch, never a row group."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    pa.set_memory_pool(pa.system_memory_pool())  # others reserve address space, which is limited here
    try:
        file = open_file(wanted.path, wanted.limits)
    except (OSError, ValueError) as error:
        raise unopenable(error) from None
    with file:
        size = os.fstat(file.fileno()).st_size
        if not size:
            raise Unreadable("is empty", "Leave it out, or write a table into it.")
        footer = pq.read_metadata(file)
        buffer = max(1 << 12, min(_BUFFERS[1], _BUFFERS[0] // max(footer.num_columns, 1)))
        table = pq.ParquetFile(
            file, metadata=footer, pre_buffer=False, buffer_size=buffer, coerce_int96_timestamp_unit="us"
        )
        if table.metadata.num_rows > size * _ROWS_A_BYTE:
            raise Unreadable(f"claims {table.metadata.num_rows:,} rows in {size:,} bytes", "Leave it out.")
        yield table


def _groups(table: Any) -> list[tuple[int, int]]:
    """Return the number of rows and of bytes, unpacked, of each row group."""
    groups = map(table.metadata.row_group, range(table.metadata.num_row_groups))
    return [(group.num_rows, group.total_byte_size) for group in groups]


def _rows(wanted: Rows) -> Iterator[RowText]:
    with _opened(wanted) as table:
        yield from _rows_of(table, wanted)


def _rows_of(table: Any, wanted: Rows) -> Iterator[RowText]:
    names = table.schema_arrow.names
    if missing := next((name for name in wanted.columns if name not in names), ""):
        raise Unreadable(f"has no column `{missing}`", "Export it again.")
    partitions = {} if wanted.columns else partitions_of(wanted.path)
    if not wanted.columns:
        _check_columns([*names, *partitions])
    end = 0
    for at, (count, size) in enumerate(_groups(table)):
        begin, end = end, end + count
        if at < wanted.start or end <= wanted.first or (wanted.stop is not None and at >= wanted.stop):
            continue
        skipped = max(wanted.first - begin, 0)
        rows = max(1, min(_MOST_ROWS, _ANSWER * count // max(size, 1)))
        for batch in table.iter_batches(rows, row_groups=[at], use_threads=False):
            if skipped < batch.num_rows:
                yield from _texts(batch.slice(skipped), partitions, nulls=not wanted.columns)
            skipped = max(skipped - batch.num_rows, 0)


def _check_columns(names: Sequence[str]) -> None:
    missing = "text" if _TEXT.isdisjoint(names) else "id" if _ID.isdisjoint(names) else ""
    if missing:
        shown = ", ".join(names[:20]) + (f" and {len(names) - 20:,} more" if len(names) > 20 else "")
        raise Unreadable(
            f"has no column `{missing}`: its columns are {shown or 'none'}",
            f"Rename the one that is meant, in pandas by df.rename(columns={{...: {missing!r}}}); a table has the"
            " columns id, text (or chunks) and, as you like, title, metadata and others.",
        )


def partitions_of(path: Path) -> dict[str, Any]:
    """Return the columns that the folders ``name=value`` right above a file are; whole numbers are numbers."""
    folders = PurePath(os.path.abspath(path)).parts[:-1]  # noqa: PTH100 - links stay as they are named
    pairs = [part.partition("=") for part in takewhile(lambda part: "=" in part[1:], reversed(folders))]
    found = {unquote(name): unquote(value) for name, _, value in reversed(pairs)}
    return {name: _partition(value) for name, value in found.items() if value != _NO_PARTITION}


def _partition(value: str) -> int | str:
    return int(value) if _INTEGER.fullmatch(value) else value


class _Unread:
    """A value that can't be read."""


_UNREAD = _Unread()


def _texts(batch: Any, partitions: dict[str, Any], *, nulls: bool) -> Iterator[RowText]:
    given = {
        name: column
        for name, column in zip(batch.schema.names, batch.columns, strict=True)
        if not _INDEX.fullmatch(name)
    }
    packed = {name: vectors for name, column in given.items() if (vectors := _packed(column)) is not None}
    columns = {name: _values(name, column) for name, column in given.items() if name not in packed}
    for at in range(batch.num_rows):
        row = {name: values[at] for name, values in columns.items() if nulls or values[at] is not None}
        if bad := next((name for name, value in row.items() if value is _UNREAD), None):
            yield f"has a value in the column `{bad}` that can't be read", "Write the column as text."
            continue
        found = {name: vector for name, values in packed.items() if (vector := values[at])}
        if nulls:
            row.update((name, None) for name in packed.keys() - found.keys())
        value: Mapping[str, Any] = {**partitions, **row}
        yield json.dumps((value, found) if found else value, ensure_ascii=False, default=_plain)


def _packed(column: Any) -> list[tuple[str, str] | None] | None:
    """Return the vectors of a column, None for null, each as its type and its bytes in base64.

    None if it is no column of lists of floats, or a list holds a null or a number that isn't finite.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if not (pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)):
        return None
    if not (pa.types.is_float32(kind.value_type) or pa.types.is_float64(kind.value_type)):
        return None
    flat = column.flatten()  # those of null lists are left out
    if flat.null_count:
        return None
    numbers = flat.to_numpy(zero_copy_only=False)
    if not np.isfinite(numbers).all():
        return None
    numbers = numbers.astype(numbers.dtype.newbyteorder("<"), copy=False)
    found: list[tuple[str, str] | None] = []
    end = 0
    for length in pc.list_value_length(column).to_pylist():
        begin, end = end, end + (length or 0)
        data = base64.b64encode(numbers[begin:end].tobytes()).decode()
        found.append(None if length is None else (numbers.dtype.str, data))
    return found


def _values(name: str, column: Any) -> list[Any]:
    """Return the values of a column, each for JSON; one that can't be read is :data:`_UNREAD`."""
    import pyarrow as pa

    kind = column.type
    if getattr(kind, "unit", "") == "ns":  # finer than Python's times
        column = column.cast(pa.duration("us") if pa.types.is_duration(kind) else _microseconds(kind), safe=False)
    try:
        values = column.to_pylist()
    # broad: a time may be out of Python's range, a zone unknown, a text no UTF-8
    except Exception:
        values = [_value(scalar) for scalar in column]
    if pa.types.is_map(kind):
        values = [value if value is None else value or {} for value in values]
    if pa.types.is_fixed_size_binary(kind):
        return [value.hex() if isinstance(value, bytes) else value for value in values]
    if name in ("id", "_id", "title", "text"):
        return [_decoded(value) for value in values]
    return [_plain(value) for value in values] if _is_converted(kind) else values


def _microseconds(kind: Any) -> Any:
    import pyarrow as pa

    return pa.time64("us") if pa.types.is_time(kind) else pa.timestamp("us", kind.tz)


def _value(scalar: Any) -> Any:
    try:
        return scalar.as_py()
    # broad: as above
    except Exception:
        return _UNREAD


def _is_converted(kind: Any) -> bool:
    """Return whether values of a type have to be converted before json writes them: they may hold maps."""
    import pyarrow as pa

    return pa.types.is_map(kind) or any(_is_converted(kind.field(at).type) for at in range(kind.num_fields))


def _decoded(value: Any) -> Any:
    """Return the text that bytes are, as writers without types for texts leave them."""
    if not isinstance(value, bytes):
        return value
    try:
        return value.decode()
    except UnicodeDecodeError:
        return _UNREAD


def _plain(value: Any) -> Any:
    """Return a value of Arrow as JSON has it."""
    match value:
        case dict():
            return {str(name): _plain(inner) for name, inner in value.items()}
        case [(_, _), *_] if isinstance(value[0], tuple):  # a map
            return {str(_plain(name)): _plain(inner) for name, inner in value}
        case list():
            return value if value and isinstance(value[0], float) else [_plain(inner) for inner in value]
        case date() | time():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case Decimal():
            return _number(value)
        case bytes():
            return _text_of(value)
        case None | bool() | int() | float() | str() | _Unread():
            return value
    return value.item() if hasattr(value, "item") else str(value)


def _number(value: Decimal) -> int | float | str:
    if value == value.to_integral_value():
        return int(value)
    return float(value) if Decimal(repr(float(value))) == value else str(value)


def _text_of(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.hex() if len(value) <= _LONGEST_BYTES else f"{len(value):,} bytes"
