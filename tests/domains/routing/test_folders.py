"""Projects by their folders: which one holds a place, through links and nested ones."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pipeline.domains.routing.folders import ProjectFolders, working_folder
from pipeline.domains.routing.schema import REFERENCE, Project


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two projects, of which one holds a third, and links that lead to them."""
    for name in ("patina/src/deep", "patina/vendor/dojo/core", "patina-two", "links"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "links" / "code").symlink_to(tmp_path / "patina" / "src")
    (tmp_path / "links" / "home").symlink_to(tmp_path / "patina")
    (tmp_path / "links" / "loop").symlink_to(tmp_path / "links" / "loop")
    (tmp_path / "note.md").write_text("x", encoding="utf-8")
    return tmp_path


def folders(folder: Path, **paths: str) -> ProjectFolders:
    return ProjectFolders([Project(name, path=str(folder / path) if path else "") for name, path in paths.items()])


@pytest.mark.parametrize(
    ("place", "project"),
    [
        ("patina", "patina"),
        ("patina/src/deep", "patina"),
        ("patina/gone/away", "patina"),
        ("patina/vendor", "patina"),
        ("patina/vendor/dojo", "dojo"),
        ("patina/vendor/dojo/core", "dojo"),
        ("patina-two", ""),
        (".", ""),
        ("links", ""),
        ("links/code", "patina"),
        ("links/code/deep", "patina"),
        ("links/loop", ""),
        ("patina/src/../../patina-two", ""),
    ],
)
def test_the_deepest_project_holds_a_place(folder: Path, place: str, project: str) -> None:
    known = folders(folder, patina="patina", dojo="patina/vendor/dojo", nowhere="", gone="gone", loop="links/loop/x")

    assert known.holding(folder / place) == project


def test_links_are_resolved_ones_own_project_comes_first_and_a_file_holds_itself(folder: Path) -> None:
    linked, note, path = folders(folder, patina="links/home"), folders(folder, note="note.md"), str(folder / "patina")
    both = [Project("another", REFERENCE, path), Project("mine", path=path), Project("yours", path=path)]

    assert linked.holding(folder / "patina" / "src") == linked.holding(folder / "links" / "home" / "src") == "patina"
    assert ProjectFolders(both).holding(path) == "mine"
    assert (note.holding(folder / "note.md"), note.holding(folder)) == ("note", "")


def test_a_relative_path_holds_nothing_and_is_held_by_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder / "patina")

    assert ProjectFolders([Project("here", path="."), Project("src", path="src")]).holding(folder / "patina/src") == ""
    assert folders(folder, patina="patina").holding("src") == ""


def test_a_working_folder_that_is_gone_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    assert working_folder() == Path(os.path.realpath(gone))
    gone.rmdir()

    assert working_folder() is None
