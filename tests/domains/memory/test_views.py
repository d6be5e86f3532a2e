"""What the commands of a memory print, by its views."""

from __future__ import annotations

import pytest

from pipeline.cli.views.output import show
from pipeline.domains.memory.cli.options import Where
from pipeline.domains.memory.records import Fact
from pipeline.domains.memory.views import history_view

COMMIT = "commit 3f2a9c0d1e2b3c4d5e6f708192a3b4c5d6e7f809"
DAY = "2026-01-01T00:00:00+00:00"
FACT = Fact("d|file|a.py", "imports", "d|library|numpy", valid_at=DAY, created_at=DAY, evidence=(COMMIT,))


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def test_a_commit_takes_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    show(history_view([FACT]))

    (row,) = [line for line in capsys.readouterr().out.splitlines() if "imports" in line]
    assert row.endswith("commit 3f2a9c0d1e")


def test_a_reason_is_cut_between_words(capsys: pytest.CaptureFixture[str]) -> None:
    reason = "chat:2: I see that the service depends on numpy, and it keeps its tables in a base"
    show(history_view([Fact("d|file|a", "imports", "d|library|b", created_at=DAY, evidence=(reason,))]))

    shown = " ".join(part for line in capsys.readouterr().out.splitlines()[2:] for part in line[-30:].split())
    assert shown.endswith("and it…")


def test_only_a_question_of_the_past_says_then() -> None:
    assert (Where().then, Where(as_of="2026-01-01").then, Where(known_at="2026-01-01").then) == ("", " then", " then")
