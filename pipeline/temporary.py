"""A temporary folder on the same file system as the destination of its content."""

from __future__ import annotations

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
