"""Paths to documents, one at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from pipeline.errors import SourceError
from pipeline.ingest.sources import jsonl
from pipeline.ingest.sources.formats import LINES, format_of, parser_of
from pipeline.ingest.sources.markup import structured
from pipeline.ingest.sources.source import Source, Unreadable, unopenable
from pipeline.ingest.sources.unique_keys import UniqueKeys
from pipeline.ingest.sources.walk import Found, find
from pipeline.records import Document, Skipped

MAX_BYTES = 50_000_000
"""The size above which a file, or a line of a .jsonl file, is left out unless the caller says otherwise."""


def read(paths: Sequence[str], *, strict: bool = False, max_bytes: int = MAX_BYTES) -> Iterator[Document | Skipped]:
    """Return the documents that ``paths`` hold, read one at a time and in order, and what had to be left out.

    A path is a file, a folder (with all below it), a glob pattern, or a .jsonl file of {id, title, text, metadata}.
    A document's key is its path relative to the folder that was given, or to the part of the pattern before its
    first sign; a single file's is its name; a .jsonl document's is its id. What can't be read below a folder or
    through a pattern comes as Skipped; named itself, or with ``strict``, it is an error.

    All paths and .jsonl files are checked before the first document is returned. Raises SourceError for a path that
    doesn't exist, a pattern without a match, a malformed .jsonl line and two documents with one key.
    """
    wanted = [paths] if isinstance(paths, str) else paths
    if not wanted:
        raise SourceError("no path to read was given", "Name a file, a folder, a pattern or a .jsonl file.")
    reading, keys = _Reading(strict, max_bytes), UniqueKeys()
    checked = [item for path in wanted for found in find(path) for item in reading.checked(found, keys)]
    return (document for item in checked for document in reading.documents(item))


class _Reading:
    """One reading of some paths: what may be left out, and what was come across already."""

    def __init__(self, strict: bool, max_bytes: int) -> None:
        self._strict = strict
        self._max_bytes = max_bytes
        self._seen: set[tuple[str, str]] = set()

    def checked(self, item: Found | Skipped, keys: UniqueKeys) -> Iterator[Found | Skipped]:
        """Yield ``item``, or why it is left out; nothing when it was given before. Its keys must be new."""
        if isinstance(item, Skipped):
            yield self._left_out(item, "", named=False)
            return
        identity = (os.path.realpath(item.path), item.key)
        if identity in self._seen:
            return
        self._seen.add(identity)
        try:
            if format_of(item.path) == LINES:
                self._check_lines(item.path, keys)
            else:
                keys.add(item.key, item.path)
        except Unreadable as error:
            yield self._left_out(Skipped(str(item.path), error.message), error.fix, item.named)
        else:
            yield item

    def documents(self, item: Found | Skipped) -> Iterator[Document | Skipped]:
        """Yield the documents in ``item``, or that it is left out."""
        if isinstance(item, Skipped):
            yield item
            return
        try:
            name = format_of(item.path)
            if name == LINES:
                rows = jsonl.rows(item.path, self._max_bytes)
                yield from (structured(jsonl.document(item.path, row)) for row in rows)
            else:
                yield parser_of(name)(Source(item.key, item.path.as_posix(), _content(item.path, self._max_bytes)))
        except Unreadable as error:
            yield self._left_out(Skipped(str(item.path), error.message), error.fix, item.named)

    def _left_out(self, skipped: Skipped, fix: str, named: bool) -> Skipped:
        if named or self._strict:
            raise SourceError(f"{skipped.source} {skipped.reason}", fix)
        return skipped

    def _check_lines(self, path: Path, keys: UniqueKeys) -> None:
        row = None
        for row in jsonl.rows(path, self._max_bytes):
            keys.add(jsonl.document(path, row).key, path, row.line)
        if row is None:
            raise Unreadable("is empty", "Leave it out, or write documents into it, one a line.")


def _content(path: Path, max_bytes: int) -> bytes:
    """Return the bytes of ``path``. Raises Unreadable when they are too many, none, or out of reach."""
    try:
        with path.open("rb") as file:
            # one more than allowed tells without trusting a size that may change
            data = file.read(max_bytes + 1)
    except OSError as error:
        raise unopenable(error) from None
    if len(data) > max_bytes:
        raise Unreadable(f"is larger than {max_bytes / 1e6:,.6g} MB", "Split it, or raise the limit.")
    if not data:
        raise Unreadable("is empty", "Leave it out, or write something into it.")
    return data
