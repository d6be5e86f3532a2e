"""TESTS_WITH: what commands of benchmarks propose."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.domains.routing.learn.notes import read_sources
from pipeline.domains.routing.learn.proposals import detect
from pipeline.domains.routing.schema import Project
from tests.domains.routing.detected import OTHERS, detected, write


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("bench.sh", "#!/bin/sh\npatina bench retrieval --repo dojo\n"),
        ("Makefile", "bench:\n\t@patina bench \\\n\t  --corpus=dojo\n"),
        (".github/workflows/ci.yml", "jobs:\n  - run: cargo bench -- --repo dojo\n"),
        ("justfile", "evaluate:\n    hoprank evaluate ../repos/dojo/ -k 10\n"),
        ("package.json", '{"scripts": {"bench": "node bench.js --project dojo"}}'),
    ],
)
def test_a_benchmark_command_proposes_tests_with(tmp_path: Path, file: str, text: str) -> None:
    found = detected(tmp_path, {file: text})

    assert found["tests_with", "dojo"].confidence >= 0.6
    assert f"{file}:" in found["tests_with", "dojo"].evidence[0]


def test_a_command_of_a_session_proposes_tests_with(tmp_path: Path) -> None:
    notes = write(
        tmp_path / "notes",
        {
            "day.md": "---\nproject: patina\n---\nRan `patina bench --repo SDL`. To bench dojo is for later.\n",
            "history.txt": ": 1700000000:0;patina bench --repo tree-sitter\n",
        },
    )
    projects = [Project("patina"), *OTHERS]

    found = detect(projects, read_sources([notes], projects, "patina"))

    assert {one.relation.target for one in found if one.relation.type == "tests_with"} == {"SDL", "tree-sitter"}


@pytest.mark.parametrize(
    "command",
    ["gh pr list --repo psf/requests", "# patina bench --repo dojo", "patina bench --repo unknown", "make dojo"],
)
def test_other_commands_propose_nothing(tmp_path: Path, command: str) -> None:
    assert detected(tmp_path, {"run.sh": command + "\n"}) == {}


def test_an_option_without_a_benchmark_says_less(tmp_path: Path) -> None:
    found = detected(tmp_path, {"run.sh": "patina scry 'world storage' --repo dojo\n"})

    assert found["tests_with", "dojo"].confidence < 0.5
