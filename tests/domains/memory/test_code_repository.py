"""This project's own history: the facts at a commit are those of a fresh scan of that commit."""

from __future__ import annotations

from pathlib import Path

import pytest

import pipeline
from pipeline.domains.memory.code.files import first_parents, monotone_times, open_repository
from pipeline.domains.memory.code.parse import FileParser, ParsedFile
from pipeline.domains.memory.code.scan import scan
from pipeline.errors import SourceError
from tests.domains.memory.repositories import held

ROOT = Path(pipeline.__file__).parents[1]
COMMITS = 5


@pytest.fixture
def parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let all scans of a test share what they parse: it depends on path and content alone."""
    parse = FileParser.parse
    known: dict[tuple[str, bytes], ParsedFile] = {}

    def cached(parser: FileParser, path: str, data: bytes) -> ParsedFile:
        if (path, data) not in known:
            known[path, data] = parse(parser, path, data)
        return known[path, data]

    monkeypatch.setattr(FileParser, "parse", cached)


@pytest.mark.slow
@pytest.mark.usefixtures("parsed_once")
def test_facts_at_the_newest_commits_equal_fresh_scans_of_them() -> None:
    try:
        repository = open_repository(ROOT)
    except SourceError as error:
        pytest.skip(str(error))
    if repository is None:
        pytest.skip("the project is no clone of a repository")
    commits = first_parents(repository)
    if repository.is_shallow or len(commits) < 2 * COMMITS:
        pytest.skip("the clone lacks its history")
    times = monotone_times(commits)

    # Commits of one second share a time; the last of them is the state that the history has at it.
    last = [number for number, time in enumerate(times) if time not in times[number + 1 :]][-COMMITS:]

    history = scan(ROOT, scope="s", history=True, newest=len(commits) - last[0] + COMMITS)

    for number in last:
        fresh = scan(ROOT, scope="s", revision=str(commits[number].id))
        assert held(history, times[number]) == held(fresh), commits[number].id
        assert fresh.time == times[number]
