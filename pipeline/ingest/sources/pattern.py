"""Glob patterns over paths: ``*`` and ``?`` match within a name, ``**`` matches any number of folders."""

import re
from collections.abc import Iterable
from fnmatch import translate
from pathlib import Path, PurePath

_MAGIC = re.compile(r"[*?\[]")


def is_pattern(path: str) -> bool:
    """Return whether ``path`` holds a wildcard."""
    return _MAGIC.search(path) is not None


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
            after = set()
            for at in reached:
                if at == len(self._names):
                    continue
                expected = self._names[at]
                if expected is None:
                    after.add(at)
                elif expected.match(name):
                    after.add(at + 1)
            reached = self._past_folders(after)
        return reached

    def _past_folders(self, reached: set[int]) -> set[int]:
        """Return ``reached`` with the positions after each ``**``, which may match no folder."""
        for at in sorted(reached):
            while at < len(self._names) and self._names[at] is None:
                at += 1
                reached.add(at)
        return reached
