"""What the commands of a vault print, by its views."""

from __future__ import annotations

import pytest

from pipeline.cli.views.output import show
from pipeline.domains.vault.related import RelatedNote
from pipeline.domains.vault.views import related_view


def test_notes_of_one_title_are_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    show(related_view([RelatedNote(f"{folder}/Pruning.md", "Pruning", 1.0, 0.5, 0.1, False) for folder in "ab"]))

    assert [line.split()[1] for line in capsys.readouterr().out.splitlines()[2:]] == ["a/Pruning.md", "b/Pruning.md"]
