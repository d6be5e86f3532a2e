"""What size costs: memory and time of an ingest of generated documents, of a search, a filter, a sync and a drop.

    uv run python tests/benchmarks/bench_scale.py --documents 5000 200000 1000000

Documents are rows of a Parquet table. The first ``--embedded`` are embedded by the model, the rest bring vectors of
their own. Each name is in the titles and texts of as many documents however many there are, so that 200,000 of them
have two million edges. ``anonymous`` is what the process itself holds, beside the server; the resident size has besides
what the system keeps of files that are mapped. Questions name two names, and are encoded as a user's are. The filter is
on a declared field and admits 1%; its first use is of values that weren't asked before. A sync replaces 1% of the
documents.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import tempfile
import threading
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import psutil
from rich.console import Console
from rich.table import Table

from pipeline import HopRank
from pipeline.flows.maintain import drop
from pipeline.progress import Progress
from tests.benchmarks.generated import TENANTS, generated_questions, write_documents

_QUESTIONS, _UNTIMED = 200, 100


def main() -> None:
    """Generate, ingest and search, for each size in turn, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, nargs="+", default=[5_000, 200_000])
    parser.add_argument("--embedded", type=int, default=2_000)
    arguments = parser.parse_args()
    table = Table(title="What size costs")
    for column in ("documents", "", "s", "anonymous MB", "resident MB", "chunks", "entities", "edges"):
        table.add_column(column, justify="right")
    stages = Table("documents", "", "by stage", title="Seconds")
    searching = Table(title="Search, milliseconds a question")
    for column in ("documents", "p50", "p95", "p50 against the first", "1% filter: p50", "first use", "against none"):
        searching.add_column(column, justify="right")
    made: dict[int, str] = {}
    with HopRank.connect() as hoprank, tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "generated.parquet"
        try:
            for documents in arguments.documents:
                made[documents] = f"bench-{uuid.uuid4().hex[:8]}"
                write_documents(path, documents, arguments.embedded, hoprank.embedder.dimension)
                _add(documents, "ingest", _run(hoprank, "ingest", path, made[documents]), table, stages)
            for row in _search(hoprank, made):
                searching.add_row(*row)
            for documents, corpus in made.items():
                write_documents(path, documents, arguments.embedded, hoprank.embedder.dimension, changed=True)
                _add(documents, "sync of 1%", _run(hoprank, "sync", path, corpus), table, stages)
        finally:
            for documents, corpus in made.items():
                start = time.perf_counter()
                drop(hoprank.client, corpus)
                table.add_row(f"{documents:,}", "drop", f"{time.perf_counter() - start:,.0f}")
            console = Console(width=160)
            for one in (searching, table, stages):
                console.print(one)


def _add(documents: int, what: str, cells: Iterable[str], table: Table, stages: Table) -> None:
    *figures, by_stage = cells
    table.add_row(f"{documents:,}", what, *figures)
    stages.add_row(f"{documents:,}", what, by_stage)


def _run(hoprank: HopRank, verb: str, path: Path, corpus: str) -> Iterator[str]:
    with _Peak() as peak:
        progress = Progress()
        start = time.perf_counter()
        done = getattr(hoprank, verb)(path, corpus=corpus, filterable=["tenant"], progress=progress)
        seconds = time.perf_counter() - start
    summary = getattr(done, "done", done)
    yield f"{seconds:,.0f}"
    for size in (peak.anonymous, peak.resident):
        yield f"{size / 2**20:,.0f}"
    for count in (summary.chunks, summary.entities, sum(summary.edges.values())):
        yield f"{count:,}"
    yield ", ".join(f"{stage} {spent:.0f}" for stage, spent in progress.seconds.items())


def _search(hoprank: HopRank, made: dict[int, str]) -> Iterator[tuple[str, ...]]:
    """Ask corpora in turn, so that all meet the same machine."""
    questions = {documents: list(generated_questions(documents, _QUESTIONS + _UNTIMED)) for documents in made}
    times: dict[tuple[int, str], list[float]] = {}
    for place, (documents, corpus) in itertools.product(range(_QUESTIONS + _UNTIMED), made.items()):
        question = questions[documents][place]
        tenant = place % TENANTS
        kinds: list[tuple[str, Mapping[str, Any] | None]] = [("none", None)]
        kinds += [("first" if place < TENANTS else "again", {"tenant": tenant})]
        for kind, filters in kinds:
            start = time.perf_counter()
            found = hoprank.search(question, corpus=corpus, filters=filters)
            times.setdefault((documents, kind), []).append((time.perf_counter() - start) * 1000)
            assert len(found.items) == 10 or filters, "a search that finds little is quick for the wrong reason"
    first = None
    for documents in made:
        plain = times[documents, "none"][_UNTIMED:]
        p50 = statistics.median(plain)
        first = first or p50
        # The server plans the query of a filter at its first use; the values after it are new.
        again, once = statistics.median(times[documents, "again"]), statistics.median(times[documents, "first"][1:])
        p95 = statistics.quantiles(plain, n=20)[-1]
        yield (
            f"{documents:,}",
            *(f"{one:.1f}" for one in (p50, p95)),
            f"{p50 / first:.2f}",
            f"{again:.1f}",
            f"{once:.1f}",
            f"{again / p50:.2f}",
        )


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
