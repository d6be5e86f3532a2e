"""Control characters of documents never reach a terminal: they could move the cursor, or rename its window."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.cli.harmless import harmless

# A window's title (OSC), a colour (CSI), the one-byte CSI of C1, a bell, a backspace, a return to the line's start.
HOSTILE = "\x1b]0;owned\x07 \x1b[31mred\x1b[0m \x9b31m C1 \x08\x08 back\rstart \x7f"
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@given(st.text())
def test_a_text_is_harmless_and_else_as_it_was(text: str) -> None:
    assert not OBEYED.search(harmless(text))
    assert harmless(text) == "".join(char for char in text if not OBEYED.match(char))


@pytest.fixture(scope="module")
def run(server_environment: dict[str, str], hoprank_in: Callable[[dict[str, str]], Any]) -> Any:
    return hoprank_in(server_environment)


@pytest.fixture(scope="module")
def hostile(run: Any, shared_corpus_name: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The name of a corpus whose text, titles, headings, names, keys and fields are hostile; some sources skipped."""
    folder: Path = tmp_path_factory.mktemp("hostile")
    row = {
        "id": f"key {HOSTILE}",
        "title": f"Ada Lovelace {HOSTILE}",
        "text": f"Ada Lovelace met Charles Babbage{HOSTILE} in Turin.\n\nA line {HOSTILE}.",
        "metadata": {"field": HOSTILE},
    }
    (folder / "rows.jsonl").write_text(json.dumps(row) + "\n")
    (folder / "two.md").write_text(f"# Charles Babbage {HOSTILE}\n\nCharles Babbage met Ada Lovelace {HOSTILE}.\n")
    (folder / "evil \x1b[31m.bin").write_bytes(b"\x00\x01")
    result = run("ingest", str(folder), "--corpus", shared_corpus_name)
    assert not OBEYED.search(result.output.replace("\r\n", "\n")), "the skipped file is named"
    assert "evil [31m.bin" in result.output
    return shared_corpus_name


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ("search", "Who met Ada Lovelace?"),
        ("search", "Who met Ada Lovelace?", "--explain", "--full"),
        ("search", "Who met Ada Lovelace?", "--json"),
        ("search", HOSTILE),
        ("context", "Who met Ada Lovelace?"),
        ("context", "Who met Ada Lovelace?", "--json"),
    ],
    ids=["search", "explained", "json", "question", "context", "context as json"],
)
def test_what_is_printed_of_a_corpus_is_harmless(run: Any, hostile: str, arguments: tuple[str, ...]) -> None:
    output = run(*arguments, "--corpus", hostile).output

    assert output
    assert not OBEYED.search(output)
    if "search" in arguments and "--json" in arguments:
        assert any("\x9b31m" in item["content"] for item in json.loads(output)["items"]), "the text as it is"


@pytest.mark.parametrize("arguments", [("corpus", "stats"), ("corpus", "drop"), ("corpus", "export")])
def test_an_error_that_names_a_hostile_name_is_harmless(run: Any, hostile: str, arguments: tuple[str, ...]) -> None:
    more = ["nowhere.jsonl"] if arguments[1] == "export" else []
    refused = run(*arguments, f"{hostile}{HOSTILE}", *more, code=2)

    assert hostile in refused.output
    assert not OBEYED.search(refused.output)


@pytest.mark.slow
def test_statistics_and_lists_are_harmless(run: Any, hostile: str) -> None:
    for arguments in (("corpus", "stats", hostile), ("corpus", "list"), ("calibrate", "--corpus", hostile)):
        assert not OBEYED.search(run(*arguments).output)
