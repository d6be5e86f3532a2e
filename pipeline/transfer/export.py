"""Export a corpus as JSON Lines, GraphML or Parquet."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pipeline.errors import SourceError
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
        with _replacement(path) as partial:
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


@contextmanager
def _replacement(path: Path) -> Iterator[Path]:
    """Yield a temporary path in the same folder; rename it to ``path`` at the end, or delete it on an error."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield partial
        if path.is_dir():
            for table in partial.iterdir():
                table.replace(path / table.name)
            partial.rmdir()
        else:
            partial.replace(path)
    except BaseException:
        _discard(partial)
        raise


def _discard(path: Path) -> None:
    if path.is_dir():
        for table in path.iterdir():
            table.unlink()
        path.rmdir()
    else:
        path.unlink(missing_ok=True)
