"""JSON Lines: a document per line, ``{"id", "title", "text", "metadata"}``; also BEIR's ``_id``, and ``chunks``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.errors import SourceError
from pipeline.ingest.sources.decode import UTF_16_MARKS, well_formed
from pipeline.ingest.sources.metadata import flat, scalar_title
from pipeline.ingest.sources.source import Unreadable, unopenable
from pipeline.records import Document, SuppliedChunk
from pipeline.text.paragraphs import paragraphs

_LINE_FORMAT = (
    'A line is {"id": ..., "title": ..., "text": ..., "metadata": {...}}; only id and text are needed. Instead of text'
    ' it may have "chunks": [{"text": ..., "embedding": [...]}], with embeddings or without.'
)
_BEIR_ID = "_id"
"""Field of the id in BEIR's corpora, read if there is no ``id``."""

_FIELDS = frozenset(("id", _BEIR_ID, "title", "text", "metadata", "chunks"))
_SEPARATOR = "\n\n"
_LONGEST_ID = 1000
"""Limit in characters: an entry of the graph's index can have 8 kB."""

_NOT_UTF_8 = re.compile("[\udc80-\udcff]")


class Row(NamedTuple):
    """A line's number, counted from 1, the id of its object, and the object."""

    line: int
    id: str
    value: Mapping[str, Any]


def rows(path: Path, max_bytes: int) -> Iterator[Row]:
    """Yield the rows of ``path`` in order, read one at a time; skip blank lines.

    Raises Unreadable if the file can't be opened, or if its first object is no document, as in .jsonl files of other
    content. Raises SourceError, naming the file and the line, if a line is malformed, lacks an id or a text, or is
    longer than ``max_bytes``.
    """
    seen = False
    for number, line in enumerate(_lines(path, max_bytes), 1):
        if not line or line.isspace():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise _error(path, number, f"isn't JSON: {_problem(error)}") from None
        missing = _missing(value) if isinstance(value, dict) else []
        if missing and not seen:
            raise Unreadable(f"holds no documents (line {number} has no {missing[0]})", _LINE_FORMAT)
        seen = True
        yield row_of(path, number, value)


def row_of(path: Path, number: int, value: Any) -> Row:
    """Return the row that a decoded line is; raises SourceError, naming file and line, if it lacks an id."""
    return Row(number, _id(path, number, value), value)


def document(path: Path, row: Row) -> Document:
    """Return the document on ``row``; its unknown fields become metadata.

    The text may be empty; the title is empty if none is given. Raises SourceError, naming file and line.
    """
    text, supplied = _own_chunks(path, row) if row.value.get("chunks") is not None else (row.value.get("text"), ())
    metadata = row.value.get("metadata")
    if not isinstance(text, str):
        raise _error(path, row.line, "has no text" if text is None else "has a text that isn't a string")
    if not isinstance(metadata, Mapping | None):
        raise _error(path, row.line, "has metadata that isn't an object")
    fields: dict[object, object] = {name: value for name, value in row.value.items() if name not in _FIELDS}
    fields.update(metadata or {})
    text = well_formed(text)
    try:
        kept = flat(fields)
    except RecursionError:
        raise _error(path, row.line, "has metadata that is nested too deeply") from None
    title = scalar_title(row.value.get("title"))
    return Document(row.id, title, text, tuple(paragraphs(text)), metadata=kept, path=str(path), prechunked=supplied)


def _own_chunks(path: Path, row: Row) -> tuple[str, tuple[SuppliedChunk, ...]]:
    """Return the text of a row's own chunks, joined by empty lines, and the chunks with their offsets in it."""
    chunks = row.value["chunks"]
    if row.value.get("text") is not None:
        raise _error(path, row.line, "has both a text and chunks")
    if not isinstance(chunks, list) or not all(isinstance(chunk, dict) for chunk in chunks):
        raise _error(path, row.line, "has chunks that aren't a list of objects")
    supplied = []
    at = 0
    for chunk in chunks:
        text, embedding = chunk.get("text"), chunk.get("embedding")
        if not isinstance(text, str) or not text.strip():
            raise _error(path, row.line, "has a chunk without a text")
        if not isinstance(embedding, list | None) or not all(map(_is_number, embedding or ())):
            raise _error(path, row.line, "has a chunk with an embedding that isn't a list of numbers")
        supplied.append(SuppliedChunk(at, at + len(text), tuple(map(float, embedding or ()))))
        at += len(text) + len(_SEPARATOR)
    return _SEPARATOR.join(chunk["text"] for chunk in chunks), tuple(supplied)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _problem(error: ValueError | RecursionError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at column {error.colno}"
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)


def _missing(value: Mapping[str, Any]) -> list[str]:
    text = value.get("text") if value.get("chunks") is None else value["chunks"]
    required = {"id": value.get("id", value.get(_BEIR_ID)), "text": text}
    return [name for name, content in required.items() if content is None]


def _id(path: Path, number: int, value: object) -> str:
    if not isinstance(value, dict):
        raise _error(path, number, "isn't a JSON object")
    key = value.get("id", value.get(_BEIR_ID))
    if key is None:
        raise _error(path, number, "has no id")
    if isinstance(key, bool) or not isinstance(key, str | int | float) or not str(key).strip():
        raise _error(path, number, "has an id that isn't a word or a number")
    if len(str(key)) > _LONGEST_ID:
        raise _error(path, number, f"has an id of {len(str(key)):,} characters; {_LONGEST_ID:,} are the most")
    return well_formed(str(key))


def _lines(path: Path, max_bytes: int) -> Iterator[str]:
    """Yield the lines of ``path``, which is UTF-8 or, with a byte order mark, UTF-16."""
    number = 0
    try:
        with path.open("rb") as file:
            encoding = "utf-16" if file.read(2) in UTF_16_MARKS else "utf-8-sig"
        # surrogateescape keeps bad bytes, so that the error can name their line
        errors = "strict" if encoding == "utf-16" else "surrogateescape"
        with path.open(encoding=encoding, errors=errors, newline="\n") as lines:
            while line := lines.readline(max_bytes + 1):
                number += 1
                if len(line) > max_bytes:
                    raise _error(path, number, f"is longer than {max_bytes:,} characters")
                if not line.isascii() and _NOT_UTF_8.search(line):
                    raise _error(path, number, "isn't valid UTF-8")
                yield line
    except UnicodeDecodeError:
        raise _error(path, number + 1, "isn't valid UTF-16, or a line soon after it") from None
    except OSError as error:
        raise unopenable(error) from None


def _error(path: Path, number: int, problem: str) -> SourceError:
    return SourceError(f"{path}, line {number} {problem}", _LINE_FORMAT)
