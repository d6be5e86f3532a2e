"""Read documents from paths, one at a time, and from what the caller holds in memory: objects, and bytes of a file."""

import os
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from operator import length_hint
from pathlib import Path, PurePosixPath
from typing import Any

from pipeline.errors import SourceError
from pipeline.files import DEFAULT_LIMITS, Limits, Line, Unreadable, content_of
from pipeline.files.guard import MEND, Folders, name_in_utf_8, real_path
from pipeline.files.limits import MEGABYTE
from pipeline.files.remote import AnyPath, is_url
from pipeline.ingest.sources import rows
from pipeline.ingest.sources.formats import CODE, MANY, TABLE, format_of
from pipeline.ingest.sources.parser_process import ParserProcess
from pipeline.ingest.sources.parsers.code import check_handwritten
from pipeline.ingest.sources.source import Source
from pipeline.ingest.sources.urls import AnySource, find_url, local_path
from pipeline.ingest.sources.walk import SourceFile, find
from pipeline.records import Document, Skipped

_MOST_ROWS = 100
"""Rows of a file of many documents that are named when they are left out; chosen by hand."""


Parse = Callable[[Iterable[AnySource], Limits], Generator[Document | Unreadable, None, None]]
"""Parses files of a document each, in order: yields the document of each, or what is wrong with it."""


def parsed(files: Iterable[AnySource], limits: Limits) -> Generator[Document | Unreadable, None, None]:
    """Parse files of a document each in this process, or in one of its own where that is safer: see :data:`Parse`."""
    with ParserProcess() as process:
        for item in files:
            try:
                yield _document(item, limits, process)
            except Unreadable as error:
                yield error


def _document(item: AnySource, limits: Limits, process: ParserProcess) -> Document:
    name = format_of(item.path)
    path = name_in_utf_8(item.path.as_posix())
    source = Source(item.key, path, content_of(item.path, limits), limits)
    if name == CODE and not item.named:
        check_handwritten(source)
    return process.parse(name, source)


def read(
    paths: Sequence[str],
    *,
    strict: bool = False,
    limits: Limits = DEFAULT_LIMITS,
    code: bool = False,
    parse: Parse = parsed,
    read_rows: rows.ReadRows = rows.read_rows,
) -> "FilesRead":
    """Return the documents in ``paths``, read one at a time and in order, and the files that were left out.

    A path is a file, a folder (read with its subfolders), a glob pattern, or a .jsonl file or Parquet table of {id,
    title, text, metadata}. A document's key is its path relative to the given folder, or to the part of the pattern
    before its first wildcard; for a single file the file's name, for a line or row its id. URLs are read likewise,
    through fsspec (:mod:`pipeline.ingest.sources.urls`). An unreadable file below a folder or of a pattern comes as
    Skipped, and so does a line or row of a file there, whose others are read. If the caller named the file, or with
    ``strict``, it is an error; with ``strict`` the warnings of a document are, too.

    Data, such as .json, are read only if the caller named the file. Files of source code are read then, or with
    ``code``. What their authors didn't write is left out then: installed packages, builds, minified and generated
    files, and what Git ignores.

    All paths, .jsonl files and tables are checked before the first document is returned. Raises SourceError for a path
    that doesn't exist, a pattern without a match, and two documents with the same key.
    """
    wanted = [paths] if isinstance(paths, str) else paths
    if not wanted:
        raise SourceError("no path to read was given", "Name a file, a folder, a pattern or a .jsonl file.")
    reading = _Reading(strict, limits, code=code, parse=parse, read_rows=read_rows)
    found = (entry for path in wanted for entry in _found(path, code=code, within=limits.within))
    return FilesRead(reading, [*reading.checked([*reading.given_once(found)])])


def check_paths(paths: Sequence[str]) -> None:
    """Raise the SourceError that :func:`read` would raise for a path that doesn't exist or holds nothing to read."""
    for path in paths:
        next(_found(path), None)


def _found(path: str, *, code: bool = False, within: Folders = None) -> Iterator[AnySource | Skipped]:
    """Yield the files of a path or URL; ``file://`` URLs are paths."""
    if is_url(path) and not os.path.lexists(path):
        if (local := local_path(path)) is None:
            return find_url(path, code=code, within=within)
        path = local
    return find(path, code=code, within=within)


class FilesRead(Iterator[Document | Skipped]):
    """The documents of files, and the files left out; ``total`` is the number of files, ``done`` of those read so far.

    A file of many documents counts as one.
    """

    def __init__(self, reading: "_Reading", items: Sequence[AnySource | Skipped]) -> None:
        self.total = len(items)
        # The iterator of its own, to which nothing here refers: in a cycle the parser's process would outlive a reading
        # that is given up.
        self._items = iter(items)
        self._documents = reading.documents(self._items, items)

    @property
    def done(self) -> int:
        """Number of files read so far, with the one that is being read."""
        return self.total - length_hint(self._items)

    def __next__(self) -> Document | Skipped:
        return next(self._documents)


class UniqueKeys:
    """Keys of the documents so far, and their files."""

    def __init__(self) -> None:
        self._places: dict[str, tuple[AnyPath, int]] = {}

    def row_of(self, key: str) -> int | None:
        """Return the row of the document ``key``, 0 if it is a file of its own; None if there is none yet."""
        place = self._places.get(key)
        return place[1] if place else None

    def add(self, key: str, path: AnyPath, row: int = 0) -> None:
        """Record that ``path`` holds the document ``key``, on the line or row ``row`` if it holds many.

        Raises SourceError, naming both places, if another file or row holds it too.
        """
        first, again = self._places.setdefault(key, (path, row)), (path, row)
        if first == again:
            return
        if first[0] == path:
            unit = _unit(path)
            raise SourceError(
                f"{path} gives the id {key!r} on {unit} {first[1]} and again on {unit} {row}",
                f"Give every {unit} an id of its own.",
            )
        one, two = (f"{place} ({_unit(place)} {at})" if at else str(place) for place, at in (first, again))
        raise SourceError(
            f"{one} and {two} both give the document {key!r}",
            "Ingest them into corpora of their own, or give the folder that holds both.",
        )

    def forget(self, path: AnyPath) -> None:
        """Free the keys of a file that turns out to be unreadable: another one may hold the same documents."""
        self._places = {key: place for key, place in self._places.items() if place[0] != path}


def _unit(path: AnyPath) -> str:
    return "row" if path.suffix and format_of(path) == TABLE else "line"


class _Reading:
    """A single read of several paths: its limits, and the files and keys so far."""

    def __init__(self, strict: bool, limits: Limits, *, code: bool, parse: Parse, read_rows: rows.ReadRows) -> None:
        self._strict = strict
        self._limits = limits
        self._code = code
        self._parse = parse
        self._read_rows = read_rows
        self._seen: set[tuple[str, str]] = set()
        self._keys = UniqueKeys()
        self._repeated: dict[AnyPath, set[int]] = {}

    def given_once(self, items: Iterable[AnySource | Skipped]) -> Iterator[AnySource | Skipped]:
        """Yield the items without those that were given before."""
        for item in items:
            if not isinstance(item, Skipped):
                identity = (real_path(item.path) if isinstance(item, SourceFile) else item.path.place, item.key)
                if identity in self._seen:
                    continue
                self._seen.add(identity)
            yield item

    def checked(self, items: Sequence[AnySource | Skipped]) -> Iterator[AnySource | Skipped]:
        """Yield each item, or a Skipped if it is left out. Its keys must be new."""
        many = (item for item in items if not isinstance(item, Skipped) and _holds_many(item))
        with closing(self._read_rows(many, self._limits, False)) as found:
            for item in items:
                if isinstance(item, Skipped):
                    yield self._left_out(item, "", named=False)
                else:
                    yield from self._checked(item, found)

    def _checked(self, item: AnySource, found: Iterator[Iterable[rows.Found]]) -> Iterator[AnySource | Skipped]:
        try:
            if format_of(item.path, code=self._code or item.named, named=item.named) in MANY:
                yield from self._checked_rows(item, next(found))
            elif self._keys.row_of(item.key) and not (item.named or self._strict):
                yield Skipped(str(item.path), f"is the document {item.key!r} again")
                return
            else:
                self._keys.add(item.key, item.path)
        except Unreadable as error:
            self._keys.forget(item.path)
            yield self._left_out(Skipped(str(item.path), error.message), error.fix, item.named)
        else:
            yield item

    def documents(
        self, items: Iterable[AnySource | Skipped], same: Sequence[AnySource | Skipped]
    ) -> Iterator[Document | Skipped]:
        """Yield the documents in ``items``, or a Skipped for one that is left out; ``same`` items are looked at ahead.

        Files of a document each may be parsed ahead, too.
        """
        taken = [item for item in same if not isinstance(item, Skipped)]
        single = (item for item in taken if not _holds_many(item))
        many = (item for item in taken if _holds_many(item))
        with (
            closing(self._parse(single, self._limits)) as files,
            closing(self._read_rows(many, self._limits, True)) as found,
        ):
            for item in items:
                if isinstance(item, Skipped):
                    yield item
                    continue
                try:
                    for document in self._documents(item, files, found):
                        if self._strict and document.warnings:
                            raise SourceError(f"{item.path} {document.warnings[0]}.", MEND)
                        yield document
                except Unreadable as error:
                    yield self._left_out(Skipped(str(item.path), error.message), error.fix, item.named)

    def _documents(
        self, item: AnySource, files: Iterator[Document | Unreadable], found: Iterator[Iterable[rows.Found]]
    ) -> Iterator[Document]:
        if _holds_many(item):
            repeated = self._repeated.get(item.path, ())
            for one in next(found):
                if not isinstance(one, rows.BadRow) and one[0].number not in repeated:
                    yield one[1]
            return
        document = next(files)
        if isinstance(document, Unreadable):
            raise document
        yield document

    def _left_out(self, skipped: Skipped, fix: str, named: bool) -> Skipped:
        if named or self._strict:
            raise SourceError(f"{skipped.source} {skipped.reason}", fix)
        return skipped

    def _checked_rows(self, item: AnySource, found: Iterable[rows.Found]) -> Iterator[Skipped]:
        """Yield a Skipped for each row that is left out; of very many the first ones, and their number."""
        bad, is_empty = 0, True
        for one in found:
            is_empty = False
            if problem := self._problem(one, item):
                bad += 1
                if bad <= _MOST_ROWS:
                    yield problem
        if bad > _MOST_ROWS:
            yield Skipped(str(item.path), f"has {bad - _MOST_ROWS:,} more {_unit(item.path)}s that can't be read")
        if is_empty:
            raise Unreadable("is empty", f"Leave it out, or write documents into it, one a {_unit(item.path)}.")

    def _problem(self, found: rows.Found, item: AnySource) -> Skipped | None:
        """Return why a row is left out, None if it isn't; an error if the caller named the file."""
        is_error = item.named or self._strict
        if isinstance(found, rows.BadRow):
            if is_error:
                raise SourceError(f"{found.place} {found.error.message}.", found.error.fix)
            return Skipped(found.place, found.error.message)
        row, document = found
        if not is_error and self._keys.row_of(document.key) is not None:
            self._repeated.setdefault(item.path, set()).add(row.number)
            return Skipped(row.place, f"gives the id {document.key!r} again")
        self._keys.add(document.key, item.path, row.number)
        return None


def _holds_many(item: AnySource) -> bool:
    try:
        return format_of(item.path) in MANY
    except Unreadable:
        return False


def documents_of(objects: Iterable[Mapping[str, Any]], limits: Limits = DEFAULT_LIMITS) -> list[Document]:
    """Return the documents that objects ``{"id", "title", "text", "metadata"}`` describe, in order.

    The fields are those of a .jsonl line. Raises SourceError, naming the object by its place from 1, if one is
    malformed, or if two have the same id.
    """
    with ParserProcess() as process:
        documents = (rows.document(row) for row in _rows(objects))
        return [replace(process.structure(document, limits), path="") for document in documents]


def check_objects(objects: Iterable[Mapping[str, Any]]) -> None:
    """Raise the SourceError that :func:`documents_of` would raise, without parsing any markup."""
    for row in _rows(objects):
        rows.document(row)


def document_of(key: str, content: bytes, limits: Limits = DEFAULT_LIMITS) -> Document:
    """Return the document that ``content`` is, the bytes of a file; the suffix of ``key`` tells its format.

    Raises SourceError, naming the key, if the format isn't read, or the content is no such file or is too large.
    """
    try:
        with ParserProcess() as process:
            return _parsed(_brought(key, content, limits), process)
    except Unreadable as error:
        raise SourceError(f"{key} {error.message}", error.fix) from None


def documents_of_files(files: Mapping[str, bytes], limits: Limits = DEFAULT_LIMITS) -> Iterator[Document | Skipped]:
    """Yield the document that each file is, as :func:`document_of`, and those of the rows of a .jsonl file or table.

    What can't be read comes as Skipped, and so does a document whose key came before.
    """
    seen: set[str] = set()
    with ParserProcess() as process:
        for key, content in files.items():
            try:
                for document in _documents_in(_brought(key, content, limits), process):
                    if isinstance(document, Document) and document.key in seen:
                        yield Skipped(key, f"is or holds the document {document.key!r} again")
                        continue
                    if isinstance(document, Document):
                        seen.add(document.key)
                    yield document
            except Unreadable as error:
                yield Skipped(key, error.message)


def _brought(key: str, content: bytes, limits: Limits) -> Source:
    return Source(PurePosixPath(key).as_posix(), "", content, limits)


def _documents_in(source: Source, process: ParserProcess) -> Iterator[Document | Skipped]:
    if format_of(Path(source.key)) not in MANY:
        yield _parsed(source, process)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"rows{Path(source.key).suffix}"
        path.write_bytes(source.data)
        # The file is ours, wherever else one may read.
        for found in rows.documents(path, replace(source.limits, within=None), process):
            if isinstance(found, rows.BadRow):
                place = found.place.removeprefix(str(path))
                yield Skipped(f"{source.key}{place}", found.error.message)
            else:
                yield replace(process.structure(found[1], source.limits), path="")


def _parsed(source: Source, process: ParserProcess) -> Document:
    name = format_of(Path(source.key))
    if name in MANY:
        raise Unreadable("holds many documents, not one", "Send its rows as documents.")
    if len(source.data) > source.limits.bytes_read:
        raise Unreadable(f"is larger than {source.limits.bytes_read / MEGABYTE:,.6g} MB", "Split it.")
    if not source.data:
        raise Unreadable("is empty", "Send the content of a file.")
    return process.parse(name, source)


def _rows(objects: Iterable[Mapping[str, Any]]) -> Iterator[rows.Row]:
    keys, place = UniqueKeys(), Path("documents")  # the name of the objects in errors, in place of a file's path
    for number, value in enumerate(objects, 1):
        row = rows.row_of(Line(place, number, "", rows.GUARD), value)
        keys.add(row.id, place, number)
        yield row
