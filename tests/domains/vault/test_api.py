"""The face of a vault, and the page's commonest jobs."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from pipeline import HopRank, Vault
from tests.domains.python_page import run_section

NOTES = {
    "notes/Session handoff.md": (
        "---\ndescription: How a session ends.\n---\n# Session handoff\n\n"
        "Write down where you are at the end of a session, before the [[Daily review]].\n"
    ),
    "notes/Daily review.md": "# Daily review\n\nLook at the day, and at what every [[Session handoff]] left open.\n",
    "notes/Sourdough.md": "# Sourdough\n\nBread rises by wild yeast; see [[Flour]].\n",
    "notes/templates/Day.md": "# {{date}}\n",
}


@pytest.mark.slow
def test_the_pages_jobs_run(
    hoprank: HopRank,
    write: Callable[[Mapping[str, str | bytes]], Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(write(dict(NOTES)))
    vault = Vault(hoprank, f"notes-{uuid.uuid4().hex[:12]}")
    try:
        named = run_section("Vaults", hoprank=hoprank, Vault=lambda *_: vault)
    finally:
        vault.drop()

    printed = capsys.readouterr().out
    assert "'Sourdough.md') 1\n" in printed
    assert "## Relevant Knowledge\n\n### Session handoff" in printed
    assert "('Daily review', True)" in printed
    assert named["note"].key == "agents/Standing desk.md"  # type: ignore[attr-defined]
    assert "[[Daily review|Daily review]]" in printed
