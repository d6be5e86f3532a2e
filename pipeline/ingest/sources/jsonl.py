"""JSON Lines: a document per line, ``{"id", "title", "text", "metadata"}``; also BEIR's ``_id``, and ``chunks``."""

from collections.abc import Container, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.files import Guard, Limits, Line, Unreadable, lines, well_formed
from pipeline.files.guard import check_depth
from pipeline.ingest.sources.metadata import flat, scalar_title
from pipeline.records import Document, Metadata, SuppliedChunk
from pipeline.text.outline import paragraphs

GUARD = Guard(
    fix='A line is {"id": ..., "title": ..., "text": ..., "metadata": {...}}; only id and text are needed. Instead of'
    ' text it may have "chunks": [{"text": ..., "embedding": [...], "metadata": {...}}]; only text is needed there.',
    mend=True,
)
"""Documents are read as well as possible: what can't be stored is replaced."""

_BEIR_ID = "_id"
"""Field of the id in BEIR's corpora, read if there is no ``id``."""

_MOST_BEFORE = 100
"""Lines after which a file without a document is one of other content; chosen by hand."""

_FIELDS = frozenset(("id", _BEIR_ID, "title", "text", "metadata", "chunks"))
_CHUNK_FIELDS = frozenset(("text", "embedding", "metadata"))
_SEPARATOR = "\n\n"
_LONGEST_ID = 1000
"""Limit in characters: an entry of the graph's index can have 8 kB."""


class Row(NamedTuple):
    """A line, the id of its object, and the object."""

    line: Line
    id: str
    value: Mapping[str, Any]


class BadLine(NamedTuple):
    """A line that is no document: its place, ``file.jsonl, line 7``, and what is wrong with it."""

    place: str
    error: Unreadable


def documents(path: Path, limits: Limits) -> Iterator[tuple[int, Document] | BadLine]:
    """Yield the documents of ``path`` with their lines, in order and read one at a time, and the lines that are none.

    Blank lines count, but are left out. Raises Unreadable if the file can't be opened, and if its first objects are no
    documents, as in .jsonl files of other content.
    """
    before: list[BadLine] | None = []  # bad lines, until it is known what the file holds
    other = ""
    for line in lines(path, replace(GUARD, limits=limits, error=Unreadable)):
        found: tuple[int, Document] | BadLine
        try:
            value = line.json()
            if before is not None and not other and isinstance(value, dict) and (missing := _missing(value)):
                other = f"holds no documents (line {line.number} has no {missing[0]})"
            found = (line.number, document(row_of(line, value)))
        except Unreadable as error:
            found = BadLine(line.place, error)
        if before is not None and isinstance(found, BadLine) and len(before) < _MOST_BEFORE:
            before.append(found)
            continue
        if other and before is not None and isinstance(found, BadLine):
            raise Unreadable(other, GUARD.fix)
        yield from before or ()
        before = None
        yield found
    if before and other:
        raise Unreadable(other, GUARD.fix)
    yield from before or ()


def row_of(line: Line, value: Any) -> Row:
    """Return the row that a decoded line is; raises the guard's error if it lacks an id."""
    if not isinstance(value, dict):
        raise line.fault("isn't a JSON object")
    key = value.get("id", value.get(_BEIR_ID))
    if key is None:
        raise line.fault("has no id")
    if isinstance(key, bool) or not isinstance(key, str | int | float) or not str(key).strip():
        raise line.fault("has an id that isn't a word or a number")
    if len(str(key)) > _LONGEST_ID:
        raise line.fault(f"has an id of {len(str(key)):,} characters; {_LONGEST_ID:,} are the most")
    return Row(line, well_formed(str(key)), value)


def document(row: Row) -> Document:
    """Return the document on ``row``; unknown fields, its own and those of its chunks, become metadata.

    The text may be empty; the title is empty if none is given. Raises the guard's error.
    """
    text, supplied = _own_chunks(row) if row.value.get("chunks") is not None else (row.value.get("text"), ())
    if not isinstance(text, str):
        raise row.line.fault("has no text" if text is None else "has a text that isn't a string")
    metadata = _metadata(row.line, row.value, _FIELDS, "has metadata")
    text = well_formed(text)
    title, path = scalar_title(row.value.get("title")), str(row.line.path)
    return Document(row.id, title, text, tuple(paragraphs(text)), (), metadata, path, prechunked=supplied)


def _metadata(line: Line, value: Mapping[str, Any], fields: Container[str], what: str) -> Metadata:
    """Return the metadata of an object: what it has as such, and its fields that aren't among ``fields``."""
    given = value.get("metadata")
    if not isinstance(given, Mapping | None):
        raise line.fault(f"{what} that isn't an object")
    found: dict[object, object] = {name: content for name, content in value.items() if name not in fields}
    found.update(given or {})
    with line.guard.naming(line.place):
        check_depth(found, line.guard)  # an object that was given in memory may be of any depth
    return flat(found)


def _own_chunks(row: Row) -> tuple[str, tuple[SuppliedChunk, ...]]:
    """Return the text of a row's own chunks, joined by empty lines, and the chunks with their offsets in it."""
    chunks = row.value["chunks"]
    if row.value.get("text") is not None:
        raise row.line.fault("has both a text and chunks")
    if not isinstance(chunks, list) or not all(isinstance(chunk, dict) for chunk in chunks):
        raise row.line.fault("has chunks that aren't a list of objects")
    supplied = []
    at = 0
    for chunk in chunks:
        text, embedding = chunk.get("text"), chunk.get("embedding")
        if not isinstance(text, str) or not text.strip():
            raise row.line.fault("has a chunk without a text")
        numbers = isinstance(embedding, list | None) and all(
            isinstance(item, int | float) and not isinstance(item, bool) for item in embedding or ()
        )
        if not numbers:
            raise row.line.fault("has a chunk with an embedding that isn't a list of numbers")
        metadata = _metadata(row.line, chunk, _CHUNK_FIELDS, "has a chunk with metadata")
        supplied.append(SuppliedChunk(at, at + len(text), tuple(map(float, embedding or ())), metadata))
        at += len(text) + len(_SEPARATOR)
    return _SEPARATOR.join(chunk["text"] for chunk in chunks), tuple(supplied)


def _missing(value: Mapping[str, Any]) -> list[str]:
    text = value.get("text") if value.get("chunks") is None else value["chunks"]
    required = {"id": value.get("id", value.get(_BEIR_ID)), "text": text}
    return [name for name, content in required.items() if content is None]
