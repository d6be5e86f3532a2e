"""``hoprank db backup`` and ``restore`` in a home of their own, killed at many moments; and what they refuse."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import neo4j
import psutil
import pytest

from pipeline import KnowledgeGraph, KnowledgeNode
from pipeline.db.catalogue import find_corpus
from pipeline.db.client import Client
from pipeline.db.corpus import CorpusHandle
from pipeline.db.embedded import ServerOptions, ensure_running, status, stop
from pipeline.db.embedded.backup import read_backup
from pipeline.db.embedded.lifecycle import finish_restore
from pipeline.db.embedded.options import Layout
from pipeline.db.lease import lease
from pipeline.errors import HopRankError
from pipeline.knowledge import catalogue as graph_catalogue

SEED = 20261126
TIMED_KILLS = int(os.environ.get("BACKUP_KILLS", "1"))
"""Kills of each command at moments drawn by the seed."""
COMMAND = [sys.executable, "-c", "from pipeline.cli import main; main()", "db"]
MARKS = 300

KILL_AT_RENAME = """
import os, signal, sys
from pathlib import Path

countdown, replace = int(sys.argv.pop(1)), Path.replace

def killing(path, target):
    global countdown
    if path.name == "data" or target.name == "data":
        countdown -= 1
        if countdown < 0:
            os.kill(os.getpid(), signal.SIGKILL)
    return replace(path, target)

Path.replace = killing
from pipeline.cli import main
main()
"""
"""A command that dies before a rename of a folder of databases: the first decides, the others carry it out."""


class Home:
    """A home with a server, and the commands in it."""

    def __init__(self, folder: Path, jars: Path, hoprank_in: Callable[..., Any]) -> None:
        self.environment = {
            "HOPRANK_HOME": str(folder),
            "NEO4J_URI": "",
            "HOPRANK_SERVER__HEAP_MB": "512",
            "HOPRANK_SERVER__PAGE_CACHE_MB": "64",
        }
        folder.mkdir()
        (folder / "jars").symlink_to(jars)
        self.run = hoprank_in(self.environment)
        self.files = Layout(folder)
        self.options = ServerOptions(folder, heap_mb=512, page_cache_mb=64)
        self.seconds = 0.0
        """What a backup took, and about what a restore takes: moments of kills are drawn from it."""

    def client(self) -> Client:
        return Client(ensure_running(self.options), retry_time=5)

    def cypher(self, text: str, **params: Any) -> list[list[Any]]:
        with self.client() as client:
            address = client.address
        with neo4j.GraphDatabase.driver(address.uri, auth=(address.username, address.password)) as driver:
            return [record.values() for record in driver.execute_query(text, params).records]

    def mark(self, state: str) -> None:
        """Put the whole database in a state that can be told from a mixture."""
        self.cypher("MATCH (m:Mark) DELETE m")
        self.cypher("UNWIND range(1, $n) AS i CREATE (:Mark {state: $state, i: i})", state=state, n=MARKS)

    def marks(self) -> list[list[Any]]:
        return self.cypher("MATCH (m:Mark) RETURN m.state, count(*), count(DISTINCT m.i)")

    def killed(self, seconds: float, *arguments: str) -> int:
        """Run a command of ``hoprank db``, kill it after a time, and return what it ended with."""
        with subprocess.Popen(
            [*COMMAND, *arguments], env=os.environ | self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        ) as process:
            try:
                process.wait(seconds)
            except subprocess.TimeoutExpired:
                process.kill()
            return process.wait()

    def killed_at_rename(self, renames: int, file: Path) -> None:
        """Restore a backup with the server stopped, and die after so many renames."""
        stop(self.options)
        command = [sys.executable, "-c", KILL_AT_RENAME, str(renames), "db", "restore", str(file), "--yes"]
        died = subprocess.run(command, env=os.environ | self.environment, capture_output=True, text=True, check=False)
        assert died.returncode == -signal.SIGKILL, died.stderr

    def settled(self) -> bool:
        """Whether nothing is left of a restore that was killed."""
        return not (self.files.restored.exists() or self.files.replaced.exists())


@pytest.fixture(scope="module")
def home(jars: Path, hoprank_in: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    found = Home(tmp_path_factory.mktemp("home") / "inner", jars, hoprank_in)
    yield found
    stop(found.options)


@pytest.fixture(scope="module")
def backup(home: Home, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup of the home in the state ``old``, with a corpus and a graph; it is in the state ``new`` then."""
    folder = tmp_path_factory.mktemp("backups")
    source = folder / "source"
    source.mkdir()
    (source / "mill.md").write_text("# The mill\n\nMira Holt built the mill at Westfold in 1931.\n")
    home.run("ingest", str(source), "--corpus", "archive")
    with home.client() as client:
        KnowledgeGraph("people", client=client).add_nodes([KnowledgeNode("mira", "Person")])
    home.mark("old")
    file = folder / "home.backup"
    begun = time.monotonic()
    home.run("db", "backup", str(file))
    home.seconds = time.monotonic() - begun
    home.mark("new")
    return file


@pytest.mark.slow
def test_what_was_backed_up_comes_back_whole_and_clients_go_on(
    home: Home, backup: Path, graph_by: Callable[[Client, str], Any], tmp_path: Path
) -> None:
    with home.client() as client:
        before = graph_by(client, "archive")
    password, uri = home.files.password.read_text(), home.run.json("db", "uri")["uri"]
    file = tmp_path / "second.backup"
    answered, failed, over = 0, set(), threading.Event()

    def ask(client: Client) -> None:
        nonlocal answered
        while not over.is_set():
            try:
                assert find_corpus(client, "archive")
                answered += 1
            except HopRankError as error:
                failed.add(type(error).__name__)
            time.sleep(0.02)

    with home.client() as client:
        asking = threading.Thread(target=ask, args=(client,))
        asking.start()
        made = home.run.json("db", "backup", str(file))
        during = answered
        time.sleep(1)
        over.set()
        asking.join()
        assert answered > during > 0, "a client that was connected goes on after the backup"
        assert failed <= {"ServerLost"}
        assert find_corpus(client, "archive")
    assert home.run.json("db", "uri")["uri"] == uri
    assert (made["bytes"], made["neo4j"]) == (file.stat().st_size, home.run.json("db", "status")["version"])
    assert file.stat().st_mode & 0o777 == 0o600

    assert "--force" in home.run("db", "backup", str(file), code=2).output
    home.cypher("MATCH (n) DETACH DELETE n")
    assert "--yes" in home.run("db", "restore", str(file), code=2).output
    home.run("db", "restore", str(file), "--yes")

    with home.client() as client:
        assert graph_by(client, "archive") == before
    assert found(home, "vector") == ["mill.md"]
    assert found(home, "fulltext") == ["mill.md"]
    assert [graph["name"] for graph in home.run.json("graph", "list")] == ["people"]
    indexes = home.cypher("SHOW INDEXES YIELD type, state RETURN type, collect(DISTINCT state)")
    assert {kind: states for kind, states in indexes if kind in ("VECTOR", "FULLTEXT")} == {
        "VECTOR": ["ONLINE"],
        "FULLTEXT": ["ONLINE"],
    }
    assert home.files.password.read_text() == password


def found(home: Home, leg: str) -> list[str]:
    answer = home.run.json("search", "Who built the mill at Westfold?", "--corpus", "archive", "--leg", leg)
    return [item["metadata"]["document"] for item in answer["items"]]


@pytest.mark.slow
def test_a_new_home_takes_a_backup_keeps_its_own_password_and_carries_out_a_restore_that_was_decided(
    home: Home, backup: Path, jars: Path, hoprank_in: Callable[..., Any], tmp_path: Path
) -> None:
    other = Home(tmp_path / "other", jars, hoprank_in)
    other.run("db", "restore", str(backup), "--yes")
    try:
        assert not status(other.options).running, "it did not run before"
        assert other.marks() == [["old", MARKS, MARKS]]
        assert other.files.password.read_text() != home.files.password.read_text()
        assert [corpus["name"] for corpus in other.run.json("corpus", "list")] == ["archive"]
        server = psutil.Process(status(other.options).pid)
        server.kill()
        server.wait(60)
        other.run("db", "backup", str(tmp_path / "after.backup"))
        assert not status(other.options).running
        (other.files.data / "of the database that is replaced").touch()
        other.killed_at_rename(1, tmp_path / "after.backup")
        assert other.marks() == [["old", MARKS, MARKS]], "a killed server's database is recovered for the dump"
        assert not (other.files.data / "of the database that is replaced").exists()
        assert other.settled()
    finally:
        stop(other.options)


@pytest.mark.slow
def test_neither_cuts_off_a_writer(home: Home, backup: Path, tmp_path: Path) -> None:
    file = tmp_path / "never.backup"
    with home.client() as client:
        corpus = find_corpus(client, "archive")
        assert corpus
        with lease(CorpusHandle(client, corpus)):
            for arguments in (["backup", str(file)], ["restore", str(backup), "--yes"]):
                assert f"Process {os.getpid()}" in home.run("db", *arguments, code=1).output
        with graph_catalogue.replacing(client, "people"):
            assert "'people'" in home.run("db", "backup", str(file), code=1).output
        assert find_corpus(client, "archive")
    assert not file.exists()


@pytest.mark.slow
def test_a_damaged_backup_leaves_the_database_alone_and_open(home: Home, backup: Path, tmp_path: Path) -> None:
    home.mark("new")
    pid, whole = status(home.options).pid, backup.read_bytes()
    with zipfile.ZipFile(backup) as archive:
        offset = archive.getinfo("neo4j.dump").header_offset + 1000
    damaged = tmp_path / "damaged.backup"
    damaged.write_bytes(whole[:offset] + bytes([whole[offset] ^ 1]) + whole[offset + 1 :])
    no_dump = tmp_path / "no_dump.backup"
    write_backup(no_dump, read_backup(backup).neo4j)

    assert "damaged" in home.run("db", "restore", str(damaged), "--yes", code=2).output
    assert "Loading the backup failed" in home.run("db", "restore", str(no_dump), "--yes", code=1).output
    assert home.marks() == [["new", MARKS, MARKS]]
    assert status(home.options).pid == pid


@pytest.mark.slow
def test_a_killed_backup_leaves_a_whole_file_and_a_whole_database(home: Home, backup: Path, tmp_path: Path) -> None:
    home.mark("new")
    file = tmp_path / "killed.backup"
    shutil.copy2(backup, file)
    killed, draw = 0, random.Random(SEED)  # noqa: S311 - repeats the same moments
    for _ in range(TIMED_KILLS):
        killed += home.killed(draw.uniform(0.1, 1) * home.seconds, "backup", str(file), "--force") != 0
        read_backup(file)
        with zipfile.ZipFile(file) as archive:
            assert archive.testzip() is None
        assert home.marks() == [["new", MARKS, MARKS]]
    assert killed
    home.run("db", "backup", str(file), "--force")
    assert [path.name for path in tmp_path.iterdir()] == [file.name], "the remains of the killed are gone"


@pytest.mark.slow
def test_a_killed_restore_leaves_the_old_database_or_the_new_one(home: Home, backup: Path) -> None:
    killed, draw = 0, random.Random(SEED)  # noqa: S311 - repeats the same moments
    for number in range(TIMED_KILLS):
        home.mark(f"new {number}")
        killed += home.killed(draw.uniform(0.1, 1) * home.seconds, "restore", str(backup), "--yes") != 0
        assert home.marks() in ([["old", MARKS, MARKS]], [[f"new {number}", MARKS, MARKS]])
    assert killed


@pytest.mark.slow
def test_until_the_first_rename_a_killed_restore_has_done_nothing(home: Home, backup: Path) -> None:
    home.mark("new")
    home.killed_at_rename(0, backup)
    assert home.marks() == [["new", MARKS, MARKS]]
    assert home.settled()


def test_the_exchange_is_carried_out_from_wherever_it_was_interrupted(tmp_path: Path) -> None:
    for number, there in enumerate(
        (
            {"data": "old", "data.restored": "new"},
            {"data.restored": "new", "data.replaced": "old"},
            {"data": "new", "data.replaced": "old"},
            {"data": "old", "data.restored": "new", "data.replaced": "older"},
        )
    ):
        files = Layout(tmp_path / str(number))
        for name, text in there.items():
            (files.neo4j / name).mkdir(parents=True)
            (files.neo4j / name / "store").write_text(text)
        finish_restore(files)
        assert [path.name for path in files.neo4j.iterdir()] == ["data"]
        assert (files.data / "store").read_text() == "new"


def write_backup(file: Path, neo4j_version: str) -> None:
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("backup.json", json.dumps({"hoprank": "9.9", "neo4j": neo4j_version, "made": "2030-01-01"}))
        archive.writestr("neo4j.dump", b"no dump")


def test_what_is_no_backup_is_refused_before_anything_starts(tmp_path: Path, hoprank_in: Callable[..., Any]) -> None:
    run = hoprank_in({"HOPRANK_HOME": str(tmp_path / "home"), "NEO4J_URI": ""})
    text, empty, other, newer = (tmp_path / name for name in ("text", "empty", "other.zip", "newer"))
    text.write_text("not a backup")
    empty.touch()
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("backup.json", "[]")
    write_backup(newer, "2031.01.0")

    for file in (text, empty, other, tmp_path / "none", tmp_path):
        assert "is no backup of HopRank" in run("db", "restore", str(file), "--yes", code=2).output
    assert "2031.01.0" in run("db", "restore", str(newer), "--yes", code=2).output
    assert "no database yet" in run("db", "backup", str(tmp_path / "new"), code=2).output
    assert "no folder" in run("db", "backup", str(tmp_path / "nowhere" / "new"), code=2).output
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize("arguments", [["backup", "new"], ["restore", "old", "--yes"]])
def test_a_server_of_ones_own_has_its_own_means(arguments: list[str], hoprank_in: Callable[..., Any]) -> None:
    run = hoprank_in({"NEO4J_URI": "bolt://127.0.0.1:1"})
    said = run("db", *arguments, code=2).output
    assert "bolt://127.0.0.1:1" in said
    assert "neo4j-admin" in said
    assert "corpus export" in said
