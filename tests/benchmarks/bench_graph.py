"""A large knowledge graph: loading, neighbours, the 100 best within 3 hops.

    uv run python tests/benchmarks/bench_graph.py --nodes 100000 --edges 1000000

Edges join random nodes, half of them directed, with random weights and four types. The load is what
``hoprank graph import FILE --graph NAME`` does, from a file of JSON Lines; reads are from random starts.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table

from pipeline import HopRank, KnowledgeGraph
from pipeline.knowledge.exchange import read_graph
from pipeline.knowledge.load import load
from pipeline.progress import Progress

_TYPES = ("semantic", "structural", "temporal", "causal")
_NAME = "bench-graph"


def main() -> None:
    """Write a file, load it, ask the graph, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--edges", type=int, default=1_000_000)
    parser.add_argument("--starts", type=int, default=300, help="random starts of each kind of read")
    parser.add_argument("--keep", action="store_true", help="keep the graph")
    given = parser.parse_args()
    table = Table(title=f"{given.nodes:,} nodes, {given.edges:,} edges")
    for column in ("what", "p50", "p95", "whole"):
        table.add_column(column, justify="left" if column == "what" else "right")
    with HopRank.connect() as hoprank:
        try:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder, "graph.jsonl")
                _write(path, given.nodes, given.edges)
                _load(hoprank, path, given.edges, table)
            _read(KnowledgeGraph(_NAME, client=hoprank.client), given.nodes, given.starts, table)
        finally:
            if not given.keep:
                KnowledgeGraph(_NAME, client=hoprank.client).drop()
    Console().print(table)


def _load(hoprank: HopRank, path: Path, edges: int, table: Table) -> None:
    progress = Progress()
    start = time.perf_counter()
    load(hoprank.client, _NAME, read_graph(path, None), progress)
    seconds = time.perf_counter() - start
    table.add_row("load", "", "", f"{seconds:.1f} s")
    rate = edges / progress.seconds["edges"]
    table.add_row("  its edges", "", "", f"{progress.seconds['edges']:.1f} s, {rate:,.0f} a second")
    table.add_row("  edges over the whole load", "", "", f"{edges / seconds:,.0f} a second")


def _read(graph: KnowledgeGraph, nodes: int, starts: int, table: Table) -> None:
    draw = random.Random(1)  # noqa: S311  # no secret
    reads: dict[str, Callable[[str], object]] = {
        "a node": graph.get_node,
        "neighbours": graph.get_neighbors,
        "neighbours, edges only": graph.get_neighbor_info,
        "the 100 best within 3 hops": lambda one: graph.multi_hop_retrieval(one, 3, limit=100),
        "the shortest path": lambda one: graph.find_path(one, str(draw.randrange(nodes))),
        "the strongest path": lambda one: graph.find_path(one, str(draw.randrange(nodes)), by="strength"),
    }
    for what, read in reads.items():
        count = starts if what != "the strongest path" else max(5, starts // 30)
        for _ in range(count // 5):
            read(str(draw.randrange(nodes)))
        times = [_milliseconds(read, str(draw.randrange(nodes))) for _ in range(count)]
        p95 = statistics.quantiles(times, n=20)[-1]
        table.add_row(what, f"{statistics.median(times):.1f} ms", f"{p95:.1f} ms", "")
    for what in ("walk from a node (GDS), first", "walk from a node (GDS), later"):
        seconds = _milliseconds(lambda one: graph.walk_from({one: 1.0}, 100), str(draw.randrange(nodes))) / 1000
        table.add_row(what, "", "", f"{seconds:.2f} s")


def _milliseconds(read: Callable[[str], object], start: str) -> float:
    began = time.perf_counter()
    read(start)
    return (time.perf_counter() - began) * 1000


def _write(path: Path, nodes: int, edges: int) -> None:
    draw = random.Random(0)  # noqa: S311  # no secret
    with path.open("w", encoding="utf-8") as file:
        for number in range(nodes):
            node = {"id": str(number), "type": "thing", "properties": {"name": f"thing {number}"}}
            file.write(json.dumps({"node": node}) + "\n")
        for number in range(edges):
            edge = {
                "id": f"e{number}",
                "source": str(draw.randrange(nodes)),
                "target": str(draw.randrange(nodes)),
                "type": f"r{number % 7}",
                "supported_edge_type": draw.choice(_TYPES),
                "weight": round(draw.random(), 3),
                "directed": number % 2 == 0,
            }
            file.write(json.dumps({"edge": edge}) + "\n")


if __name__ == "__main__":
    main()
