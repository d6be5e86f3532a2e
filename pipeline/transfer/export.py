"""Export a corpus as JSON Lines, GraphML or Parquet."""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from pipeline.errors import SourceError
from pipeline.temporary import replacing
from pipeline.transfer.formats import Format
from pipeline.transfer.portable import Part

Done = Callable[[int], None]


def export(parts: Iterable[Part], path: Path, form: Format, done: Done) -> None:
    """Write ``parts`` to ``path``; an existing file or table is replaced once everything is written.

    ``done`` receives the number of parts written. Raises SourceError if ``path`` can't be written.
    """
    if form is Format.PARQUET:
        from pipeline.transfer.parquet import write_parquet as write
    elif form is Format.GRAPHML:
        from pipeline.transfer.graphml import write_graphml as write
    else:
        write = _write_lines
    try:
        with replacing(path) as partial:
            write(_counted(parts, done), partial)
    except OSError as error:
        raise SourceError(
            f"{path} can't be written: {(error.strerror or str(error)).lower()}.", "Choose another place."
        ) from error


def _write_lines(parts: Iterable[Part], path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        for kind, value in parts:
            file.write(json.dumps({kind: value}, ensure_ascii=False) + "\n")


def _counted(parts: Iterable[Part], done: Callable[[int], None]) -> Iterator[Part]:
    for part in parts:
        yield part
        done(1)
