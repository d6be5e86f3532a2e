"""The memory of an ingest of many generated documents, beside the server's: the peak of the process.

    uv run python tests/benchmarks/bench_memory.py --documents 200000 --embedded 2000

The first ``--embedded`` documents are embedded by the model, the rest bring vectors of their own. ``anonymous`` is
what the process itself holds; the resident size has besides what the system keeps of files that are mapped.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from rich.console import Console
from rich.table import Table

from pipeline import HopRank
from pipeline.flows import drop
from pipeline.progress import Progress

_CENTRES = 500
_SYLLABLES = "ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu".split()


def main() -> None:
    """Generate, ingest, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=200_000)
    parser.add_argument("--embedded", type=int, default=2_000)
    arguments = parser.parse_args()
    table = Table(title="Memory of an ingest, beside the server's")
    for column in ("documents", "chunks", "entities", "edges", "seconds", "anonymous MB", "resident MB", "stages"):
        table.add_column(column, justify="right")
    name = f"bench-{uuid.uuid4().hex[:8]}"
    with HopRank.connect() as hoprank, tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "generated.jsonl"
        _write(path, arguments.documents, arguments.embedded, hoprank.embedder.dimension)
        try:
            with _Peak() as peak:
                progress = Progress()
                start = time.perf_counter()
                summary = hoprank.ingest(path, corpus=name, progress=progress)
                seconds = time.perf_counter() - start
        finally:
            drop(hoprank.client, name)
    counts = (summary.documents, summary.chunks, summary.entities, sum(summary.edges.values()))
    stages = ", ".join(f"{stage} {spent:.0f}" for stage, spent in progress.seconds.items())
    sizes = (f"{size / 2**20:,.0f}" for size in (peak.anonymous, peak.resident))
    table.add_row(*(f"{count:,}" for count in counts), f"{seconds:,.0f}", *sizes, stages)
    Console(width=140).print(table)


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


def _write(path: Path, documents: int, embedded: int, dimension: int) -> None:
    with path.open("w", encoding="utf-8") as file:
        for row in _rows(documents, embedded, dimension):
            file.write(json.dumps(row) + "\n")


def _rows(documents: int, embedded: int, dimension: int) -> Iterator[dict[str, Any]]:
    chance, numbers = random.Random(1), np.random.default_rng(1)  # noqa: S311 - the same documents every time
    names = [_name(chance) for _ in range(max(100, documents // 4))]
    words = ["".join(chance.choices(_SYLLABLES, k=3)) for _ in range(max(1000, documents // 10))]
    centres = numbers.normal(size=(_CENTRES, dimension))
    for place in range(documents):
        sentences = [f"{chance.choice(names)} saw {' '.join(chance.choices(words, k=12))}." for _ in range(5)]
        row: dict[str, Any] = {"id": str(place), "title": chance.choice(names)}
        if place < embedded:
            yield {**row, "text": " ".join(sentences)}
        else:
            vector = centres[place % _CENTRES] + numbers.normal(size=dimension)
            yield {**row, "chunks": [{"text": " ".join(sentences), "embedding": vector.round(3).tolist()}]}


def _name(chance: random.Random) -> str:
    return " ".join("".join(chance.choices(_SYLLABLES, k=3)).capitalize() for _ in range(2))


if __name__ == "__main__":
    main()
