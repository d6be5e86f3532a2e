"""Exporting: a corpus to JSON lines, GraphML or Parquet."""

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
    """Write ``parts`` to ``path``; what was there is replaced once all is written.

    Raises SourceError if it can't be written.
    """
    if form is Format.PARQUET:
        from pipeline.transfer.parquet import write_parquet as write
    elif form is Format.GRAPHML:
        from pipeline.transfer.graphml import write_graphml as write
    else:
        write = _write_lines
    try:
        with _replaced(path) as beside:
            write(_counted(parts, done), beside)
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
def _replaced(path: Path) -> Iterator[Path]:
    """Yield a place beside ``path`` to write to, which takes its name at the end."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield beside
        if path.is_dir():
            for table in beside.iterdir():
                table.replace(path / table.name)
            beside.rmdir()
        else:
            beside.replace(path)
    except BaseException:
        _discard(beside)
        raise


def _discard(path: Path) -> None:
    if path.is_dir():
        for table in path.iterdir():
            table.unlink()
        path.rmdir()
    else:
        path.unlink(missing_ok=True)
