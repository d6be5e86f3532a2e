"""What size costs: the memory of an ingest of generated documents, and the time of a search, few of them against many.

    uv run python tests/benchmarks/bench_scale.py --documents 5000 200000

The first ``--embedded`` documents are embedded by the model, the rest bring vectors of their own. Each name is in the
titles and texts of as many documents however many there are, so that 200,000 of them have two million edges.
``anonymous`` is what the process itself holds, beside the server; the resident size has besides what the system keeps
of files that are mapped. Questions name two names, and are encoded as a user's are.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import psutil
from rich.console import Console
from rich.table import Table

from pipeline import HopRank
from pipeline.flows.maintain import drop
from pipeline.progress import Progress
from tests.benchmarks.generated import generated_questions, write_documents

_QUESTIONS, _UNTIMED = 200, 100


def main() -> None:
    """Generate, ingest and search, for each size in turn, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, nargs="+", default=[5_000, 200_000])
    parser.add_argument("--embedded", type=int, default=2_000)
    arguments = parser.parse_args()
    table = Table(title="What size costs")
    for column in ("documents", "chunks", "entities", "edges", "ingest s", "anonymous MB", "resident MB", "stages"):
        table.add_column(column, justify="right")
    searching = Table(title="Search, milliseconds a question")
    for column in ("documents", "p50", "p95", "p50 against the first"):
        searching.add_column(column, justify="right")
    made: dict[int, str] = {}
    with HopRank.connect() as hoprank, tempfile.TemporaryDirectory() as folder:
        try:
            for documents in arguments.documents:
                made[documents] = f"bench-{uuid.uuid4().hex[:8]}"
                path = Path(folder) / "generated.jsonl"
                write_documents(path, documents, arguments.embedded, hoprank.embedder.dimension)
                table.add_row(f"{documents:,}", *_ingest(hoprank, path, made[documents]))
            Console(width=140).print(table)
            for row in _search(hoprank, made):
                searching.add_row(*row)
            Console(width=140).print(searching)
        finally:
            for corpus in made.values():
                drop(hoprank.client, corpus)


def _ingest(hoprank: HopRank, path: Path, corpus: str) -> Iterator[str]:
    with _Peak() as peak:
        progress = Progress()
        start = time.perf_counter()
        summary = hoprank.ingest(path, corpus=corpus, progress=progress)
        seconds = time.perf_counter() - start
    for count in (summary.chunks, summary.entities, sum(summary.edges.values())):
        yield f"{count:,}"
    yield f"{seconds:,.0f}"
    for size in (peak.anonymous, peak.resident):
        yield f"{size / 2**20:,.0f}"
    yield ", ".join(f"{stage} {spent:.0f}" for stage, spent in progress.seconds.items())


def _search(hoprank: HopRank, made: dict[int, str]) -> Iterator[tuple[str, ...]]:
    """Ask corpora in turn, so that all meet the same machine."""
    questions = {documents: list(generated_questions(documents, _QUESTIONS + _UNTIMED)) for documents in made}
    times: dict[int, list[float]] = {documents: [] for documents in made}
    for place in range(_QUESTIONS + _UNTIMED):
        for documents, corpus in made.items():
            start = time.perf_counter()
            found = hoprank.search(questions[documents][place], corpus=corpus)
            times[documents].append((time.perf_counter() - start) * 1000)
            assert len(found.items) == 10, "a search that finds little is quick for the wrong reason"
    p50 = {documents: statistics.median(taken[_UNTIMED:]) for documents, taken in times.items()}
    first = next(iter(p50.values()))
    for documents, taken in times.items():
        p95 = statistics.quantiles(taken[_UNTIMED:], n=20)[-1]
        yield f"{documents:,}", f"{p50[documents]:.1f}", f"{p95:.1f}", f"{p50[documents] / first:.2f}"


class _Peak:
    """The most memory that this process has while the context lasts, looked at ten times a second."""

    def __init__(self) -> None:
        self.anonymous = 0
        self.resident = 0
        self._over = threading.Event()
        self._watcher = threading.Thread(target=self._watch)

    def __enter__(self) -> _Peak:
        self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._watcher.join()

    def _watch(self) -> None:
        process = psutil.Process()
        while not self._over.wait(0.1):
            memory = process.memory_info()
            self.resident = max(self.resident, memory.rss)
            self.anonymous = max(self.anonymous, memory.rss - getattr(memory, "shared", 0))


if __name__ == "__main__":
    main()
