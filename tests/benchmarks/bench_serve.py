"""The service: requests per second and milliseconds, against the bare Python call, quietly and during a sync.

    uv run python tests/benchmarks/bench_serve.py DATA_DIR/multihop/2wiki-dev146
    uv run python tests/benchmarks/bench_serve.py DATA_DIR/multihop/2wiki-dev146 --minutes 10   # memory, too

A server in a temporary home holds the folder's corpus, and ``hoprank serve`` runs on it as a process of its own. The
folder's questions go to it one after another and by 16 clients: a thousand requests in quiet, and a thousand while jobs
sync another corpus, whose documents are replaced by others each time. Each request has a connection that stays open.
``--minutes`` goes on with questions and syncs, and shows the memory of the service each minute. The exit code is 1 if a
request failed, or if p95 during the sync is over twice the quiet one.
"""

from __future__ import annotations

import argparse
import itertools
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil
import requests
from rich.console import Console
from rich.table import Table

from pipeline import HopRank
from pipeline.db.embedded import Address, ServerOptions, ensure_running, stop
from pipeline.evaluate.datasets import read_dataset
from pipeline.settings import load_settings

_CLIENTS = 16
_REQUESTS = 1000
_WARM_UP = 30
_SYNCED = 200
"""Documents of the corpus that is synced."""

_LIMIT = 2.0
_ANSWERED = re.compile(r"serves at (http://\S+)\.")


@dataclass(frozen=True)
class Timing:
    """Seconds of each call, and of all of them together."""

    name: str
    clients: int
    seconds: Sequence[float]
    together: float
    failed: int = 0

    def at(self, share: float) -> float:
        """The milliseconds that this share of the calls took at most."""
        return 1000 * statistics.quantiles(self.seconds, n=100, method="inclusive")[round(100 * share) - 1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--minutes", type=float, default=0)
    given = parser.parse_args()
    dataset = read_dataset(given.folder)
    questions = [query.text for query in dataset.queries]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home, server(Path(home)) as address:
        settings = load_settings({"neo4j": asdict(address)})
        with HopRank.connect(settings=settings) as hoprank:
            hoprank.ingest(given.folder / "corpus.jsonl", corpus="main")
            with service(address) as (url, process):
                passed = measure(hoprank, url, process, questions, given.minutes)
    sys.exit(0 if passed else 1)


def measure(hoprank: HopRank, url: str, process: psutil.Process, questions: list[str], minutes: float) -> bool:
    """Print the table; return whether no request failed and the sync slowed the others within the limit."""

    def bare(question: str) -> bool:
        return bool(hoprank.search(question, corpus="main").items)

    by_http = client(url)
    for warmed in (bare, by_http):
        timed("", warmed, questions, 1, _WARM_UP)
    rows = [
        timed("Python", bare, questions, 1, 200),
        timed("HTTP", by_http, questions, 1, 200),
        timed("Python", bare, questions, _CLIENTS, _REQUESTS),
        timed("HTTP", by_http, questions, _CLIENTS, _REQUESTS),
    ]
    before = process.memory_info().rss
    with syncing(url) as syncs:
        rows.append(timed("HTTP, during syncs", by_http, questions, _CLIENTS, _REQUESTS))
    quiet, busy = rows[-2:]
    show(rows)
    print(f"{syncs[0]} syncs of {_SYNCED} documents; p95 {busy.at(0.95) / quiet.at(0.95):.2f} times the quiet p95")
    print(f"memory: {before / 1e6:.0f} MB, after the syncs {process.memory_info().rss / 1e6:.0f} MB")
    failed = quiet.failed + busy.failed + (watch(url, process, by_http, questions, minutes) if minutes else 0)
    return not failed and busy.at(0.95) <= _LIMIT * quiet.at(0.95)


def watch(url: str, process: psutil.Process, call: Callable[[str], bool], questions: list[str], minutes: float) -> int:
    """Ask and sync for some minutes, print the memory each minute, and return the number of failed requests."""
    failed = 0
    with syncing(url) as syncs:
        for minute in range(1, round(minutes) + 1):
            end = time.monotonic() + 60
            asked = 0
            while time.monotonic() < end:
                part = timed("", call, questions, _CLIENTS, 200)
                failed, asked = failed + part.failed, asked + 200
            memory = process.memory_info().rss / 1e6
            print(f"minute {minute}: {memory:.0f} MB, {asked} questions, {syncs[0]} syncs so far", flush=True)
    return failed


def client(url: str) -> Callable[[str], bool]:
    """Return a function that asks the service, on a connection of its thread's own."""
    local = threading.local()

    def ask(question: str) -> bool:
        if not hasattr(local, "session"):
            local.session = requests.Session()
        answer = local.session.post(f"{url}/v1/search", json={"query": question, "corpus": "main"}, timeout=60)
        return answer.status_code == 200 and bool(answer.json()["items"])

    return ask


def timed(name: str, call: Callable[[str], bool], questions: Sequence[str], clients: int, count: int) -> Timing:
    """Call ``count`` times by that many clients."""
    asked = list(itertools.islice(itertools.cycle(questions), count))

    def one(question: str) -> tuple[float, bool]:
        start = time.perf_counter()
        try:
            good = call(question)
        except requests.RequestException:
            good = False
        return time.perf_counter() - start, good

    start = time.perf_counter()
    with ThreadPoolExecutor(clients) as pool:
        results = list(pool.map(one, asked))
    together = time.perf_counter() - start
    return Timing(name, clients, [seconds for seconds, _ in results], together, sum(not good for _, good in results))


@contextmanager
def syncing(url: str) -> Iterator[list[int]]:
    """Sync a corpus again and again until the context ends; yield the number of syncs that ended."""
    over, ended = threading.Event(), [0]

    def documents(turn: int) -> list[dict[str, str]]:
        text = "The tide of {0} at harbour {1} rose by {2} feet, says the Tide Table of {0}. "
        return [
            {"id": f"{number}", "title": f"Tide {number}", "text": text.format(1800 + number % 99, turn, number) * 6}
            for number in range(_SYNCED)
        ]

    def work() -> None:
        for turn in itertools.count():
            if over.is_set():
                return
            job = requests.post(f"{url}/v1/sync", json={"corpus": "synced", "documents": documents(turn)}, timeout=60)
            while not over.is_set():
                state = requests.get(f"{url}/v1/jobs/{job.json()['id']}", timeout=60).json()["state"]
                if state not in {"queued", "running"}:
                    ended[0] += state == "succeeded"
                    break
                time.sleep(0.2)

    thread = threading.Thread(target=work)
    thread.start()
    time.sleep(1)
    try:
        yield ended
    finally:
        over.set()
        thread.join()


@contextmanager
def server(home: Path) -> Iterator[Address]:
    """A Neo4j of its own."""
    options = ServerOptions(home=home)
    address = ensure_running(options)
    try:
        yield address
    finally:
        stop(options)


@contextmanager
def service(address: Address) -> Iterator[tuple[str, psutil.Process]]:
    """The command ``hoprank serve`` on that Neo4j; yield its URL and its process."""
    variables = {f"NEO4J_{name.upper()}": value for name, value in asdict(address).items()}
    command = [sys.executable, "-c", "from pipeline.cli import main; main()", "serve", "--port", "0"]
    environment = {**os.environ, **variables, "HOPRANK_SERVE__RATE": "0"}
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    assert process.stderr
    try:
        found = next(match[1] for line in process.stderr if (match := _ANSWERED.search(line)))
        threading.Thread(target=process.stderr.read, daemon=True).start()
        yield found, psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait(60)


def show(rows: Sequence[Timing]) -> None:
    """Print the table."""
    table = Table("", "clients", "requests/s", "p50 ms", "p95 ms", "failed")
    for row in rows:
        figures = (f"{len(row.seconds) / row.together:.1f}", f"{row.at(0.5):.1f}", f"{row.at(0.95):.1f}")
        table.add_row(row.name, str(row.clients), *figures, str(row.failed))
    Console().print(table)


if __name__ == "__main__":
    main()
