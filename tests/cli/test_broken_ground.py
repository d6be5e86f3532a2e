"""What a command says of a home or a disk that can't be used: its path and what to do, never that HopRank has a bug."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from pipeline.cli.app import app
from pipeline.db.embedded import ServerOptions, lifecycle
from pipeline.db.embedded.options import layout, silent
from pipeline.db.embedded.state import read_state
from pipeline.errors import ServerStartFailed

STATES = (
    '{"pid": -1, "port": 1, "since": 0}',
    '{"pid": null, "port": 1, "since": 0}',
    '{"pid": 1e400, "port": 1, "since": 0}',
    '{"pid": 99999999999999999999999, "port": 1, "since": 0}',
    '{"pid": 1, "port": "x", "since": "y"}',
    '{"pid": 1, "port": 1}',
    '{"pid": 1, "port": 1, "since": 0, "more": 1}',
    "not json",
    "",
    "[1, 2, 3]",
    "[" * 100_000,
    "\ufeff{}",
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("NEO4J_URI", raising=False)
    monkeypatch.setenv("HOPRANK_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def run(*command: str) -> Result:
    result = CliRunner().invoke(app, list(command))
    assert "bug in HopRank" not in result.stderr
    assert "Traceback" not in result.stderr
    return result


@pytest.mark.parametrize("content", STATES, ids=lambda content: content[:40])
def test_a_damaged_state_is_that_of_no_server(home: Path, content: str) -> None:
    home.mkdir()
    (home / "server.json").write_text(content, encoding="utf-8")

    assert read_state(home / "server.json") is None
    assert run("db", "status").exit_code == 0
    assert run("db", "stop").stdout == "It isn't running.\n"


def a_file(home: Path) -> None:
    home.touch()


def a_loop(home: Path) -> None:
    home.symlink_to(home)


def below_a_file(home: Path) -> None:
    home.parent.joinpath("file").touch()
    home.symlink_to(home.parent / "file" / "home")


def a_folder_for_the_state(home: Path) -> None:
    (home / "server.json").mkdir(parents=True)


BROKEN = (a_file, a_loop, below_a_file, a_folder_for_the_state)


@pytest.mark.parametrize("make", BROKEN)
@pytest.mark.parametrize(
    "command", [("db", "status"), ("db", "start"), ("db", "uri"), ("search", "x"), ("corpus", "list")]
)
def test_a_home_that_cannot_be_one_is_named(home: Path, make: Callable[[Path], None], command: tuple[str, ...]) -> None:
    make(home)

    result = run(*command)

    assert result.exit_code == 2
    assert str(home) in result.stderr
    assert "Set HOPRANK_HOME to a folder that you may write to." in result.stderr


@pytest.mark.parametrize("name", ["/" + "a" * 300, "~nobody-is-called-so/x"])
@pytest.mark.parametrize("command", [("db", "status"), ("db", "start"), ("db", "logs")])
def test_a_home_whose_name_leads_nowhere_is_named(
    home: Path, monkeypatch: pytest.MonkeyPatch, name: str, command: tuple[str, ...]
) -> None:
    monkeypatch.setenv("HOPRANK_HOME", name)

    result = run(*command)

    assert result.exit_code in {1, 2}
    assert name in result.stderr


@pytest.mark.parametrize("blocked", ["start.lock", "neo4j", "logs", "logs/server.log"])
def test_what_stands_in_the_way_within_a_home_is_named(home: Path, blocked: str, jars_there: None) -> None:
    place = home / blocked
    place.parent.mkdir(parents=True, exist_ok=True)
    if blocked in {"neo4j", "logs"}:
        place.touch()
    else:
        (place / "full").mkdir(parents=True)
        (place.with_name(f"{place.name}.1") / "full").mkdir(parents=True)

    result = run("db", "start")

    assert result.exit_code == 2
    assert str(place) in result.stderr


@pytest.fixture
def jars_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifecycle, "provide", lambda *_: None)


@pytest.mark.skipif(sys.platform == "win32", reason="files are written in another way there")
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_a_fault_of_the_disk(
    home: Path, monkeypatch: pytest.MonkeyPatch, jars_there: None, number: int
) -> None:
    mkdir = os.mkdir

    def full(path: str | Path, *how: int) -> None:
        if str(home) in str(path):
            raise OSError(number, os.strerror(number), str(path))
        mkdir(path, *how)

    monkeypatch.setattr(os, "mkdir", full)

    result = run("db", "start")

    assert result.exit_code == 1
    assert f"no room for the embedded server on the disk of {home}" in result.stderr
    assert "Make room there, or set HOPRANK_HOME to a folder on another disk." in result.stderr


@pytest.mark.parametrize(
    ("number", "fix"),
    [(errno.ENOSPC, "Make room"), (errno.EACCES, "may read and write"), (errno.EIO, "may read and write")],
)
def test_what_the_system_refuses_to_any_command_is_no_bug(
    home: Path, monkeypatch: pytest.MonkeyPatch, number: int, fix: str
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number), "/some/place")

    monkeypatch.setattr("pipeline.cli.commands.corpus.read_settings", refuse)

    result = run("corpus", "list")

    assert result.exit_code == 1
    assert "'/some/place'" in result.stderr
    assert fix in result.stderr


def test_a_server_that_comes_up_too_late_on_a_full_disk_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, late = layout(ServerOptions(tmp_path)), ServerOptions(tmp_path, start_timeout=0)
    with pytest.raises(ServerStartFailed, match="hasn't come up within 0 s") as roomy:
        lifecycle._await(files, late, None, silent)
    monkeypatch.setattr(lifecycle, "_SCANT", 2**62)
    with pytest.raises(ServerStartFailed) as scant:
        lifecycle._await(files, late, None, silent)

    assert "larger server.start_timeout" in roomy.value.fix
    assert "Make room" not in roomy.value.fix
    assert f"Make room on the disk of {tmp_path}" in scant.value.fix
