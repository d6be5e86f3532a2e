"""What the commands of a vault print, by its views."""

from __future__ import annotations

import pytest

from pipeline.cli.views.output import show
from pipeline.cli.views.summary import plan_table
from pipeline.domains.vault.note import NoteType
from pipeline.domains.vault.related import RelatedNote
from pipeline.domains.vault.requests import LinkStep, Traversal, TraversedNode
from pipeline.domains.vault.views import NAMES, related_view, traversal_view
from pipeline.ingest.update.changes import Plan


def note(title: str, *steps: LinkStep) -> TraversedNode:
    about = {"key": f"{title}.md", "title": title, "description": ""}
    return TraversedNode(**about, type=NoteType.CONCEPT, distance=len(steps), path=steps)


@pytest.mark.parametrize(
    ("relations", "sentences", "by"),
    [
        (("extends",), ("extends:: Alpha",), "extends: Alpha"),
        (("extends",), ("Beta goes further.",), "extends: Beta goes further."),
        (("Extends", "relates_to"), ("extends:: Alpha",), "relates_to: extends: Alpha"),
        ((), ("Beta goes further. extends:: Alpha",), "Beta goes further. extends: Alpha"),
        (("extends",), (), "extends: Beta.md -> Alpha.md"),
    ],
)
def test_a_link_is_said_to_be_of_its_type_once(
    relations: tuple[str, ...], sentences: tuple[str, ...], by: str, capsys: pytest.CaptureFixture[str]
) -> None:
    step = LinkStep(source="Beta.md", target="Alpha.md", relations=relations, sentences=sentences)
    show(traversal_view(Traversal(start=note("Beta"), nodes=(note("Alpha", step),), total=1, cursor=None)))

    heading, _, row = capsys.readouterr().out.splitlines()
    assert heading.split() == ["note", "links", "by"]
    assert row.split(maxsplit=2)[2] == by


def test_notes_of_one_title_are_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    show(related_view([RelatedNote(f"{folder}/Pruning.md", "Pruning", 1.0, 0.5, 0.1, False) for folder in "ab"]))

    assert [line.split()[1] for line in capsys.readouterr().out.splitlines()[2:]] == ["a/Pruning.md", "b/Pruning.md"]


def test_a_plan_speaks_of_the_vault(capsys: pytest.CaptureFixture[str]) -> None:
    show(plan_table(Plan("garden", (), (), (), (), 3, 0, (), (), 0, 0), NAMES))

    assert capsys.readouterr().out.splitlines()[0] == "vault      garden"
