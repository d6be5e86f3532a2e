"""Reading of files by this checkout against another one: ratios in one run, each taking its turn.

    git worktree add ../before 511d6e6
    uv run python tests/benchmarks/bench_readers.py ../before DATA_DIR/vault/arscontexta PAPERS.pdf NOTES.txt

A path is a file, a folder or a pattern, best of one format. Both checkouts run in processes of this environment. Their
seconds are those of the processor, in all of a checkout's processes, so that other work on the machine counts little;
a first read that isn't counted loads the parsers.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.benchmarks.checkouts import Checkout, both

WORKER = """
import os, sys, time
from pipeline.ingest.sources import read
from pipeline.records import Document

for line in sys.stdin:
    begun, before = time.perf_counter(), sum(os.times()[:4])
    documents = [item for item in read([line.strip()]) if isinstance(item, Document)]
    cpu, wall = sum(os.times()[:4]) - before, time.perf_counter() - begun
    pages, length = sum(len(item.page_starts) for item in documents), sum(len(item.text) for item in documents)
    print(cpu, wall, len(documents), pages, length, flush=True)
"""
TURNS = 5
MEGABYTE = 1_000_000


def main() -> None:
    """Read each path in turn and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", type=Path, help="another checkout")
    parser.add_argument("paths", nargs="+", help="files, folders or patterns")
    arguments = parser.parse_args()
    table = Table(title="This checkout / the other one: medians of the processor's seconds")
    for column in ("path", "files", "MB of text", "s", "other", "ratio", "MB/s", "pages/s", "pages/s of the clock"):
        table.add_column(column, justify="left" if column == "path" else "right")
    checkouts = both(arguments.other, WORKER)
    for path in arguments.paths:
        table.add_row(*_measured(checkouts, path))
    for checkout in checkouts:
        checkout.end()
    Console(width=130).print(table)


def _measured(checkouts: Sequence[Checkout], path: str) -> list[str]:
    whole = str(Path(path).absolute())
    for checkout in checkouts:
        checkout.ask(whole)
    turns = [[checkout.ask(whole) for checkout in checkouts] for _ in range(TURNS)]
    (cpu, wall, documents, pages, length), other = (
        [statistics.median(values) for values in zip(*reads, strict=True)] for reads in zip(*turns, strict=True)
    )
    return [
        Path(path).name,
        f"{documents:,.0f}",
        f"{length / MEGABYTE:.2f}",
        f"{cpu:.2f}",
        f"{other[0]:.2f}",
        f"{cpu / other[0]:.2f}",
        f"{length / MEGABYTE / cpu:.1f}",
        f"{pages / cpu:.0f}" if pages else "",
        f"{pages / wall:.0f}" if pages else "",
    ]


if __name__ == "__main__":
    main()
