"""Check that no two files hold a document with the same key."""

from __future__ import annotations

from pathlib import Path

from pipeline.errors import SourceError


class UniqueKeys:
    """Keys of the documents so far, and their files."""

    def __init__(self) -> None:
        self._places: dict[str, tuple[Path, int]] = {}

    def add(self, key: str, path: Path, line: int = 0) -> None:
        """Record that ``path`` holds the document ``key``, on ``line`` if it is a .jsonl file.

        Raises SourceError, naming both places, if another file or line holds it too.
        """
        other, other_line = self._places.setdefault(key, (path, line))
        if (other, other_line) == (path, line):
            return
        if other == path:
            raise SourceError(
                f"{path} gives the id {key!r} on line {other_line} and again on line {line}",
                "Give every line an id of its own.",
            )
        raise SourceError(
            f"{_place(other, other_line)} and {_place(path, line)} both give the document {key!r}",
            "Ingest them into corpora of their own, or give the folder that holds both.",
        )


def _place(path: Path, line: int) -> str:
    return f"{path} (line {line})" if line else str(path)
