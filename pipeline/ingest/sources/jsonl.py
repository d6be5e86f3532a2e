"""JSON Lines: a document a line, ``{"id", "title", "text", "metadata"}``; BEIR's ``_id`` and own ``chunks`` too."""

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
from pipeline.records import Document, GivenChunk
from pipeline.text.paragraphs import paragraphs

_FORM = (
    'A line is {"id": ..., "title": ..., "text": ..., "metadata": {...}}; only id and text are needed. Instead of text'
    ' it may have "chunks": [{"text": ..., "embedding": [...]}], with embeddings or without.'
)
_BEIR_ID = "_id"
"""What BEIR's corpora call the id; read where there is no other."""

_FIELDS = frozenset(("id", _BEIR_ID, "title", "text", "metadata", "chunks"))
_BETWEEN = "\n\n"
_LONGEST_ID = 1000
"""Characters; the graph's index takes no entry of more than 8 kB."""

_NOT_UTF_8 = re.compile("[\udc80-\udcff]")


class Row(NamedTuple):
    """The object on one line of a file, lines counted from 1, and its id."""

    line: int
    id: str
    value: Mapping[str, Any]


def rows(path: Path, max_bytes: int) -> Iterator[Row]:
    """Yield the rows of ``path`` in order, one at a time; blank lines are passed over.

    Raises Unreadable when the file can't be opened or its first object is no document, for .jsonl holds other
    things too; and SourceError, naming the file and the line, for a line that is malformed, lacks an id or a text,
    or is longer than ``max_bytes``.
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
            raise Unreadable(f"holds no documents (line {number} has no {missing[0]})", _FORM)
        seen = True
        yield Row(number, _id(path, number, value), value)


def document(path: Path, row: Row) -> Document:
    """Return the document on ``row``; fields that it has besides the four go into the metadata.

    Its text may be empty, and so is its title when none is given. Raises SourceError, naming file and line.
    """
    text, given = _own_chunks(path, row) if row.value.get("chunks") is not None else (row.value.get("text"), ())
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
    return Document(row.id, title, text, tuple(paragraphs(text)), metadata=kept, path=str(path), prechunked=given)


def _own_chunks(path: Path, row: Row) -> tuple[str, tuple[GivenChunk, ...]]:
    """Return the text that a row's own chunks make, joined by empty lines, and where each of them is in it."""
    chunks = row.value["chunks"]
    if row.value.get("text") is not None:
        raise _error(path, row.line, "has both a text and chunks")
    if not isinstance(chunks, list) or not all(isinstance(chunk, dict) for chunk in chunks):
        raise _error(path, row.line, "has chunks that aren't a list of objects")
    given = []
    at = 0
    for chunk in chunks:
        text, embedding = chunk.get("text"), chunk.get("embedding")
        if not isinstance(text, str) or not text.strip():
            raise _error(path, row.line, "has a chunk without a text")
        if not isinstance(embedding, list | None) or not all(map(_is_number, embedding or ())):
            raise _error(path, row.line, "has a chunk with an embedding that isn't a list of numbers")
        given.append(GivenChunk(at, at + len(text), tuple(map(float, embedding or ()))))
        at += len(text) + len(_BETWEEN)
    return _BETWEEN.join(chunk["text"] for chunk in chunks), tuple(given)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _problem(error: ValueError | RecursionError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at column {error.colno}"
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)


def _missing(value: Mapping[str, Any]) -> list[str]:
    text = value.get("text") if value.get("chunks") is None else value["chunks"]
    found = {"id": value.get("id", value.get(_BEIR_ID)), "text": text}
    return [name for name, one in found.items() if one is None]


def _id(path: Path, number: int, value: object) -> str:
    if not isinstance(value, dict):
        raise _error(path, number, "isn't a JSON object")
    found = value.get("id", value.get(_BEIR_ID))
    if found is None:
        raise _error(path, number, "has no id")
    if isinstance(found, bool) or not isinstance(found, str | int | float) or not str(found).strip():
        raise _error(path, number, "has an id that isn't a word or a number")
    if len(str(found)) > _LONGEST_ID:
        raise _error(path, number, f"has an id of {len(str(found)):,} characters; {_LONGEST_ID:,} are the most")
    return well_formed(str(found))


def _lines(path: Path, max_bytes: int) -> Iterator[str]:
    """Yield the lines of ``path``, UTF-8 or, with a byte order mark, UTF-16."""
    number = 0
    try:
        with path.open("rb") as file:
            encoding = "utf-16" if file.read(2) in UTF_16_MARKS else "utf-8-sig"
        # surrogateescape carries bad bytes as far as the line they are on, where they can be named
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
    return SourceError(f"{path}, line {number} {problem}", _FORM)
