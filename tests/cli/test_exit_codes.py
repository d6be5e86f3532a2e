"""What a command ends with when something is wrong: one clear message on stderr, and the code that scripts rely on."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pipeline.cli import main
from pipeline.cli.app import app
from pipeline.errors import Busy, ConfigurationError

HOPRANK = [sys.executable, "-c", "from pipeline.cli import main; main()"]


def failing(error: BaseException) -> Callable[..., None]:
    def fail(*_: object, **__: object) -> None:
        raise error

    return fail


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (ConfigurationError("It is wrong.", "Mend it."), 2, "It is wrong.\nMend it."),
        (Busy("It is held.", "Wait."), 1, "It is held.\nWait."),
        (ConfigurationError("notes doesn't exist", "Mend it."), 2, "notes doesn't exist.\nMend it."),
        (ConfigurationError("is no 'list'", "Mend it."), 2, "is no 'list'.\nMend it."),
        (Busy("It stopped. Its log ends:\nKilled", "Mend it."), 1, "It stopped. Its log ends:\nKilled\nMend it."),
    ],
)
def test_an_error_on_purpose_is_its_message(
    monkeypatch: pytest.MonkeyPatch, error: Exception, code: int, said: str
) -> None:
    monkeypatch.setattr("pipeline.cli.commands.corpus.read_settings", failing(error))

    result = CliRunner().invoke(app, ["corpus", "list"])

    assert (result.exit_code, result.stderr, result.stdout) == (code, f"hoprank: {said}\n", "")


@pytest.mark.parametrize(("flags", "logged"), [([], False), (["--verbose"], True)])
def test_what_the_driver_logs_of_broken_connections_is_shown_when_asked_for(
    monkeypatch: pytest.MonkeyPatch, flags: list[str], logged: bool
) -> None:
    monkeypatch.setattr("pipeline.cli.commands.corpus.read_settings", failing(Busy("It is held.", "Wait.")))

    CliRunner().invoke(app, [*flags, "corpus", "list"])

    assert logging.getLogger("neo4j.io").isEnabledFor(logging.ERROR) is logged


@pytest.mark.parametrize(
    ("flags", "environment", "asked"),
    [([], {}, False), (["--verbose"], {}, True), ([], {"HOPRANK_DEBUG": "1"}, True)],
)
def test_anything_else_is_a_bug_whose_traceback_is_shown_when_asked_for(
    monkeypatch: pytest.MonkeyPatch, flags: list[str], environment: dict[str, str], asked: bool
) -> None:
    monkeypatch.setattr("pipeline.cli.commands.corpus.read_settings", failing(ZeroDivisionError("by zero")))

    result = CliRunner().invoke(app, [*flags, "corpus", "list"], env=environment)

    assert result.exit_code == 1
    assert ("Traceback" in result.stderr) is asked
    assert asked or "bug in HopRank: ZeroDivisionError: by zero" in result.stderr
    assert asked or "--verbose" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nonsense"], "No such command"),
        (["search", "a question", "--nonsense"], "No such option"),
        (["search", "a question", "--top-k", "0"], "--top-k"),
        (["remove"], "--document"),
        (["ingest"], "Missing argument"),
        (["search", " "], "The question is empty"),
        (["context", " \n"], "The question is empty"),
        (["evaluate", "/nowhere/at/all"], "/nowhere/at/all"),
        (["ingest", "/nowhere/at/all"], "/nowhere/at/all doesn't exist"),
        (["sync", "/nowhere/at/all"], "/nowhere/at/all doesn't exist"),
        (["evaluate", ".", "--json", "/nowhere/report.json"], "there is no folder /nowhere"),
        (["ingest", ".", "--engine", "nonsense"], "ingest.engine"),
        (["sync", "https://u:secret@127.0.0.1/a.md", "--watch"], "https://127.0.0.1/a.md can't be watched"),
        (["ingest", "gs://bucket/docs"], "gcsfs"),
        (["sync", ".", "--engine", "local", "--address", "10.0.0.1:6379"], "--address is of Ray"),
    ],
)
def test_what_is_wrong_at_sight_is_said_before_anything_starts(tmp_path: Path, arguments: list[str], says: str) -> None:
    home = tmp_path / "home"

    result = CliRunner().invoke(app, arguments, env={"HOPRANK_HOME": str(home), "NEO4J_URI": ""})

    assert result.exit_code == 2
    assert says in result.stderr
    assert not home.exists()


def test_a_server_that_does_not_answer_is_named_with_a_way_out() -> None:
    result = CliRunner().invoke(app, ["corpus", "list"], env={"NEO4J_URI": "bolt://127.0.0.1:1"})

    assert result.exit_code == 2
    assert "bolt://127.0.0.1:1" in result.stderr
    assert "NEO4J_URI" in result.stderr


def interrupted(name: str) -> None:
    raise KeyboardInterrupt


def cut_off(name: str) -> None:
    """Fail as the driver does whose work an interrupt cuts off."""
    try:
        interrupted(name)
    finally:
        bytearray_of_the_driver = bytearray(8)
        with memoryview(bytearray_of_the_driver):
            bytearray_of_the_driver += b"more"


def test_ctrl_c_while_the_commands_load_ends_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("pipeline.cli.import_module", interrupted)

    with pytest.raises(SystemExit, match="130"):
        main()

    assert capsys.readouterr().err == "hoprank: Interrupted.\n"


@pytest.mark.parametrize("how", [interrupted, cut_off])
def test_ctrl_c_while_a_command_loads_ends_in_one_line(
    monkeypatch: pytest.MonkeyPatch, how: Callable[[str], None]
) -> None:
    monkeypatch.setattr("pipeline.cli.lazy.import_module", how)

    result = CliRunner().invoke(app, ["corpus", "list"])

    assert (result.exit_code, result.stderr.count("\n")) == (130, 1)
    assert result.stderr.startswith("hoprank: Interrupted.")


def heed_interrupts() -> None:
    """A shell's background jobs ignore interrupts, and so would a command that such a job starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signal for another process")
def test_ctrl_c_ends_in_one_line(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "server.log"
    log.parent.mkdir()
    log.write_text("a line\n")

    with subprocess.Popen(
        [*HOPRANK, "db", "logs", "--follow"],
        env=os.environ | {"HOPRANK_HOME": str(tmp_path), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_interrupts,
    ) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "a line\n"
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=30)
        finally:
            process.kill()

    assert process.returncode == 130
    assert said.startswith("hoprank: Interrupted.")
    assert said.count("\n") == 1


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "server.log"
    log.parent.mkdir()
    log.write_text("a line\n" * 100_000)

    with subprocess.Popen(
        [*HOPRANK, "db", "logs", "--lines", "100000"],
        env=os.environ | {"HOPRANK_HOME": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        said = process.stderr.read()

    assert said == ""
