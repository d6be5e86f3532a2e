"""Recall of turns over MCP against Python's: the same questions to one memory, by both; equal answers are expected.

    uv run python tests/benchmarks/bench_memory_mcp.py DATA_DIR/memory/locomo-dev

The memory is that of ``hoprank memory evaluate``, and is dropped afterwards. Both ask without a filter, since
``memory_recall`` takes none: all conversations are searched, and fewer turns are found than with filters. The client
talks over standard streams. The exit code is 1 if any answer differs.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from anyio.from_thread import start_blocking_portal
from mcp.client.stdio import StdioServerParameters, stdio_client
from rich.console import Console
from rich.table import Table

from pipeline import HopRank, Memory
from pipeline.domains.memory.evaluate import evaluate, recall_at
from pipeline.evaluate.datasets import read_dataset
from pipeline.json_values import plain
from tests.serve.mcp.conftest import HOPRANK, talking

_ITEMS, _TURNS = 30, 10


def main() -> int:
    """Ask both, print a table, and return 1 if any answer differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="corpus.jsonl (turns), queries.jsonl and qrels.tsv")
    parser.add_argument("--questions", type=int, default=None, help="fewer, for a quick look")
    arguments = parser.parse_args()
    queries = read_dataset(arguments.folder).queries[: arguments.questions]
    name = f"bench-{uuid.uuid4().hex[:8]}"
    shares: dict[str, list[float]] = {"Python": [], "MCP": []}
    times: dict[str, list[float]] = {"Python": [], "MCP": []}
    differing = 0
    server = StdioServerParameters(
        command=HOPRANK[0], args=[*HOPRANK[1:], "mcp", "--domain", "memory"], env={**os.environ}
    )
    with HopRank.connect() as hoprank, start_blocking_portal() as portal:
        memory = Memory(hoprank, name)
        try:
            evaluate(hoprank, arguments.folder, name=name)
            with talking(portal, stdio_client(server)) as talk:
                ways: dict[str, Callable[[str], Any]] = {
                    "Python": lambda text: plain(memory.search(text, _ITEMS)),
                    "MCP": lambda text: talk.call("memory_recall", question=text, top_k=_ITEMS, memory=name),
                }
                for query in queries:
                    answers = []
                    for way, ask in ways.items():
                        start = time.perf_counter()
                        answers.append(ask(query.text)["items"])
                        times[way].append(1000 * (time.perf_counter() - start))
                        shares[way].append(recall_at(_turns(answers[-1]), query.relevant, _TURNS))
                    differing += _turns(answers[0]) != _turns(answers[1])
        finally:
            memory.drop()
    table = Table(title=f"{len(queries)} questions, {differing} answered differently")
    for column in ("", f"turns@{_TURNS}", "ms a question (p50)"):
        table.add_column(column, justify="right")
    for way in shares:
        table.add_row(way, f"{100 * statistics.fmean(shares[way]):.1f}", f"{statistics.median(times[way]):.0f}")
    Console(width=100).print(table)
    return int(differing > 0)


def _turns(items: list[dict[str, Any]]) -> list[str]:
    return [item["hit"]["document"] for item in items if "hit" in item]


if __name__ == "__main__":
    sys.exit(main())
