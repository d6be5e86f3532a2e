"""Read a vault's folder: its notes, in order, and the paths of its other files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from pipeline.domains.vault.reading.notes import read_note
from pipeline.domains.vault.reading.resolve import SUFFIXES
from pipeline.domains.vault.records import ANY, Folder, Note, Scope
from pipeline.errors import SourceError
from pipeline.ingest.sources.decode import decode
from pipeline.ingest.sources.pattern import Pattern, is_pattern
from pipeline.ingest.sources.source import Unreadable, content_of
from pipeline.ingest.sources.walk import SourceFile, find
from pipeline.limits import DEFAULT_LIMITS, Limits
from pipeline.records import Skipped


def read_folder(
    folder: Path,
    *,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    scope: Scope = ANY,
    limits: Limits = DEFAULT_LIMITS,
) -> Folder:
    """Return the vault in a folder. Hidden files and folders, such as .obsidian, are left out.

    ``include`` and ``exclude`` are paths or patterns relative to the folder: ``templates``, ``daily/**``. ``scope`` is
    for notes that name no user, skill or agent. Raises SourceError if there is no such folder.
    """
    if not folder.is_dir():
        raise SourceError(f"{folder} is no folder.", "Give the folder of a vault, which holds Markdown notes.")
    notes: list[Note] = []
    attachments: set[str] = set()
    skipped: list[Skipped] = []
    for item in _files(folder):
        if isinstance(item, Skipped):
            skipped.append(item)
        elif not item.key.casefold().endswith(SUFFIXES):
            attachments.add(item.key)
        elif _wanted(item.key, include, exclude):
            try:
                notes.append(_note(item, scope, limits))
            except Unreadable as error:
                skipped.append(Skipped(str(item.path), error.message))
    return Folder(str(folder), tuple(notes), frozenset(attachments), tuple(skipped))


def _files(folder: Path) -> Iterator[SourceFile | Skipped]:
    return find(str(folder))


def modified_at(path: Path) -> str:
    """Return when a file was written, in ISO 8601."""
    return datetime.fromtimestamp(path.stat().st_mtime, UTC).isoformat(timespec="seconds")


def _note(file: SourceFile, scope: Scope, limits: Limits) -> Note:
    text = _text(file.path, limits)
    return read_note(file.key, text, path=file.path.as_posix(), modified=modified_at(file.path), defaults=scope)


def _text(path: Path, limits: Limits) -> str:
    """Return the text of a note; an empty note is a note too: links lead to it."""
    try:
        if path.stat().st_size == 0:
            return ""
    except OSError:
        pass
    content = content_of(path, limits)
    return "" if not content.strip() else decode(content)


def _wanted(key: str, include: Sequence[str], exclude: Sequence[str]) -> bool:
    return (not include or any(_matches(key, pattern) for pattern in include)) and not any(
        _matches(key, pattern) for pattern in exclude
    )


def _matches(key: str, pattern: str) -> bool:
    """Return whether a path is, lies below, or matches ``pattern``."""
    wanted = pattern.strip("/").removeprefix("./")
    if not is_pattern(wanted):
        return key == wanted or key.startswith(f"{wanted}/")
    glob = Pattern(wanted)
    root = () if glob.root == Path() else glob.root.parts
    parts = PurePosixPath(key).parts
    return parts[: len(root)] == root and glob.matches(parts[len(root) :])
