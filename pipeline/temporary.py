"""A folder for what is not finished, beside where it will go."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def temporary_folder(beside: Path, name: str) -> Iterator[Path]:
    """Yield an empty folder in ``beside`` and remove it at the end, with those that killed processes left behind.

    On the same file system as ``beside``, so that what is finished can be moved there in one step.
    The caller holds a lock, so that nobody else uses a folder of that ``name``.
    """
    prefix = f".{name}-"
    for stale in beside.glob(f"{prefix}*"):
        shutil.rmtree(stale, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=prefix, dir=beside, ignore_cleanup_errors=True) as scratch:
        yield Path(scratch)
