"""Session notes: texts, each with the project that was worked on."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pipeline.domains.routing.folders import ProjectFolders
from pipeline.domains.routing.learn.files import is_script
from pipeline.domains.routing.learn.log import Entry
from pipeline.domains.routing.learn.names import ProjectNames
from pipeline.domains.routing.schema import Project, unknown_project
from pipeline.errors import SourceError
from pipeline.files import Guard, Unreadable, content_of, decode, lines
from pipeline.ingest.sources.front_matter import split_front_matter
from pipeline.records import Skipped

# Somebody else's texts: what can't be stored in them is replaced.
_GUARD = Guard(fix="Convert it to UTF-8, or leave it out.", mend=True)
_LINES = Guard(fix='A line is {"project": ..., "text": ...}.', mend=True)

_SUFFIXES = frozenset(("", ".md", ".markdown", ".txt", ".rst", ".jsonl", ".log"))
_PROJECT_FIELDS = ("project", "source_project", "repo", "cwd", "path")
_TEXT_FIELDS = ("text", "content", "message", "command", "summary", "title")


@dataclass(frozen=True, slots=True)
class SessionNote:
    """A note: the file it is from, the line at which its text begins (1 is the first), and the project it is about."""

    path: str
    line: int
    project: str
    text: str


@dataclass(frozen=True, slots=True)
class Sources:
    """Session notes that yield proposals, and the files with notes that name no project, which yield none.

    ``log`` holds the entries of the log, if one is kept. ``skipped`` are files and lines that can't be read.
    """

    notes: tuple[SessionNote, ...] = ()
    unassigned: tuple[str, ...] = ()
    log: tuple[Entry, ...] = ()
    skipped: tuple[Skipped, ...] = ()


def read_sources(paths: Iterable[Path], projects: Sequence[Project], default: str = "") -> Sources:
    """Read notes from files and folders: Markdown, text, shell history, and JSON Lines.

    A note belongs to the project of its field ``project`` (in front matter or JSON), else to that whose folder holds
    the file, else to that which a folder above is named after, else to ``default``. A file or a line in a folder that
    can't be read is skipped. Raises SourceError if a path doesn't exist or a file that it names can't be read, and
    GraphError if there is no project ``default``.
    """
    owners = _Owners(projects, default)
    notes, unassigned, skipped = list[SessionNote](), list[str](), list[Skipped]()
    for path in paths:
        for file in _files(path):
            left_out = None if file == path else skipped
            found = list(_notes(file, owners, left_out))
            notes += [note for note in found if note.project]
            unassigned += [str(file)] if any(not note.project for note in found) else []
    return Sources(tuple(notes), tuple(unassigned), skipped=tuple(skipped))


class _Owners:
    def __init__(self, projects: Sequence[Project], default: str) -> None:
        known = [one.id for one in projects]
        if default and default not in known:
            raise unknown_project(default, known)
        self._names = ProjectNames(projects)
        self._folders = ProjectFolders(projects)
        self._default = default

    def of_file(self, file: Path) -> str:
        place = file.resolve()
        above = (self._names.named(parent.name) for parent in place.parents)
        return self._folders.holding(place) or next((project for project in above if project), self._default)

    def of_fields(self, fields: Mapping[str, Any]) -> str:
        values = (fields.get(name) for name in _PROJECT_FIELDS)
        for value in (value for value in values if isinstance(value, str) and value):
            if project := self._names.named(value) or self._folders.holding(value):
                return project
        return ""


def _files(path: Path) -> Iterator[Path]:
    if path.is_dir():
        below = sorted(one for one in path.rglob("*") if one.is_file())
        yield from (one for one in below if one.suffix.lower() in _SUFFIXES or is_script(one.name))
    elif path.is_file():
        yield path
    else:
        raise SourceError(f"{path} doesn't exist", "Give a file of notes, or a folder with such files.")


def _notes(file: Path, owners: _Owners, skipped: list[Skipped] | None) -> Iterator[SessionNote]:
    """Yield the notes of a file; what can't be read is added to ``skipped``, and an error without that."""
    try:
        if file.suffix.lower() == ".jsonl":
            yield from _lines(file, owners, skipped)
        else:
            yield _note(file, owners, _GUARD if skipped is None else replace(_GUARD, error=Unreadable))
    except Unreadable as fault:
        if skipped is None:
            raise
        skipped.append(Skipped(str(file), fault.message))


def _lines(file: Path, owners: _Owners, skipped: list[Skipped] | None) -> Iterator[SessionNote]:
    for row in lines(file, _LINES if skipped is None else replace(_LINES, error=Unreadable)):
        try:
            fields = row.json()
        except Unreadable as fault:
            if skipped is None:
                raise
            skipped.append(Skipped(row.place, fault.message))
            continue
        if isinstance(fields, dict):
            texts = (fields.get(name) for name in _TEXT_FIELDS)
            text = "\n".join(one for one in texts if isinstance(one, str))
            yield SessionNote(str(file), row.number, owners.of_fields(fields) or owners.of_file(file), text)


def _note(file: Path, owners: _Owners, guard: Guard) -> SessionNote:
    text = _text(file, guard)
    front = split_front_matter(text)
    fields = {str(name): value for name, value in front.mapping.items()}
    return SessionNote(str(file), 1 + front.lines, owners.of_fields(fields) or owners.of_file(file), front.text)


def _text(file: Path, guard: Guard) -> str:
    with guard.naming(file):
        try:
            return decode(content_of(file))
        except Unreadable as fault:
            if fault.message == "is empty":  # of a folder with many notes, one may still be empty
                return ""
            raise
