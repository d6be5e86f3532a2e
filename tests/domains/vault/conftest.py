"""Small vaults in files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from pipeline.domains.vault.note import Folder
from pipeline.domains.vault.sources import read_folder

Files = Mapping[str, str | bytes]


@pytest.fixture
def write(tmp_path: Path) -> Callable[[Files], Path]:
    """Write files, given by path, below a folder, and return that."""

    def make(files: Files) -> Path:
        for path, content in files.items():
            file = tmp_path / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return tmp_path

    return make


@pytest.fixture
def vault(write: Callable[[Files], Path]) -> Callable[[Files], Folder]:
    """Write files, and read them as a vault."""
    return lambda files: read_folder(write(files))
