"""A process that parses what may take its parser any time: PDF, office and HTML files, tables, larger source code.

Markdown, other markup and source code in .jsonl get the same structure as from a file. The suffix of the document's
id names the format (``guide/setup.md``, ``sessions.py``). Without a suffix, Markdown is recognised by its front matter
or its headings. Everything else is plain text.
"""

import json
import re
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import TypeAdapter

from pipeline.bounded import BoundedProcess, Bounds, Crashed, OutOfMemory, OutOfTime
from pipeline.code.languages import language_of
from pipeline.code.parse import CPU_SECONDS, SMALL
from pipeline.files import Limits, Unreadable
from pipeline.files.limits import MEGABYTE
from pipeline.ingest.sources.formats import CODE, is_bounded, markup_of, parser_of, structure_of
from pipeline.ingest.sources.front_matter import split_front_matter
from pipeline.ingest.sources.parquet import Rows, RowText, next_rows, row_counts
from pipeline.ingest.sources.source import Source, parser_errors
from pipeline.records import Document

_SUFFIX = re.compile(r"\.[A-Za-z]\w{0,9}")
_HEADING = re.compile(r"(?:\A|\n[ \t]*\n)#{1,6}[ \t]+\S[^\n]*(?=\n[ \t]*\n)")
"""A heading between blank lines, where a comment in code seldom stands."""

_MIN_HEADINGS = 2  # a single one may be a comment; chosen by hand, not measured


def structured(document: Document) -> Document:
    """Return a document of a .jsonl file with the headings, blocks, links and front matter of its markup.

    A document is returned unchanged if it brings its own chunks, if its markup is malformed, or if it has no other
    text.
    """
    text = document.text.replace("\r\n", "\n").lstrip()
    markup = None if document.prechunked else _markup_of(document.key, text)
    if markup is None:
        return document
    try:
        with parser_errors(markup):
            result = structure_of(markup)(replace(document, text=text, blocks=()))
    except Unreadable:
        return document
    return result if result.blocks else document


def _markup_of(key: str, text: str) -> str | None:
    suffix = PurePosixPath(key).suffix.lower()
    if _SUFFIX.fullmatch(suffix):
        return markup_of(suffix) or ("code" if language_of(key) else None)
    headings = sum(1 for _ in _HEADING.finditer(text))
    return "markdown" if headings >= _MIN_HEADINGS or split_front_matter(text).mapping else None


class ParserProcess(AbstractContextManager["ParserProcess"]):
    """Parses files and documents; not thread-safe. It starts with the first one that isn't safe to parse here."""

    def __init__(self) -> None:
        self._process = BoundedProcess(f"{__name__}:{answer.__name__}")

    def __exit__(self, *raised: object) -> None:
        self._process.__exit__(*raised)

    def parse(self, format_name: str, source: Source) -> Document:
        """Return the document; raises Unreadable, also if parsing exceeds the limits of the source or crashes."""
        is_code = format_name == CODE
        if is_bounded(format_name) or (is_code and len(source.data) > SMALL):
            return self._document((format_name, source), source.limits, is_code=is_code)
        with parser_errors(format_name):
            return parser_of(format_name)(source)

    def structure(self, document: Document, limits: Limits) -> Document:
        """Return a document that came as text with the structure of its markup; without it, if parsing it fails."""
        if len(document.text) <= SMALL or document.prechunked or language_of(document.key) is None:
            return structured(document)
        try:
            return self._document(document, limits, is_code=True)
        except Unreadable:
            return document

    def rows(self, wanted: Rows) -> tuple[list[RowText], bool]:
        """Return the first of the rows of a table that are wanted, and whether they are the last. Raises Unreadable."""
        rows, is_end = self._ask(wanted, wanted.limits)
        return [row if isinstance(row, str) else tuple(row) for row in rows], is_end

    def row_counts(self, path: Path, limits: Limits) -> list[int]:
        """Return the number of rows of each row group of a table. Raises Unreadable."""
        counts: list[int] = self._ask(("row counts", Rows(path, limits)), limits)
        return counts

    def _document(self, request: object, limits: Limits, *, is_code: bool) -> Document:
        return _documents().validate_python(self._ask(request, limits, is_code=is_code))

    def _ask(self, request: object, limits: Limits, *, is_code: bool = False) -> Any:
        cpu_seconds = CPU_SECONDS if is_code else None
        try:
            line = self._process.call(request, Bounds(limits.seconds, limits.bytes_of_memory, cpu_seconds))
        except OutOfTime:
            if is_code:
                fix = "Leave it out, or name it after no language, as in a.txt."
                raise Unreadable(f"takes its parser over {CPU_SECONDS:g} seconds", fix) from None
            fix = "Split it, or raise sources.max_seconds."
            raise Unreadable(f"takes over {limits.seconds:g} seconds to read", fix) from None
        except OutOfMemory:
            fix = "Split it, or raise sources.max_memory_megabytes."
            megabytes = limits.bytes_of_memory / MEGABYTE
            raise Unreadable(f"takes over {megabytes:,.6g} MB of memory to read", fix) from None
        except Crashed as crash:
            raise Unreadable(f"crashes its parser ({crash})", "Open and save it again, or leave it out.") from None
        kind, value = json.loads(line)
        if kind == "unreadable":
            raise Unreadable(*value)
        return value


def answer(request: tuple[str, Any] | Rows | Document) -> bytes:
    """Answer a request within the process."""
    try:
        return json.dumps(("answer", _answer(request))).encode()
    except Unreadable as error:
        return json.dumps(("unreadable", (error.message, error.fix))).encode()


def _answer(request: tuple[str, Any] | Rows | Document) -> Any:
    if isinstance(request, Rows):
        return next_rows(request)
    if isinstance(request, tuple) and isinstance(request[1], Rows):
        return row_counts(request[1])
    document = structured(request) if isinstance(request, Document) else parser_of(request[0])(request[1])
    return _documents().dump_python(document, mode="json")


@cache
def _documents() -> TypeAdapter[Document]:
    """Return the converter of documents to JSON and back, made once they are: many runs parse no such file."""
    return TypeAdapter(Document)
