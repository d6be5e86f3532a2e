"""Read a corpus that was exported as JSON Lines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from pipeline.errors import SourceError
from pipeline.transfer.portable import Part

_FIELDS = {
    "corpus": ("format", "schema", "name", "fingerprint", "dimension", "chunker", "analyzer", "edges"),
    "document": ("key", "title"),
    "chunk": ("document", "ordinal", "text", "title", "heading", "links", "embedded"),
    "entity": ("key", "name"),
    "counts": ("kind", "shard", "counts"),
    "edge": ("kind", "source", "target"),
}


def read_lines(path: Path) -> Iterator[Part]:
    """Yield the parts that ``hoprank corpus export`` wrote to ``path``.

    Raises SourceError naming file and line if a line is no part of a corpus, if the file can't be read or if it is
    truncated.
    """
    counts = {"document": 0, "chunk": 0, "entity": 0}
    head: dict[str, int] = {}
    number = 0
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                part = _part(path, number, line)
                if part.kind == "corpus":
                    head = part.value
                elif part.kind in counts:
                    counts[part.kind] += 1
                yield part
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"{path} can't be read: {error}.", "Give a file that corpus export wrote.") from error
    incomplete = [f"{kind}s" for kind, count in counts.items() if head.get(_plural(kind), count) != count]
    if incomplete:
        raise SourceError(f"{path} ends early, after line {number}: {incomplete[0]} are missing.", "Export it again.")


def _plural(kind: str) -> str:
    return "entities" if kind == "entity" else f"{kind}s"


def _part(path: Path, number: int, line: str) -> Part:
    try:
        ((kind, value),) = json.loads(line).items()
        missing = [name for name in _FIELDS[kind] if name not in value]
    except (ValueError, AttributeError, KeyError, TypeError):
        missing = ["a part of a corpus"]
    if missing:
        raise SourceError(
            f"{path}, line {number} isn't a line of an export: it lacks {missing[0]}.",
            "Give a file that `hoprank corpus export` wrote as jsonl.",
        )
    return Part(kind, value)
