"""A document per row, ``{"id", "title", "text", "metadata"}``: lines of JSON, rows of tables, and objects in memory.

BEIR's ``_id`` is read too, and a row may bring its own ``chunks``, or the ``embedding`` of its text as a whole.
"""

from collections.abc import Callable, Container, Generator, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.files import Guard, Limits, Line, Unreadable, lines, parse_json, unopenable, well_formed
from pipeline.files.guard import check_depth
from pipeline.files.remote import AnyPath
from pipeline.ingest.sources.formats import TABLE, format_of
from pipeline.ingest.sources.metadata import flat, scalar_title
from pipeline.ingest.sources.parquet import Rows, row_value
from pipeline.ingest.sources.parser_process import ParserProcess
from pipeline.ingest.sources.urls import AnySource
from pipeline.records import Document, Metadata, SuppliedChunk
from pipeline.text.outline import paragraphs

GUARD = Guard(
    fix='A line is {"id": ..., "title": ..., "text": ..., "metadata": {...}}; only id and text are needed. Instead of'
    ' text it may have "chunks": [{"text": ..., "embedding": [...], "metadata": {...}}]; only text is needed there.',
    mend=True,
)
"""Documents are read as well as possible: what can't be stored is replaced."""

_TABLE_GUARD = Guard(
    fix="A row has an id and a text, and as it likes a title, metadata (a struct, a map, or JSON) and other columns."
    " Instead of a text it may have chunks, a list of structs of text and, as it likes, embedding and metadata.",
    mend=True,
)

_BEIR_ID = "_id"
"""Field of the id in BEIR's corpora, read if there is no ``id``."""

_MOST_BEFORE = 100
"""Lines after which a file without a document is one of other content; chosen by hand."""

_MOST_UNPACKED = 200
"""Times the size of a table beyond which its rows are a bomb, if they also exceed the limit of what is unpacked.

Of texts, Zstandard packs lists of near copies the best, 50 times. Chosen by hand."""

_FIELDS = frozenset(("id", _BEIR_ID, "title", "text", "metadata", "chunks", "embedding"))
_CHUNK_FIELDS = frozenset(("text", "embedding", "metadata"))
_SEPARATOR = "\n\n"
_LONGEST_ID = 1000
"""Limit in characters: an entry of the graph's index can have 8 kB."""


class Row(NamedTuple):
    """A line, the id of its object, and the object."""

    line: Line
    id: str
    value: Mapping[str, Any]


class _TableRow(Line):
    """A row of a table, as the parser's process writes it."""

    def json(self) -> Any:
        return row_value(super().json())


class BadRow(NamedTuple):
    """A row that is no document: its place, ``file.jsonl, line 7``, and what is wrong with it."""

    place: str
    error: Unreadable


Found = tuple[Line, Document] | BadRow
"""A document with its row, or a row that is none."""

ReadRows = Callable[[Iterable[AnySource], Limits, bool], Generator[Iterable[Found], None, None]]
"""Reads files of many documents, in order: yields what is found in each, which raises Unreadable where it ends early.

Without the flag the documents need only their keys: they are read once to tell the keys apart, and once for good."""


def read_rows(files: Iterable[AnySource], limits: Limits, whole: bool) -> Generator[Iterable[Found], None, None]:
    """Read files in this process, each while what is yielded of it is iterated over: see :data:`ReadRows`."""
    with ParserProcess() as process:
        for item in files:
            found = documents(item.path, limits, process)
            yield (_structured(one, limits, process) for one in found) if whole else found


def _structured(found: Found, limits: Limits, process: ParserProcess) -> Found:
    return found if isinstance(found, BadRow) else (found[0], process.structure(found[1], limits))


def documents(
    path: AnyPath, limits: Limits, process: ParserProcess, groups: tuple[int, int | None] = (0, None)
) -> Iterator[Found]:
    """Yield the documents of ``path`` with their rows, in order and read one at a time, and the rows that are none.

    ``process`` reads tables, of which ``groups`` may be the range of row groups that is wanted. Blank lines count, but
    are left out. Raises Unreadable if the file can't be opened, and if its first objects are no documents, as in .jsonl
    files of other content.
    """
    is_table = format_of(path) == TABLE
    guard = replace(_TABLE_GUARD if is_table else GUARD, limits=limits, error=Unreadable)
    if is_table:
        with _here(path) as copy:
            yield from _documents(table_rows(Rows(copy, limits, *groups), guard, process, path), guard)
    else:
        yield from _documents(lines(path, guard), guard)


@contextmanager
def _here(path: AnyPath) -> Iterator[Path]:
    """Yield a path of this machine: the parser's process reads no other."""
    if isinstance(path, Path):
        yield path
        return
    with ExitStack() as stack:
        try:
            copy = stack.enter_context(path.copied())
        except OSError as error:
            raise unopenable(error) from None
        yield copy


def _documents(found_lines: Iterable[Line], guard: Guard) -> Iterator[Found]:
    before: list[BadRow] | None = []  # bad rows, until it is known what the file holds
    other = ""
    for line in found_lines:
        found: Found
        try:
            value = line.json()
            if before is not None and not other and isinstance(value, dict) and (missing := _missing(value)):
                other = f"holds no documents ({line.unit} {line.number} has no {missing[0]})"
            found = (line, document(row_of(line, value)))
        except Unreadable as error:
            found = BadRow(line.place, error)
        if before is not None and isinstance(found, BadRow) and len(before) < _MOST_BEFORE:
            before.append(found)
            continue
        if other and before is not None and isinstance(found, BadRow):
            raise Unreadable(other, guard.fix)
        yield from before or ()
        before = None
        yield found
    if before and other:
        raise Unreadable(other, guard.fix)
    yield from before or ()


def table_rows(wanted: Rows, guard: Guard, process: ParserProcess, named: AnyPath | None = None) -> Iterator[Line]:
    """Yield the rows of a table, a batch of them in memory; as of lines, those that are too long hold an Unreadable.

    Where the table is a copy, ``named`` is the original.
    """
    path, most, unpacked = wanted.path, wanted.limits.bytes_read, 0
    if wanted.start:
        wanted = replace(wanted, first=sum(process.row_counts(path, wanted.limits)[: wanted.start]))
    is_end = False
    while not is_end:
        rows, is_end = process.rows(wanted)
        for number, row in enumerate(rows, wanted.first + 1):
            content = Unreadable(*row) if not isinstance(row, str) else row
            if len(row) > most:
                content = Unreadable(f"is longer than {most:,} characters", "Split it, or raise sources.max_megabytes.")
            unpacked += len(row)
            yield _TableRow(named or path, number, content, guard, "row")
        wanted = replace(wanted, first=wanted.first + len(rows))
        if unpacked > wanted.limits.bytes_unpacked and unpacked > _MOST_UNPACKED * path.stat().st_size:
            fix = "Leave it out, or raise sources.max_unpacked_megabytes."
            raise Unreadable(f"unpacks to over {_MOST_UNPACKED} times its size", fix)


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
    if row.value.get("embedding") is not None:
        supplied = _whole(row, text, has_chunks=row.value.get("chunks") is not None)
    metadata = _metadata(row.line, row.value, _FIELDS, "has metadata")
    text = well_formed(text)
    title, path = scalar_title(row.value.get("title")), str(row.line.path)
    return Document(row.id, title, text, tuple(paragraphs(text)), (), metadata, path, prechunked=supplied)


def _metadata(line: Line, value: Mapping[str, Any], fields: Container[str], what: str) -> Metadata:
    """Return the metadata of an object: what it has as such, and its fields that aren't among ``fields``."""
    given = value.get("metadata")
    if isinstance(given, str) and line.unit == "row":  # of a table, which may have no type for objects of any kind
        with line.guard.naming(line.place):
            given = parse_json(given, line.guard) if given.strip() else None
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
        text = chunk.get("text")
        if not isinstance(text, str) or not text.strip():
            raise row.line.fault("has a chunk without a text")
        embedding = _embedding(row.line, chunk.get("embedding"), "has a chunk with an embedding")
        metadata = _metadata(row.line, chunk, _CHUNK_FIELDS, "has a chunk with metadata")
        supplied.append(SuppliedChunk(at, at + len(text), embedding, metadata))
        at += len(text) + len(_SEPARATOR)
    return _SEPARATOR.join(chunk["text"] for chunk in chunks), tuple(supplied)


def _whole(row: Row, text: str, *, has_chunks: bool) -> tuple[SuppliedChunk, ...]:
    """Return the only chunk of a row that brings the embedding of its text as a whole; none if the text is blank."""
    if has_chunks:
        raise row.line.fault("has both chunks and an embedding of its own")
    embedding = _embedding(row.line, row.value["embedding"], "has an embedding")
    return (SuppliedChunk(0, len(well_formed(text)), embedding),) if text.strip() else ()


def _embedding(line: Line, value: Any, what: str) -> tuple[float, ...]:
    # By types in one go: a check of each of some hundred numbers took longer than to read them.
    if not isinstance(value, list | None) or not {float, int}.issuperset(map(type, value or ())):
        raise line.fault(f"{what} that isn't a list of numbers")
    return tuple(map(float, value or ()))


def _missing(value: Mapping[str, Any]) -> list[str]:
    text = value.get("text") if value.get("chunks") is None else value["chunks"]
    required = {"id": value.get("id", value.get(_BEIR_ID)), "text": text}
    return [name for name, content in required.items() if content is None]
