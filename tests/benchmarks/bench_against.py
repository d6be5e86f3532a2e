"""Ingest and search of this checkout against another one: ratios in one run, each taking its turn.

    git worktree add ../before HEAD~1
    uv run python tests/benchmarks/bench_against.py ../before DATA_DIR/multihop/2wiki-dev146 DATA_DIR/ir/scifact-train

Both run in processes of this environment, on one server; the layout of corpora must be the same. A first ingest that
isn't counted leaves the vectors, so that an ingest takes all but the encoder. Questions alternate one by one, and the
first tenth of them warms up.
"""

from __future__ import annotations

import argparse
import json
import statistics
import uuid
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from pipeline import HopRank
from pipeline.db.catalogue import find_corpus
from pipeline.flows.maintain import drop
from tests.benchmarks.checkouts import Checkout, both

WORKER = """
import json, sys, time
from pipeline import HopRank

with HopRank.connect() as hoprank:
    hoprank.embedder.embed_query("warm")
    for line in sys.stdin:
        method, arguments, named = json.loads(line)
        start = time.perf_counter()
        getattr(hoprank, method)(*arguments, **named)
        print(time.perf_counter() - start, flush=True)
"""
INGESTS = 5
QUESTIONS = 300


def main() -> None:
    """Measure each folder in turn and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", type=Path, help="another checkout")
    parser.add_argument("folders", nargs="+", type=Path, help="querysets' folders, with corpus.jsonl and queries.jsonl")
    arguments = parser.parse_args()
    table = Table(title="This checkout / the other one: ratios of medians")
    for column in ("set", "ingest, s", "other", "ratio", "search p50, ms", "other", "ratio"):
        table.add_column(column, justify="left" if column == "set" else "right")
    with HopRank.connect() as hoprank:
        checkouts = both(arguments.other, WORKER)
        for folder in arguments.folders:
            table.add_row(folder.name, *_measured(hoprank, checkouts, folder))
        for checkout in checkouts:
            checkout.end()
    Console(width=110).print(table)


def _measured(hoprank: HopRank, checkouts: tuple[Checkout, Checkout], folder: Path) -> list[str]:
    path, kept = str((folder / "corpus.jsonl").resolve()), f"bench-{uuid.uuid4().hex[:8]}"
    lines = (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()[:QUESTIONS]
    questions = [row.get("query") or row["text"] for row in map(json.loads, lines)]
    try:
        # By neither of the two: a process that has loaded the model searches a little more slowly ever after.
        hoprank.ingest(path, corpus=kept)
        ingests: tuple[list[float], list[float]] = ([], [])
        for turn in range(2 * INGESTS):
            name = f"{kept}-{turn}"
            ingests[turn % 2].append(_seconds(checkouts[turn % 2], "ingest", path, corpus=name))
            _drop(hoprank, name)
        searches: tuple[list[float], list[float]] = ([], [])
        for number, question in enumerate(questions):
            for place in (0, 1) if number % 2 else (1, 0):
                took = _seconds(checkouts[place], "search", question, corpus=kept)
                if number >= len(questions) // 10:
                    searches[place].append(1000 * took)
    finally:
        _drop(hoprank, kept)
    return [*_compared(*ingests, digits=1), *_compared(*searches, digits=1)]


def _seconds(checkout: Checkout, method: str, *arguments: str, **named: Any) -> float:
    """Call a method of HopRank, and return how long it took."""
    return checkout.ask(json.dumps([method, arguments, named]))[0]


def _compared(these: list[float], others: list[float], *, digits: int) -> list[str]:
    this, other = statistics.median(these), statistics.median(others)
    return [f"{this:.{digits}f}", f"{other:.{digits}f}", f"{this / other:.2f}"]


def _drop(hoprank: HopRank, name: str) -> None:
    if find_corpus(hoprank.client, name):
        drop(hoprank.client, name)


if __name__ == "__main__":
    main()
