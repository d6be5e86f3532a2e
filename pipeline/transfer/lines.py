"""Write and read a corpus as JSON Lines: one part a line, under the name of its kind."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from pipeline.files import lines
from pipeline.transfer.check import GUARD, checked
from pipeline.transfer.formats import Part


def write_lines(parts: Iterable[Part], path: Path) -> None:
    """Write ``parts`` to a file, one a line."""
    with path.open("w", encoding="utf-8") as file:
        for kind, value in parts:
            file.write(json.dumps({kind: value}, ensure_ascii=False, sort_keys=True) + "\n")


def read_lines(path: Path) -> Iterator[Part]:
    """Yield the parts of a corpus that :func:`write_lines` wrote.

    Raises SourceError naming file and line if a line is no part of a corpus, if the file can't be read or if it is
    truncated.
    """
    objects = ((line.object(), line) for line in lines(path, GUARD))
    named = ((next(iter(value), "") if len(value) == 1 else "", value, line) for value, line in objects)
    yield from checked(path, ((kind, value.get(kind), line) for kind, value, line in named))
