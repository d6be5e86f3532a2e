"""Documents that the caller holds in memory: objects as on the lines of a .jsonl file, and the bytes of a file."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from pipeline.errors import SourceError
from pipeline.files import DEFAULT_LIMITS, Limits, Line, Unreadable
from pipeline.files.limits import MEGABYTE
from pipeline.ingest.sources import jsonl
from pipeline.ingest.sources.formats import LINES, format_of
from pipeline.ingest.sources.parser_process import ParserProcess
from pipeline.ingest.sources.reader import UniqueKeys
from pipeline.ingest.sources.source import Source
from pipeline.records import Document

_PLACE = Path("documents")
"""The name of the given objects in errors, where those of a file have its path."""


def documents_of(objects: Iterable[Mapping[str, Any]], limits: Limits = DEFAULT_LIMITS) -> list[Document]:
    """Return the documents that objects ``{"id", "title", "text", "metadata"}`` describe, in order.

    The fields are those of a .jsonl line. Raises SourceError, naming the object by its place from 1, if one is
    malformed, or if two have the same id.
    """
    with ParserProcess() as process:
        documents = (jsonl.document(row) for row in _rows(objects))
        return [replace(process.structure(document, limits), path="") for document in documents]


def check_objects(objects: Iterable[Mapping[str, Any]]) -> None:
    """Raise the SourceError that :func:`documents_of` would raise, without parsing any markup."""
    for row in _rows(objects):
        jsonl.document(row)


def document_of(key: str, content: bytes, limits: Limits = DEFAULT_LIMITS) -> Document:
    """Return the document that ``content`` is, the bytes of a file; the suffix of ``key`` tells its format.

    Raises SourceError, naming the key, if the format isn't read, or the content is no such file or is too large.
    """
    try:
        return _parsed(Source(PurePosixPath(key).as_posix(), "", content, limits))
    except Unreadable as error:
        raise SourceError(f"{key} {error.message}", error.fix) from None


def _parsed(source: Source) -> Document:
    name = format_of(Path(source.key))
    if name == LINES:
        raise Unreadable("holds many documents, not one", "Send its lines as documents.")
    if len(source.data) > source.limits.bytes_read:
        raise Unreadable(f"is larger than {source.limits.bytes_read / MEGABYTE:,.6g} MB", "Split it.")
    if not source.data:
        raise Unreadable("is empty", "Send the content of a file.")
    with ParserProcess() as process:
        return process.parse(name, source)


def _rows(objects: Iterable[Mapping[str, Any]]) -> Iterator[jsonl.Row]:
    keys = UniqueKeys()
    for number, value in enumerate(objects, 1):
        row = jsonl.row_of(Line(_PLACE, number, "", jsonl.GUARD), value)
        keys.add(row.id, _PLACE, number)
        yield row
