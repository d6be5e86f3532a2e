"""``hoprank vault`` as a user runs it: sync, context, related, evaluate, and wrong input."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from pipeline.cli.app import app
from tests.domains.vault.gardens import APIARY, NOTES

Run = Callable[..., Result]


@pytest.fixture(scope="module")
def run(server_environment: dict[str, str]) -> Run:
    """Run a command of the vault."""

    def command(*arguments: str, code: int = 0) -> Result:
        result = CliRunner().invoke(app, ["vault", *arguments], env={**server_environment, "COLUMNS": "100"})
        assert result.exit_code == code, result.output
        return result

    return command


@pytest.fixture(scope="module")
def synced(run: Run, new_corpus: Callable[[], Any]) -> Iterator[tuple[str, str]]:
    """The name of the synced vault, and what its sync printed."""
    with new_corpus() as name:
        yield name, run("sync", str(APIARY), "--vault", name).stdout


@pytest.mark.slow
def test_a_sync_says_what_it_did_and_what_the_links_are(synced: tuple[str, str], run: Run) -> None:
    name, printed = synced
    again = json.loads(run("sync", str(APIARY), "--vault", name, "--json").stdout)

    assert f"{len(NOTES)} (" in printed
    assert "29 of 29 name a note" in printed
    assert again["links"]["resolved"] == again["links"]["written"] == 29
    assert again["plan"]["unchanged"] == len(NOTES)


@pytest.mark.slow
def test_context_is_a_section_for_a_prompt(synced: tuple[str, str], run: Run) -> None:
    name, _ = synced
    text = run("context", "How do I count mites?", "--vault", name).stdout
    most = json.loads(run("context", "Treating mites in December", "--vault", name, "--json").stdout)
    document = json.loads(
        run("context", "Treating mites in December", "--vault", name, "--json", "--top-k", "1").stdout
    )
    nothing = run("context", "Convert 15 miles to kilometres", "--vault", name)

    assert text.startswith("## Relevant Knowledge\n\n### Varroa mite\n")
    assert {note["key"] for note in most["notes"]} == {"health/Oxalic acid.md", "winter/Wintering a colony.md"}
    assert [note["key"] for note in document["notes"]] == [most["notes"][0]["key"]]
    assert nothing.stdout == ""
    assert "No note is relevant" in nothing.stderr


def test_related_notes_are_found_by_title_or_alias(synced: tuple[str, str], run: Run) -> None:
    name, _ = synced
    related = json.loads(run("related", "queen bee", "--vault", name, "--json", "--top-k", "3").stdout)
    unknown = run("related", "Quen", "--vault", name, code=2)

    assert {note["key"] for note in related} <= set(NOTES)
    assert related[0]["linked"]
    assert "Did you mean 'Queen'?" in unknown.stderr


@pytest.mark.slow
def test_a_measurement_is_written_as_json(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "report.json"

    printed = run("evaluate", str(APIARY), "--hide", "0.3", "--seed", "3", "--json", str(file)).stdout

    assert set(json.loads(file.read_text(encoding="utf-8"))["metrics"]) == {"vector", "links", "hoprank"}
    assert "links alone" in printed


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("sync", "/nowhere"), "is no folder"),
        (("sync", ".", "--watch", "--dry-run"), "contradict"),
        (("context", " ", "--vault", "nowhere"), "empty"),
        (("context", "x", "--vault", "nowhere"), "There is no vault 'nowhere'"),
        (("evaluate", "/nowhere"), "is no folder"),
    ],
)
def test_wrong_input_exits_with_2_and_names_it(run: Run, arguments: tuple[str, ...], says: str) -> None:
    assert says in run(*arguments, code=2).stderr
