"""Small vaults in files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from pipeline import HopRank
from pipeline.domains.vault.maps import drop_vault
from pipeline.domains.vault.note import Folder
from pipeline.domains.vault.sources import read_folder
from tests.domains.vault.gardens import Garden

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


@contextmanager
def made_garden(hoprank: HopRank, folder: Path) -> Iterator[Garden]:
    made = Garden(hoprank, folder)
    yield made
    drop_vault(hoprank, made.name)


@pytest.fixture
def garden(hoprank: HopRank, tmp_path: Path) -> Iterator[Garden]:
    """A garden of the test's own."""
    with made_garden(hoprank, tmp_path / "garden") as made:
        yield made


@pytest.fixture(scope="session")
def kept(hoprank: HopRank, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Garden]:
    """A garden that tests only read."""
    with made_garden(hoprank, tmp_path_factory.mktemp("garden")) as made:
        yield made


@pytest.fixture(scope="session")
def shared_garden(hoprank: HopRank, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Garden]:
    """A garden to which tests only add notes, under titles that no other test uses."""
    with made_garden(hoprank, tmp_path_factory.mktemp("garden")) as made:
        yield made
