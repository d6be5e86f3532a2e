"""The log of what is opened and asked together: kept by consent, private, bounded, and deleted."""

from __future__ import annotations

import json
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pipeline.cli.app import app
from pipeline.domains.routing.learn.log import Entry, Log
from pipeline.errors import ConfigurationError
from pipeline.settings import load_settings

NOW = datetime(2026, 3, 1, 12, 30, 59, tzinfo=UTC)
MINUTE = NOW.replace(second=0)


@pytest.fixture
def log(tmp_path: Path) -> Log:
    """A log that is kept for 90 days, in a folder that isn't there yet."""
    return Log(tmp_path / "home" / "routing-log.jsonl", 90)


def test_no_log_is_kept_by_default(tmp_path: Path) -> None:
    log = Log.of(load_settings({"home": tmp_path}))
    log.add("projects", "patina", ["dojo"], NOW)

    assert not log.is_kept
    assert list(tmp_path.iterdir()) == []


def test_a_line_holds_a_time_to_the_minute_and_projects_alone(log: Log) -> None:
    log.add("projects", "patina", ["SDL", "dojo", "SDL", "patina"], NOW)

    fields = {"time": "2026-03-01T12:30+00:00", "graph": "projects", "opened": "patina", "asked": ["SDL", "dojo"]}
    assert json.loads(log.path.read_text(encoding="utf-8")) == fields
    assert log.read(NOW) == [Entry(MINUTE, "projects", "patina", ("SDL", "dojo"))]
    assert log.read(NOW, "another") == []


def test_nothing_is_written_of_no_project(log: Log) -> None:
    log.add("projects", "", (), NOW)

    assert not log.path.exists()
    assert log.read(NOW) == []


def test_the_file_is_for_its_owner_alone_also_if_it_was_not(log: Log) -> None:
    log.path.parent.mkdir()
    log.path.touch()
    log.path.chmod(0o644)
    log.add("projects", "patina", (), NOW)
    after = stat.S_IMODE(log.path.stat().st_mode)
    log.add("projects", "patina", (), NOW + timedelta(days=91))

    assert after == stat.S_IMODE(log.path.stat().st_mode) == 0o600
    log.delete()
    log.add("projects", "patina", (), NOW)
    assert stat.S_IMODE(log.path.stat().st_mode) == 0o600


def test_old_lines_are_neither_read_nor_left(log: Log) -> None:
    for days in range(0, 200, 10):
        log.add("projects", "patina", (), MINUTE + timedelta(days=days))

    assert len(log.path.read_text(encoding="utf-8").splitlines()) == 10
    assert len(log.read(MINUTE + timedelta(days=190))) == 10
    assert len(log.read(MINUTE + timedelta(days=230))) == 6
    assert log.read(NOW + timedelta(days=300)) == []


def test_the_file_stays_small_and_keeps_the_newest_lines(log: Log) -> None:
    log.add("projects", "patina", ["old"], NOW)
    line = log.path.read_text(encoding="utf-8")
    log.path.write_text(line * (1_000_000 // len(line)), encoding="utf-8")
    for minute in range(3):
        log.add("projects", "patina", ["new"], NOW + timedelta(minutes=minute))

    assert log.path.stat().st_size < 600_000
    assert [entry.asked for entry in log.read(NOW)][-4:] == [("old",), *[("new",)] * 3]
    assert list(log.path.parent.iterdir()) == [log.path]


def test_what_is_no_entry_is_left_out(log: Log) -> None:
    log.add("projects", "patina", (), NOW)
    with log.path.open("ab") as file:
        file.write(b'{"time": 3}\nx\n[]\n\xff\n{"time": "2026-03-01T12:30", "graph": "g", "opened": "x", "asked": 3}\n')
    log.add("projects", "dojo", (), NOW)

    assert [entry.opened for entry in log.read(NOW)] == ["patina", "dojo"]


def test_a_log_that_cannot_be_written_says_how_to_do_without(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(ConfigurationError, match=r"set routing\.log to false"):
        Log(tmp_path / "file" / "routing-log.jsonl", 90).add("projects", "patina", (), NOW)


def test_the_command_shows_and_deletes_it(tmp_path: Path) -> None:
    def run(*arguments: str, code: int = 0) -> str:
        environment = {"HOPRANK_HOME": str(tmp_path), "COLUMNS": "100"}
        result = CliRunner().invoke(app, ["route", "log", *arguments], env=environment)
        assert result.exit_code == code, result.output
        return result.output

    assert "not kept: routing.log is false" in run()
    now = datetime.now(UTC)
    Log(tmp_path / "routing-log.jsonl", 90).add("projects", "patina", ["dojo"], now)
    shown = json.loads(run("--json", "--set", "routing.log=true"))
    assert (shown["kept"], shown["path"]) == (True, str(tmp_path / "routing-log.jsonl"))
    assert [(one["opened"], one["asked"]) for one in shown["entries"]] == [("patina", ["dojo"])]
    assert "patina" in run("--set", "routing.log=true")
    assert "Give --yes" in run("--delete", code=2)
    assert "Deleted" in run("--delete", "--yes")
    assert list(tmp_path.iterdir()) == []
    assert "There is no" in run("--delete", "--yes")
