"""Temporary files and folders on the same file system as the destination of their content."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def temporary_folder(beside: Path, name: str) -> Iterator[Path]:
    """Yield an empty folder in ``beside`` and remove it at the end; first remove folders that killed processes left.

    It is on the same file system as ``beside``, so that finished content can be moved there atomically. The caller must
    hold a lock, so that no other process uses a folder with this ``name``.
    """
    prefix = f".{name}-"
    for stale in beside.glob(f"{prefix}*"):
        shutil.rmtree(stale, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=prefix, dir=beside, ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a path beside ``path`` to write a file or a folder of files to; it replaces ``path`` at the end.

    No reader sees a partial file. On an error the partial content is deleted, and ``path`` stays as it was. The files
    of a folder replace those of the same names one by one. A device or a pipe is written directly, since replacing it
    would break its other users.
    """
    path = path.resolve()  # a symbolic link stays one
    if path.exists() and not (path.is_file() or path.is_dir()):
        yield path
        return
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        yield partial
        if path.is_dir():
            for file in partial.iterdir():
                file.replace(path / file.name)
        else:
            partial.replace(path)
    finally:
        if partial.is_dir():
            shutil.rmtree(partial, ignore_errors=True)
        else:
            partial.unlink(missing_ok=True)
