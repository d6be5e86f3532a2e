"""The whole with GDS against the whole with the local engine: milliseconds a question and quality, on one server.

    uv run python tests/benchmarks/bench_walk.py DATA_DIR/multihop/* --corpus ev

Both engines answer each question in turn, in an order that alternates. Of their p50, GDS may take ten milliseconds more
where a projection has at most 15,000 nodes; a set with a larger difference is marked, and makes the exit code 1. Each
question is asked several times, and its fastest time counts beside all of them: other work on the machine slows down
the threads that GDS starts more than anything else.
With ``--corpus`` corpora are kept as ``ev/its name`` and used again.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
import uuid
from pathlib import Path

from rich.console import Console
from rich.table import Table

from pipeline import HopRank
from pipeline.db.catalogue import find_corpus, get_corpus
from pipeline.flows.maintain import drop
from pipeline.retrieve.legs import Leg

_ENGINES = ("local", "gds")
_MEASURES = ("recall@5", "recall@10", "ndcg@10")
_ROUNDS = 3
_NODES = 15_000
_ALLOWED_MS = 10.0


def main() -> int:
    """Measure each folder in turn, print a table, and return 1 if GDS takes too long in any."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, help="querysets' folders")
    parser.add_argument("--corpus", help="keep the corpora under this name")
    arguments = parser.parse_args()
    table = Table(title="The whole by both engines: p50 in milliseconds, measures in percent")
    for column in (
        "set",
        "nodes",
        "by GDS",
        "local",
        "gds",
        "ratio",
        "more",
        "fastest: local",
        "gds",
        "more",
        *_MEASURES,
    ):
        table.add_column(column, justify="left" if column == "set" else "right")
    with HopRank.connect() as hoprank:
        slow = [_add(table, hoprank, folder.resolve(), arguments.corpus) for folder in arguments.folders]
    Console(width=160).print(table)
    return int(any(slow))


def _add(table: Table, hoprank: HopRank, folder: Path, kept: str | None) -> bool:
    """Add the row of one set, and return whether GDS takes too long in it."""
    name = f"{kept}/{folder.name}" if kept else f"bench-{uuid.uuid4().hex[:8]}"
    engines = {engine: _walking_by(hoprank, engine) for engine in _ENGINES}
    try:
        quality = {
            engine: each.evaluate(folder, corpus=name, legs=[Leg.WHOLE]).legs[0].measures
            for engine, each in engines.items()
        }
        corpus = get_corpus(hoprank.client, name)
        times, walked = _alternate(engines, name, _questions(folder))
    finally:
        if not kept and find_corpus(hoprank.client, name):
            drop(hoprank.client, name)
    every, fastest = ({engine: each(taken) for engine, taken in times.items()} for each in (_p50, _p50_of_fastest))
    nodes = corpus.chunks + corpus.entities
    slow = fastest["gds"] - fastest["local"] > _ALLOWED_MS and nodes <= _NODES
    measures = [" / ".join(f"{100 * quality[engine][name]:.1f}" for engine in _ENGINES) for name in _MEASURES]
    ratio = f"{every['gds'] / every['local']:.2f}"
    figures = [*_compared(every)[:2], ratio, _compared(every)[2], *_compared(fastest)]
    figures[-1] += " <" if slow else ""
    table.add_row(folder.name, f"{nodes:,}", f"{walked:.0%}", *figures, *measures)
    return slow


def _p50(times: list[list[float]]) -> float:
    return statistics.median(taken for of_question in times for taken in of_question)


def _p50_of_fastest(times: list[list[float]]) -> float:
    return statistics.median(map(min, times))


def _compared(p50: dict[str, float]) -> list[str]:
    return [f"{p50['local']:.1f}", f"{p50['gds']:.1f}", f"{p50['gds'] - p50['local']:+.1f}"]


def _walking_by(hoprank: HopRank, engine: str) -> HopRank:
    walk = hoprank.settings.walk.model_copy(update={"engine": engine})
    return HopRank(hoprank.client, hoprank.embedder, hoprank.settings.model_copy(update={"walk": walk}))


def _alternate(
    engines: dict[str, HopRank], corpus: str, questions: list[str]
) -> tuple[dict[str, list[list[float]]], float]:
    """Return the times of each engine by question, and the share of questions that GDS walks for: those with a name."""
    times: dict[str, list[list[float]]] = {engine: [[] for _ in questions] for engine in engines}
    order, walked = list(engines), 0
    for turn in range(1 + _ROUNDS):
        for number, question in enumerate(questions):
            for engine in order:
                start = time.perf_counter()
                result = engines[engine].search(question, corpus=corpus)
                taken = 1000 * (time.perf_counter() - start)
                # The first turn warms up, and fills the caches of hits.
                if turn:
                    times[engine][number].append(taken)
                    walked += result.metadata["engine"] == "gds"
            order.reverse()
    return times, walked / len(questions) / _ROUNDS


def _questions(folder: Path) -> list[str]:
    lines = (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    return [row.get("query") or row["text"] for row in map(json.loads, lines)]


if __name__ == "__main__":
    sys.exit(main())
