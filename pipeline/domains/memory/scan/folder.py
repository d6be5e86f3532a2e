"""Read a folder that is no repository, without what Git ignores."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from pipeline.errors import SourceError
from pipeline.ingest.sources.ignored import Ignored
from pipeline.limits import Limits

_GIT = ".git"


def folder_files(folder: Path) -> Iterator[str]:
    """Yield the paths of the regular files below a folder, relative to it, with ``/``.

    Links are left out, as are names that aren't UTF-8 and what .gitignore files name. Raises SourceError if the folder
    can't be read.
    """
    if not folder.is_dir():
        raise SourceError(f"{folder} is no folder.", "Name a repository or a folder with source code.")
    ignored = Ignored(folder)
    for root, folders, names in os.walk(folder):
        above = Path(root).relative_to(folder).parts
        folders[:] = [
            name for name in folders if name != _GIT and _is_text(name) and not ignored.folder((*above, name))
        ]
        for name in names:
            if _is_text(name) and not ignored.file((*above, name)) and _is_regular(os.path.join(root, name)):  # noqa: PTH118  # much faster
                yield "/".join((*above, name))


def content_of(path: Path, limits: Limits) -> bytes | None:
    """Return the bytes of a file; None if there are more than the limit, or it can't be read."""
    try:
        with path.open("rb") as file:
            data = file.read(limits.bytes_read + 1)
    except OSError:
        return None
    return data if len(data) <= limits.bytes_read else None


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_regular(path: str) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False
