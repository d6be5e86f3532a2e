"""Find the files of paths, folders and glob patterns, each with the key of its document.

In a pattern, ``*`` and ``?`` match within a name, ``**`` matches any number of folders.
"""

import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import translate
from pathlib import Path, PurePath

from pipeline.errors import SourceError
from pipeline.files import unopenable, well_formed
from pipeline.ingest.sources.ignored import Ignored
from pipeline.records import Skipped


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


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to read. ``key`` is its path relative to the root; ``named``: the caller gave its name."""

    path: Path
    key: str
    named: bool


def find(path: str, *, code: bool = False) -> Iterator[SourceFile | Skipped]:
    """Yield the file ``path``, all files below the folder ``path``, or all files that match the pattern ``path``.

    Files come folder by folder, sorted by name. Below a folder, hidden names are skipped silently; a link to a folder
    is followed unless that folder is read anyway. With ``code``, what :class:`Ignored` leaves out is skipped
    silently, too. Raises SourceError if ``path`` doesn't exist or can't be opened, and if no file matches a pattern.
    """
    if not path:
        raise SourceError("an empty path was given", "Name a file, a folder or a pattern; . is the current folder.")
    place = Path(path).expanduser() if path.startswith("~") else Path(path)
    kind = _kind(path, place)
    if kind is None:
        pattern, matched = Pattern(str(place)), False
        for item in _Walk(pattern.root, pattern, code=code).files() if os.access(pattern.root, os.F_OK) else ():
            matched = matched or isinstance(item, SourceFile)
            yield item
        if not matched:
            raise SourceError(f"{path} matches no file", "A pattern names files: try one such as docs/**/*.md.")
    elif stat.S_ISDIR(kind):
        yield from _Walk(place, code=code).files()
    elif stat.S_ISREG(kind):
        yield SourceFile(place, well_formed(place.name), named=True)
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


class _Walk:
    """A walk through a folder and its subfolders, over all files or those that match ``pattern``."""

    def __init__(self, root: Path, pattern: Pattern | None = None, *, code: bool) -> None:
        self._root = root
        self._pattern = pattern
        self._ignored = Ignored(root) if code else None
        self._reals = [Path(os.path.realpath(root))]

    def files(self) -> Iterator[SourceFile | Skipped]:
        """Yield the files in order. Raises SourceError if the root can't be opened."""
        try:
            pending = self._entries(self._root, ())
        except OSError as error:
            closed = unopenable(error)
            raise SourceError(f"{self._root} {closed.message}", closed.fix) from None
        # an explicit stack: folders may be nested deeper than Python's recursion limit
        while pending:
            entry, names = pending.pop()
            try:
                if entry.is_dir():
                    pending.extend(self._entries(Path(entry.path), names) if self._enters(entry, names) else ())
                elif not self._takes(names):
                    continue
                elif entry.is_file():
                    yield SourceFile(Path(entry.path), well_formed("/".join(names)), named=False)
                else:
                    problem = "isn't a regular file" if Path(entry.path).exists() else "is a link to nothing"
                    yield Skipped(entry.path, problem)
            except OSError as error:
                yield Skipped(entry.path, unopenable(error).message)

    def _entries(self, folder: Path, names: tuple[str, ...]) -> list[tuple[os.DirEntry[str], tuple[str, ...]]]:
        """Return the entries of ``folder`` that aren't hidden, last name first, each with its path below the root."""
        with os.scandir(folder) as listing:
            visible = (entry for entry in listing if not entry.name.startswith("."))
            entries = sorted(visible, key=lambda entry: entry.name, reverse=True)
        return [(entry, (*names, entry.name)) for entry in entries]

    def _takes(self, names: tuple[str, ...]) -> bool:
        """Return whether to read a file, as far as its path tells."""
        matches = self._pattern is None or self._pattern.matches(names)
        return matches and (self._ignored is None or not self._ignored.file(names))

    def _enters(self, entry: os.DirEntry[str], names: tuple[str, ...]) -> bool:
        """Return whether a folder may hold matches, and is no link into a folder that is walked, or to its parents."""
        holds = self._pattern is None or self._pattern.may_hold(names)
        if not holds or (self._ignored is not None and self._ignored.folder(names)):
            return False
        if entry.is_symlink():
            real = Path(os.path.realpath(entry.path))
            if any(real.is_relative_to(walked) or walked.is_relative_to(real) for walked in self._reals):
                return False
            self._reals.append(real)
        return True
