"""CODEOWNERS: who is responsible for which files."""

from __future__ import annotations

import re
from functools import lru_cache

from pathspec import GitIgnoreSpec

PLACES = (".github/CODEOWNERS", ".gitlab/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")
"""Paths of the file; the first that exists counts."""

_MOST_RULES = 1000
_WILDCARD = re.compile(r"\*+|\?")
_MOST_WILDCARDS = 4
"""A pattern takes time by the power of its wildcards."""

_OWNER = re.compile(r"@[\w./-]+|[^@\s]+@[^@\s]+")
_SECTION = re.compile(r"\^?\[")


class Owners:
    """The rules of a CODEOWNERS file: the last that matches a path tells its owners, as they are written."""

    def __init__(self, text: str) -> None:
        lines = [rule for line in text.splitlines() if (rule := _rule(line))]
        self._rules = [(GitIgnoreSpec.from_lines([pattern]), owners) for pattern, owners in lines[-_MOST_RULES:]]
        self.of = lru_cache(maxsize=100_000)(self._of)
        """Return the owners of a file, or of a folder given with a slash at its end."""

    def _of(self, path: str) -> tuple[str, ...]:
        for spec, owners in reversed(self._rules):
            if spec.match_file(path):
                return owners
        return ()


def _rule(line: str) -> tuple[str, tuple[str, ...]] | None:
    """Return the pattern of a line and its owners; a pattern without any means that nobody owns what it matches."""
    words = re.split(r"(?<!\\)\s+", line.split(" #")[0].strip())
    pattern = words[0]
    if not pattern or pattern.startswith(("#", "!")) or _SECTION.match(pattern):
        return None
    if len(_WILDCARD.findall(pattern)) > _MOST_WILDCARDS:
        return None
    try:
        GitIgnoreSpec.from_lines([pattern])
    except ValueError:
        return None
    return pattern, tuple(dict.fromkeys(word for word in words[1:] if _OWNER.fullmatch(word)))
