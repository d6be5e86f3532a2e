"""What the commands of a vault print, by its views."""

from __future__ import annotations

import pytest

from pipeline.cli.views.output import show
from pipeline.cli.views.summary import plan_table
from pipeline.domains.vault.related import RelatedNote
from pipeline.domains.vault.views import NAMES, related_view
from pipeline.ingest.update.changes import Plan


def test_notes_of_one_title_are_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    show(related_view([RelatedNote(f"{folder}/Pruning.md", "Pruning", 1.0, 0.5, 0.1, False) for folder in "ab"]))

    assert [line.split()[1] for line in capsys.readouterr().out.splitlines()[2:]] == ["a/Pruning.md", "b/Pruning.md"]


def test_a_plan_speaks_of_the_vault(capsys: pytest.CaptureFixture[str]) -> None:
    show(plan_table(Plan("garden", (), (), (), (), 3, 0, (), (), 0, 0), NAMES))

    assert capsys.readouterr().out.splitlines()[0] == "vault      garden"
