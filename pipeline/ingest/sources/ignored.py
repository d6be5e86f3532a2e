"""Files of a source tree that its authors didn't write: installed packages, builds, and what Git ignores."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

_INSTALLED = frozenset("node_modules bower_components jspm_packages site-packages __pycache__ venv Pods".split())
BUILT = frozenset("build dist target vendor htmlcov".split())
"""Folders that are left out unless they are packages of Python."""


def is_foreign(name: str, has: Callable[[str], bool]) -> bool:
    """Return whether a folder holds installed packages or a build; ``has`` tells whether a file is directly in it."""
    if name in _INSTALLED or name.endswith(".egg-info") or has("pyvenv.cfg"):
        return True
    return name in BUILT and not has("__init__.py")


def own_files(folder: Path, shown: Callable[[str], bool]) -> Iterator[str]:
    """Yield the paths of the files below a folder, relative to it, with ``/``, sorted by name within each folder.

    Left out are what :class:`Ignored` says, and files and folders whose names aren't ``shown``. Links to folders are
    not followed.
    """
    ignored = Ignored(folder)
    for root, folders, names in os.walk(folder):
        above = Path(root).relative_to(folder).parts
        folders[:] = sorted(name for name in folders if shown(name) and not ignored.folder((*above, name)))
        for name in sorted(names):
            if shown(name) and not ignored.file((*above, name)):
                yield "/".join((*above, name))


class Ignored:
    """Decides which files and folders below a root to leave out, by their names and by the ``.gitignore`` files.

    The rules count from the root of the Git repository on, unless they leave out the root itself.
    """

    def __init__(self, root: Path) -> None:
        self._root = root.absolute()
        self._specs: dict[Path, GitIgnoreSpec] = {}
        repository = next((folder for folder in (self._root, *self._root.parents) if (folder / ".git").exists()), None)
        self._top = repository or self._root
        if any(self._by_git(folder, "/") for folder in (self._root, *self._root.parents)):
            self._top = self._root

    def folder(self, names: Sequence[str]) -> bool:
        """Return whether to leave out the folder with this path below the root."""
        path, name = self._root.joinpath(*names), names[-1]
        return is_foreign(name, lambda file: (path / file).is_file()) or self._by_git(path, "/")

    def file(self, names: Sequence[str]) -> bool:
        """Return whether to leave out the file with this path below the root."""
        return self._by_git(self._root.joinpath(*names), "")

    def _by_git(self, path: Path, mark: str) -> bool:
        """Return whether Git ignores ``path``, by the innermost rule for it; ``mark`` is a slash for a folder."""
        for folder in path.parents:
            if not folder.is_relative_to(self._top):
                return False
            decided = self._spec(folder).check_file(path.relative_to(folder).as_posix() + mark).include
            if decided is not None:
                return decided
        return False

    def _spec(self, folder: Path) -> GitIgnoreSpec:
        """Return the rules of ``folder``; none if it has no file of them that can be read."""
        if folder not in self._specs:
            try:
                # As Git does, so that a link can't try another file's lines as patterns.
                with open(folder / ".gitignore", encoding="utf-8-sig", errors="replace", opener=_unfollowed) as file:
                    lines = file.read().splitlines()
            except OSError:
                lines = []
            self._specs[folder] = _parsed(lines)
        return self._specs[folder]


def _unfollowed(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0))


class _Pattern(GitIgnoreSpecPattern):
    """A pattern whose time doesn't grow by the power of its wildcards."""

    @classmethod
    def pattern_to_regex(cls, pattern: Any) -> tuple[Any, bool | None]:
        regex, include = super().pattern_to_regex(pattern)
        return regex and _without_backtracking(regex), include


_STAR, _FOLDERS, _ANY_FOLDERS = "[^/]*", "(?:/.+)?", "^(?:.+/)?"
"""``*`` in a name, ``**`` between folders and ``**`` before the first, as pathspec translates them."""

_NEGATED = re.compile(r"\[\^(?!/\])")
"""A set of other characters, ``[!a]``, which for Git never holds a slash."""


def _without_backtracking(regex: str) -> str:
    """Return pathspec's expression so that what stands before another wildcard matches the first time that it can.

    Where that is, the later wildcard has the most to match; so no other place needs to be tried.
    """
    in_a_name = _NEGATED.sub("[^/", regex)
    first, *more = (_first_matches(block) for block in in_a_name.split(_FOLDERS))
    if more and first.startswith(_ANY_FOLDERS):
        first = f"(?>^(?:.+?/)??{first.removeprefix(_ANY_FOLDERS)}(?=/))"
    between = (f"(?>(?:/.+?)??{block}(?=/))" for block in more[:-1])
    return "".join([first, *between, *(_FOLDERS + block for block in more[-1:])])


def _first_matches(block: str) -> str:
    """Do the same between two ``*`` of a name."""
    first, *more = block.split(_STAR)
    between = (f"{_STAR}{part}" if "/" in part.replace("[^/]", "") else f"(?>{_STAR}?{part})" for part in more[:-1])
    return "".join([first, *between, *(_STAR + part for part in more[-1:])])


def git_rules(lines: Iterable[str]) -> GitIgnoreSpec:
    """Return the rules of a ``.gitignore``, or of a file that is written like one. Raises ValueError."""
    # Where re2 is installed, pathspec would take it, which reads other expressions.
    return GitIgnoreSpec.from_lines(lines, _Pattern, backend="simple")


def _parsed(lines: Sequence[str]) -> GitIgnoreSpec:
    """Return the rules of ``lines`` without those that are malformed, as Git does."""
    try:
        return git_rules(lines)
    except ValueError:
        single = [_parsed([line]) for line in lines] if len(lines) > 1 else []
        return GitIgnoreSpec(pattern for spec in single for pattern in spec.patterns)
