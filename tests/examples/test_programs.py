"""The programs among the examples, as their readers would run them."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from pipeline import HopRank, KnowledgeGraph, Vault
from pipeline.embedding.embedder import Embedder
from pipeline.errors import InputError, UnknownCorpus
from pipeline.examples import example_corpus
from pipeline.flows.maintain import drop

PROGRAMS = Path(example_corpus()).parent / "programs"
LONGEST = 32
"""Lines of a program that a reader takes in at a glance."""

Run = Callable[..., str]


@pytest.fixture
def run(
    hoprank: HopRank,
    server_environment: dict[str, str],
    embedder: Embedder,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Iterator[Run]:
    """Run a program on the tests' server; what it keeps there is dropped."""
    for name, value in server_environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("pipeline.api.make_embedder", lambda _: embedder)

    def printed(program: str, *arguments: str) -> str:
        monkeypatch.setattr(sys, "argv", [program, *arguments])
        runpy.run_path(str(PROGRAMS / program), run_name="__main__")
        return capsys.readouterr().out

    yield printed
    for name in ("example-ask", "example-tickets"):
        with suppress(UnknownCorpus):
            drop(hoprank.client, name)
    with suppress(InputError):
        Vault(hoprank, "example-notes").drop()
    KnowledgeGraph("example-services", client=hoprank.client).drop()


def test_programs_are_short_and_import_the_public_names_alone() -> None:
    texts = [path.read_text(encoding="utf-8") for path in PROGRAMS.glob("*.py")]

    assert len(texts) == 4
    assert all(len(text.splitlines()) <= LONGEST for text in texts)
    assert all("from hoprank import " in text and "pipeline" not in text for text in texts)


@pytest.mark.slow
def test_a_folder_is_asked(run: Run) -> None:
    question = "Who painted the ship of the Long Line Expedition?"

    printed = run("ask.py", str(example_corpus() / "ships"), question)

    assert "1. " in printed
    assert "characters for a language model" in printed


@pytest.mark.slow
def test_documents_of_a_program_are_searched_with_a_filter(run: Run) -> None:
    printed = run("own_documents.py").splitlines()

    assert "t1 open The login page stays blank in Safari." in printed
    assert not [line for line in printed if line.startswith("t3")]
    assert printed[-1] == "['t1', 't2', 't3']"


def test_a_graph_of_services_is_asked(run: Run) -> None:
    printed = run("graph.py")

    assert "['auth', 'ledger', 'search'] need postgres" in printed
    assert "most depends on: postgres" in printed


@pytest.mark.slow
def test_an_agent_reads_and_writes_notes(run: Run) -> None:
    printed = run("notes.py")

    assert "['Oxalic acid']" in printed
    assert "drone" in printed.lower()
