"""Noticing changes to what is synced."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from pipeline.ingest.sources.watch import changes


@pytest.mark.parametrize("watched", [".", "notes/*.md", "notes/a.md"])
def test_a_change_is_noticed_and_many_at_once_are_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, watched: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/a.md").write_text("before")
    stop, seen = threading.Event(), threading.Event()
    found: list[None] = []

    def follow() -> None:
        for change in changes([watched], stop):
            found.append(change)
            seen.set()

    follower = threading.Thread(target=follow)
    follower.start()
    while not seen.wait(0.2):
        # The watch may not have begun when the first is written.
        (tmp_path / "notes/a.md").write_text(f"after {len(found)}")
    stop.set()
    follower.join()

    assert found
