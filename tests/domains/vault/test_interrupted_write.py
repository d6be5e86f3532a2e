"""What a killed run left between a note's file and the corpus, the next one finishes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from pipeline.errors import CorpusError
from tests.domains.vault.gardens import Garden


def test_a_note_whose_run_was_killed_between_file_and_corpus_is_stored_by_the_next(
    garden: Garden, monkeypatch: pytest.MonkeyPatch
) -> None:
    garden.vault().create("Trellis", "Wood.")
    with killed_before_storing(monkeypatch):
        garden.vault().create("Greenhouse", "Glass for [[Tomatoes]].", folder=garden.folder)
    assert (garden.folder / "agents/alice/Greenhouse.md").read_text()

    with pytest.raises(CorpusError, match="already called"):
        garden.vault().create("Greenhouse", "Another text.", folder=garden.folder)
    made = garden.vault().create("Greenhouse", "Glass for [[Tomatoes]].", folder=garden.folder)

    assert made.key == "agents/alice/Greenhouse.md"
    assert "plants/Tomatoes.md" in garden.links(made.key)
    assert garden.sync().synced.plan.added == ()
    with pytest.raises(CorpusError, match="already called"):
        garden.vault().create("Greenhouse", "Glass for [[Tomatoes]].", folder=garden.folder)


@pytest.mark.slow
def test_an_empty_file_that_a_killed_run_left_is_filled(garden: Garden) -> None:
    (garden.folder / "agents/alice").mkdir(parents=True)
    garden.write("agents/alice/Greenhouse.md", "")

    made = garden.vault().create("Greenhouse", "Glass.", folder=garden.folder)

    assert made.key == "agents/alice/Greenhouse.md"
    assert garden.text(made.key).endswith("Glass.\n")


@pytest.mark.parametrize("created", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_link_whose_run_was_killed_between_file_and_corpus_is_stored_by_the_next(
    garden: Garden, monkeypatch: pytest.MonkeyPatch, *, created: bool
) -> None:
    source = garden.vault().create("Greenhouse", "Glass.").key if created else "plants/Basil.md"
    with killed_before_storing(monkeypatch):
        garden.vault().link(source, "Frost", "keeps out", folder=garden.folder)
    assert garden.text(source).count("[[Frost]]") == 1
    assert "plants/Frost.md" not in garden.links(source)

    again = garden.vault().link(source, "Frost", "keeps out", folder=garden.folder)
    third = garden.vault().link(source, "Frost", "keeps out", folder=garden.folder)

    assert (again.created, third.created) == (True, False)
    assert garden.links(source)["plants/Frost.md"][0] == ("keeps out",)
    assert garden.text(source).count("[[Frost]]") == 1


@contextmanager
def killed_before_storing(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let a run end, as by a kill, when it has decided and is about to store what it decided."""

    def die(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("pipeline.flows.ingest.detect_changes", die)
        with suppress(KeyboardInterrupt):
            yield
            pytest.fail("it stored something")
