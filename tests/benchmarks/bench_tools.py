"""Build a tool graph, find tools and chain them: seconds, and milliseconds a task.

    uv run python tests/benchmarks/bench_tools.py DATA_DIR/mcp/docker-registry DATA_DIR/tools/livemcpbench-dev

The tasks are those of the folders that have a queries.jsonl. The server and the model are warm.
"""

from __future__ import annotations

import argparse
import json
import time
import uuid
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from pipeline import HopRank
from pipeline.domains.tools.build import build
from pipeline.domains.tools.queries import ToolSearch
from pipeline.domains.tools.settings import ToolSettings


def main() -> None:
    """Build one graph of all folders, ask it, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    folders = parser.parse_args().folders
    files = [file for folder in folders for file in folder.glob("queries.jsonl")]
    tasks = [json.loads(line)["query"] for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    name = f"bench-{uuid.uuid4().hex[:8]}"
    table = Table(title="Tool graph")
    for column in ("step", "p50", "p95"):
        table.add_column(column)
    with HopRank.connect() as hoprank:
        settings = hoprank.settings.section(ToolSettings)
        try:
            for step in ("build", "build again"):
                start = time.perf_counter()
                built = build(partial(hoprank.graph, name), folders, settings)
                table.add_row(f"{step}, {built.nodes['tool']:,} tools", f"{time.perf_counter() - start:.1f} s", "")
            search = ToolSearch.open(hoprank, name)
            table.add_row(f"find, {len(tasks)} tasks", *_timed(search.find, tasks))
            table.add_row(f"chain, {len(tasks)} tasks", *_timed(search.chains, tasks))
        finally:
            hoprank.graph(name).drop()
    Console().print(table)


def _timed(ask: Callable[[str], object], tasks: list[str]) -> list[str]:
    """Return the percentiles of a second round, in milliseconds."""
    seconds: list[float] = []
    for task in (*tasks, *tasks):
        start = time.perf_counter()
        ask(task)
        seconds.append(time.perf_counter() - start)
    return [f"{1000 * float(np.quantile(seconds[len(tasks) :], share)):.0f} ms" for share in (0.5, 0.95)]


if __name__ == "__main__":
    main()
