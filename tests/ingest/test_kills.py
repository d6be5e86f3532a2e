"""``kill -9`` of the process or of the server, or Ctrl-C: the next run completes the corpus; nothing is different then.

Random points of a sync are seeded; HOPRANK_TEST_KILLS asks for more of them. Their rows
bring their own vectors, so that the processes that are killed need no model and start quickly.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import neo4j
import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline import HopRank
from pipeline.db.catalogue import get_corpus
from pipeline.db.client import Client
from pipeline.db.embedded import ServerOptions, ensure_running, status
from pipeline.embedding.embedder import Embedder
from pipeline.errors import ServerLost
from pipeline.flows import maintain
from pipeline.flows.maintain import drop
from pipeline.progress import Progress
from pipeline.settings import load_settings

KILLS = int(os.environ.get("HOPRANK_TEST_KILLS", "2"))
TRIES = 5
NAMES = "Ada Lovelace|Charles Babbage|Mary Somerville|Luigi Menabrea|Turin|engine|Engine|the river".split("|")

PEOPLE = "Ada Lovelace|Charles Babbage|Mary Somerville|Luigi Menabrea|Joseph Jacquard|Augustus De Morgan".split("|")

DYING = """
import json, os, signal, sys, threading, time, traceback
from pipeline import HopRank
from pipeline.embedding.embedder import Embedder
from pipeline.db.client import Client

calls = 0
counting = threading.Lock()

def counted(method, point, kill):
    def call(self, *arguments, **params):
        global calls
        with counting:
            calls += 1
            due = calls == point
        if due:
            threading.Thread(target=kill).start()
        return method(self, *arguments, **params)
    return call

def die(path, point, delay, victim, environment):
    def kill():
        time.sleep(delay)
        os.kill(victim or os.getpid(), signal.SIGKILL)

    global calls
    signal.alarm(300)
    os.environ.update(environment)
    for name in ("read", "write", "write_together", "stream", "schema", "locking"):
        setattr(Client, name, counted(getattr(Client, name), point, kill))
    with HopRank.connect() as hoprank:
        calls = 0
        hoprank.sync(path, corpus="killed")
    return calls

for line in sys.stdin:
    ended, child = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            result = {"calls": die(**json.loads(line))}
        except BaseException:
            result = {"error": traceback.format_exc()}
        os.write(child, json.dumps(result).encode())
        os._exit("error" in result)
    os.close(child)
    told = os.fdopen(ended, "rb").read()
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    print(json.dumps({"status": status, **json.loads(told or b"{}")}), flush=True)
"""
"""For each line syncs in a child of its own, which kills itself, or the process that it is given, a while after a
query was begun. Children are forked from what has imported everything already: that takes longer than a sync."""


class Killing:
    """Kills a process when a stage has gone a step."""

    def __init__(self, pid: int, stage: str) -> None:
        self._process: psutil.Process | None = psutil.Process(pid)
        self._stage = stage

    def begin(self, stage: str, total: int | None) -> None:
        pass

    def advance(self, stage: str, steps: int) -> None:
        if stage == self._stage and steps and self._process:
            self._process.kill()
            self._process.wait(60)
            self._process = None

    def end(self, stage: str) -> None:
        pass


@contextmanager
def connected(options: ServerOptions, embedder: Embedder) -> Iterator[HopRank]:
    with Client(ensure_running(options), retry_time=0.5) as client:
        yield HopRank(client, embedder, load_settings())


def graph(hoprank: HopRank, name: str) -> list[object]:
    """All that the graph has of a corpus, staged or not, without its ids and times."""
    corpus = get_corpus(hoprank.client, name)
    address = hoprank.client.address
    with neo4j.GraphDatabase.driver(address.uri, auth=(address.username, address.password)) as driver:
        rows = driver.execute_query(
            "MATCH (n) WHERE $label IN labels(n) OR n.corpus = $id AND (n:HopRankDocument OR n:HopRankEntity)"
            " OPTIONAL MATCH (n)-[r]->(m)"
            " RETURN coalesce(n.text, n.hash, n.name) AS n, n.until - n.since > 1 AS lives, type(r) AS kind,"
            " r.count AS count, r.position AS position, coalesce(m.text, m.hash, m.name) AS m",
            label=corpus.label,
            id=corpus.id,
        ).records
    # SIMILAR leaves the lesser id, which differs from corpus to corpus.
    tuples = [(*sorted(map(str, (row["n"], row["m"]))), *row.values()[1:5]) for row in rows if row["kind"]]
    return [
        corpus.documents,
        corpus.chunks,
        corpus.entities,
        corpus.staging,
        len({row["n"] for row in rows}),
        sorted(map(str, tuples)),
    ]


@pytest.mark.slow
def test_a_server_that_is_killed_gives_a_clear_error_and_the_next_run_completes_the_corpus(
    options: ServerOptions, embedder: Embedder, tmp_path: Path
) -> None:
    path = tmp_path / "many.jsonl"
    rows = [
        {
            "id": str(number),
            "title": f"{PEOPLE[number % 6]} {number}",
            "text": f"{PEOPLE[number % 5]} met {PEOPLE[number % 4]}.",
        }
        for number in range(40)
    ]
    first, later = rows[:10], rows[5:]

    def write(documents: list[dict[str, str]]) -> Path:
        path.write_text("".join(f"{json.dumps(row)}\n" for row in documents))
        return path

    with connected(options, embedder) as hoprank:
        for documents in (first, later):
            hoprank.ingest(write(documents), corpus="undisturbed")
        expected = graph(hoprank, "undisturbed")
        hoprank.ingest(write(first), corpus="lost")
        before = graph(hoprank, "lost")
    write(later)

    for stage in ("link", "embed"):
        lose(options, embedder, path, stage)
        with connected(options, embedder) as hoprank:
            assert graph(hoprank, "lost")[:3] == before[:3]
            if stage == "embed":
                continue  # nothing was written that a search could find
            found = hoprank.search("Who met Ada?", corpus="lost", top_k=50, leg="fulltext")
            assert {item.metadata["document"] for item in found.items} <= {row["id"] for row in first}

    with connected(options, embedder) as hoprank:
        summary = hoprank.ingest(path, corpus="lost")
        assert (summary.changed, summary.unchanged, summary.documents) == (30, 5, 40)
        written = hoprank.client.written
        hoprank.ingest(path, corpus="lost")
        assert hoprank.client.written == written
        assert graph(hoprank, "lost") == expected


def lose(options: ServerOptions, embedder: Embedder, path: Path, stage: str) -> None:
    """Ingest, and lose the server on the way."""
    with connected(options, embedder) as hoprank:
        pid = status(options).pid
        assert pid is not None
        with pytest.raises(ServerLost, match="went away") as caught:
            hoprank.ingest(path, corpus="lost", progress=Progress(Killing(pid, stage)))
        assert hoprank.client.address.uri in caught.value.message
        assert "again" in caught.value.fix


@dataclass(frozen=True, slots=True)
class Ended:
    """How a child ended: its exit status, and the error or the number of its queries if it came to that."""

    status: int
    error: str = ""
    calls: int = 0


Sync = Callable[..., Ended]


@pytest.fixture
def dying(options: ServerOptions) -> Iterator[Sync]:
    """Sync in a process of its own, and have it or the server killed at a point."""
    with subprocess.Popen(
        [sys.executable, "-c", DYING], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as one:
        tell, hear = one.stdin, one.stdout
        assert tell
        assert hear

        def sync(path: Path, point: int, delay: float, *, server: bool) -> Ended:
            address = ensure_running(options)
            # A server that was killed doesn't come back by itself, so that there is little to wait for.
            environment = {"HOPRANK_NEO4J__RETRY_TIME": "1", "HOPRANK_NEO4J__CONNECTION_TIMEOUT": "2"}
            environment |= {"NEO4J_URI": address.uri, "NEO4J_USERNAME": address.username}
            given = {"path": str(path), "point": point, "delay": delay, "victim": status(options).pid if server else 0}
            wanted = {**given, "environment": environment | {"NEO4J_PASSWORD": address.password}}
            print(json.dumps(wanted), file=tell, flush=True)
            return Ended(**json.loads(hear.readline()))

        yield sync


def write(path: Path, chance: random.Random) -> None:
    """Write a state of the corpus: some documents of a pool, with texts of names that others have too."""
    directions = np.eye(8, 384)
    rows = []
    for key in chance.sample(range(14), chance.randint(5, 12)):
        chunks = []
        for _ in range(chance.randint(1, 4)):
            vector = directions[chance.randrange(8)] + 0.5 * directions[chance.randrange(8)]
            text = f"{chance.choice(NAMES)} met {chance.choice(NAMES)} by {chance.choice(NAMES)}."
            chunks.append({"text": text, "embedding": vector.tolist()})
        rows.append({"id": f"d{key}", "title": f"{chance.choice(NAMES)}", "chunks": chunks})
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")


@pytest.mark.slow
def test_whatever_is_killed_and_whenever_the_next_run_leaves_nothing_different(
    options: ServerOptions,
    dying: Sync,
    embedder: Embedder,
    tmp_path: Path,
    graph_by: Callable[[Client, str], dict[str, set[Any]]],
) -> None:
    chance = random.Random(20261122)  # noqa: S311 - chosen, so that a failure can be had again
    path = tmp_path / "documents.jsonl"
    write(path, chance)
    undisturbed = dying(path, 0, 0.0, server=False)
    assert undisturbed.status == 0, undisturbed.error

    def die(*, server: bool) -> None:
        """Sync new states until a process has died of its kill: a point may lie behind the end of a run."""
        for _ in range(TRIES):
            write(path, chance)
            ended = dying(path, chance.randint(1, undisturbed.calls), chance.random() * 0.02, server=server)
            assert ended.status in ((0, 1) if server else (0, -signal.SIGKILL)), ended.error
            if ended.status:
                return
        pytest.fail(f"{TRIES} points lay behind the end of the run")

    for kill in range(KILLS):
        for _ in range(chance.choice((1, 1, 2))):
            # Every second time it is the server, whose restart takes longest.
            die(server=kill % 2 == 1)
        with Client(ensure_running(options), retry_time=5.0) as client:
            hoprank = HopRank(client, embedder, load_settings())
            hoprank.sync(path, corpus="killed")
            hoprank.ingest(path, corpus="fresh")
            killed, fresh = graph_by(client, "killed"), graph_by(client, "fresh")
            assert {kind for kind in killed.keys() | fresh.keys() if killed[kind] != fresh[kind]} == set(), kill
            assert get_corpus(client, "killed").staging is None
            drop(client, "fresh")


INTERRUPTED = """
import os, signal, sys
from pipeline.cli import main
from pipeline.progress import Progress

stage, left = Progress.stage, int(sys.argv.pop(1))
wanted = sys.argv.pop(1)
begin = stage.__wrapped__

def interrupt():
    global left
    left -= 1
    if left == 0:
        os.killpg(0, signal.SIGINT)  # as a terminal does, also to the parser's process

def told(self, name, total=None):
    steps = begin(self, name, total)
    done = next(steps)
    if name == wanted:
        interrupt()
    def count(number):
        done(number)
        if name == wanted:
            interrupt()
    try:
        yield count
    except BaseException as error:
        steps.throw(error)
    else:
        next(steps, None)

import contextlib
Progress.stage = contextlib.contextmanager(told)
signal.signal(signal.SIGINT, signal.default_int_handler)
main()
"""
"""The command, which is interrupted at a step of a stage."""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signal for another process")
def test_ctrl_c_while_tables_are_ingested_leaves_the_corpus_as_it_was_and_the_next_run_completes_it(
    hoprank: HopRank,
    server_environment: dict[str, str],
    tmp_path: Path,
    new_corpus: Callable[[], Any],
    graph_of: Callable[[str], dict[str, set[Any]]],
) -> None:
    def tables(count: int) -> Path:
        chance = np.random.default_rng(5)
        rows = [
            {
                "id": str(number),
                "chunks": [{"text": f"{PEOPLE[number % 6]} met {PEOPLE[number % 5]}, {number}.", "embedding": vector}],
            }
            for number, vector in enumerate(chance.normal(size=(count, 384)).tolist())
        ]
        pq.write_table(pa.Table.from_pylist(rows), tmp_path / "rows.parquet", row_group_size=10)
        lines = [f"{PEOPLE[number % 4]},{number}" for number in range(count)]
        (tmp_path / "numbers.csv").write_text("\n".join(["name,number", *lines]))
        return tmp_path

    def run(name: str, stage: str, step: int) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", INTERRUPTED, str(step), stage, "sync", str(tmp_path), "--corpus", name]
        environment = {**os.environ, **server_environment}
        return subprocess.run(command, env=environment, capture_output=True, text=True, start_new_session=True)

    with new_corpus() as name, new_corpus() as undisturbed:
        for count in (10, 40):
            hoprank.sync(tables(count), corpus=undisturbed)
        hoprank.sync(tables(10), corpus=name)
        before = graph_of(name)
        tables(40)

        for stage, step in (("read", 3), ("embed", 1), ("load chunks", 1), ("link", 2), ("publish", 1)):
            ended = run(name, stage, step)

            assert (ended.returncode, ended.stdout.count("rows")) == (130, 0), (stage, ended.stderr)
            assert "Traceback" not in ended.stderr
            assert ended.stderr.count("hoprank: Interrupted.") == 1
            assert graph_of(name)["sizes"] == before["sizes"], stage
            found = hoprank.search("Who met Ada?", corpus=name, top_k=50, leg="fulltext")
            assert {item.metadata["document"] for item in found.items} <= {"numbers.csv", *map(str, range(10))}
            assert maintain.stats(hoprank.client, name).writer is None, "the lease is given back"

        summary = hoprank.sync(tmp_path, corpus=name).done
        assert summary
        assert (summary.documents, summary.unchanged) == (41, 10)
        assert graph_of(name) == graph_of(undisturbed)
        assert get_corpus(hoprank.client, name).staging is None
