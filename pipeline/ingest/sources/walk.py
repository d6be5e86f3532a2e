"""Find the files of paths, folders and glob patterns, each with the key of its document.

In a pattern, ``*`` and ``?`` match within a name, ``**`` matches any number of folders.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import translate
from operator import itemgetter
from pathlib import Path, PurePath
from typing import NamedTuple

from pipeline.errors import SourceError
from pipeline.files import unopenable
from pipeline.files.guard import Folders, composed, listed, name_in_utf_8, real_path
from pipeline.ingest.sources.ignored import Ignored
from pipeline.records import Skipped

_MARKERS = frozenset(("_SUCCESS", "_metadata", "_common_metadata"))
"""Files that Spark and Dask write beside their tables, and that hold no rows."""


def is_pattern(path: str) -> bool:
    """Return whether ``path`` holds a wildcard."""
    return any(mark in path for mark in "*?[")


class Pattern:
    """A glob pattern, split into the folder before its first wildcard (``root``) and the names to match below it."""

    def __init__(self, pattern: str) -> None:
        parts = PurePath(pattern).parts
        plain = next(at for at, part in enumerate(parts) if is_pattern(part))
        self.root = Path(*parts[:plain])
        self._names = [None if part == "**" else re.compile(translate(part)) for part in parts[plain:]]

    def matches(self, names: Iterable[str]) -> bool:
        """Return whether a file matches; ``names`` are the parts of its path below the root."""
        return len(self._names) in self._reached(names)

    def may_hold(self, names: Iterable[str]) -> bool:
        """Return whether a file in this folder or below it may match."""
        return any(at < len(self._names) for at in self._reached(names))

    def _reached(self, names: Iterable[str]) -> set[int]:
        """Return the positions in the pattern after matching ``names``; a set, so that many ``**`` stay cheap."""
        reached = self._past_folders({0})
        for name in names:
            expected = ((at, self._names[at]) for at in reached if at < len(self._names))
            after = {at + bool(part) for at, part in expected if part is None or part.match(name)}
            reached = self._past_folders(after)
        return reached

    def _past_folders(self, reached: set[int]) -> set[int]:
        """Return ``reached`` with the positions after each ``**``, which may match no folder."""
        for at in sorted(reached):
            while at < len(self._names) and self._names[at] is None:
                at += 1
                reached.add(at)
        return reached


def taken_names(names: Iterable[str]) -> dict[str, str]:
    """Return those names of a folder that aren't hidden, and each as it is in keys, by which they are sorted.

    That is composed (NFC), unless another entry of the folder has that name.
    """
    found = sorted(name for name in names if name[:1] not in ("", ".") and name not in _MARKERS)
    taken, keys = set(found), dict[str, str]()
    for name in found:
        keys[name] = composed(name) if composed(name) not in taken else name
        taken.add(keys[name])
    return dict(sorted(keys.items(), key=itemgetter(1)))


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to read. ``key`` is its path relative to the root; ``named``: the caller gave its name."""

    path: Path
    key: str
    named: bool


def find(path: str, *, code: bool = False, within: Folders = None) -> Iterator[SourceFile | Skipped]:
    """Yield the file ``path``, all files below the folder ``path``, or all files that match the pattern ``path``.

    Files come folder by folder, sorted by name. Below a folder, hidden names and markers of Spark are skipped silently;
    a link to a folder is followed unless that folder is read anyway. With ``code``, what :class:`Ignored` leaves out is
    skipped silently, too. A folder that isn't really ``within`` these folders can't be opened. Raises SourceError if
    ``path`` doesn't exist or can't be opened, and if no file matches a pattern.
    """
    if not path:
        raise SourceError("an empty path was given", "Name a file, a folder or a pattern; . is the current folder.")
    place = Path(path).expanduser() if path.startswith("~") else Path(path)
    kind = _kind(path, place)
    if kind is None:
        pattern, matched = Pattern(str(place)), False
        walk = _Walk(pattern.root, pattern, code=code, within=within)
        for item in walk.files() if os.access(pattern.root, os.F_OK) else ():
            matched = matched or isinstance(item, SourceFile)
            yield item
        if not matched:
            raise SourceError(f"{path} matches no file", "A pattern names files: try one such as docs/**/*.md.")
    elif stat.S_ISDIR(kind):
        yield from _Walk(place, code=code, within=within).files()
    elif stat.S_ISREG(kind):
        yield SourceFile(place, composed(name_in_utf_8(place.name)), named=True)
    else:
        raise SourceError(f"{path} isn't a regular file", "Name a file, a folder or a pattern.")


def _kind(path: str, place: Path) -> int | None:
    """Return the mode of the file or folder at ``place``; None if it doesn't exist and ``path`` is a pattern."""
    try:
        return place.stat().st_mode
    except (FileNotFoundError, NotADirectoryError, ValueError):
        if is_pattern(path) and "\x00" not in path:
            return None
        raise SourceError(f"{path} doesn't exist", "Check the path; it is relative to the current folder.") from None
    except OSError as error:
        problem = unopenable(error)
        raise SourceError(f"{path} {problem.message}", problem.fix) from None


class _Entry(NamedTuple):
    """An entry of a folder; ``names`` are the parts of its path below the root, ``problem`` why it can't be read."""

    path: Path
    names: tuple[str, ...]
    is_link: bool
    is_folder: bool
    problem: str

    @classmethod
    def of(cls, entry: os.DirEntry[str], folder: Path, names: tuple[str, ...]) -> _Entry:
        """Return the entry of a folder; ``names`` are its own."""
        is_folder, problem = False, ""
        try:
            if not (is_folder := entry.is_dir()) and not entry.is_file():
                problem = "isn't a regular file"
                entry.stat()
        except FileNotFoundError:
            problem = "is a link to nothing"
        except OSError as error:
            problem = unopenable(error).message
        return cls(folder / entry.name, names, entry.is_symlink(), is_folder, problem)


class _Walk:
    """A walk through a folder and its subfolders, over all files or those that match ``pattern``."""

    def __init__(self, root: Path, pattern: Pattern | None = None, *, code: bool, within: Folders) -> None:
        self._root = root
        self._within = within
        self._pattern = pattern
        self._ignored = Ignored(root) if code else None
        self._reals = [Path(real_path(root))]

    def files(self) -> Iterator[SourceFile | Skipped]:
        """Yield the files in order. Raises SourceError if the root can't be opened."""
        try:
            pending = self._entries(self._root, ())
        except OSError as error:
            closed = unopenable(error)
            raise SourceError(f"{self._root} {closed.message}", closed.fix) from None
        # an explicit stack: folders may be nested deeper than Python's recursion limit
        while pending:
            entry = pending.pop()
            try:
                if entry.is_folder:
                    pending.extend(self._entries(entry.path, entry.names) if self._enters(entry) else ())
                    if self._leads_above(entry):
                        yield Skipped(str(entry.path), "is a link to a folder that holds the one that is read")
                elif not self._takes(entry.names):
                    continue
                elif entry.problem:
                    yield Skipped(str(entry.path), entry.problem)
                else:
                    yield SourceFile(entry.path, name_in_utf_8("/".join(entry.names)), named=False)
            except OSError as error:
                yield Skipped(str(entry.path), unopenable(error).message)

    def _entries(self, folder: Path, names: tuple[str, ...]) -> list[_Entry]:
        """Return the entries of ``folder`` that aren't hidden, last name first."""
        with listed(folder, self._within) as listing:
            found = {entry.name: entry for entry in listing}
            taken = taken_names(found).items()
            return [_Entry.of(found[name], folder, (*names, key)) for name, key in taken][::-1]

    def _takes(self, names: tuple[str, ...]) -> bool:
        """Return whether to read a file, as far as its path tells."""
        matches = self._pattern is None or self._pattern.matches(names)
        return matches and (self._ignored is None or not self._ignored.file(names))

    def _leads_above(self, entry: _Entry) -> bool:
        """Return whether a folder is a link to one above the root, whose other files aren't read."""
        if not entry.is_link or not self._may_hold(entry):
            return False
        real, root = Path(real_path(entry.path)), self._reals[0]
        return root != real and root.is_relative_to(real)

    def _may_hold(self, entry: _Entry) -> bool:
        """Return whether a folder may hold files to read, as far as its path tells."""
        holds = self._pattern is None or self._pattern.may_hold(entry.names)
        return holds and (self._ignored is None or not self._ignored.folder(entry.names))

    def _enters(self, entry: _Entry) -> bool:
        """Return whether a folder may hold matches, and is no link into a folder that is walked, or to its parents."""
        if not self._may_hold(entry):
            return False
        if entry.is_link:
            real = Path(real_path(entry.path))
            if any(real.is_relative_to(walked) or walked.is_relative_to(real) for walked in self._reals):
                return False
            self._reals.append(real)
        return True
