"""Search 50 corpora by route: milliseconds a question, beside a search of one of them.

    uv run python tests/benchmarks/bench_routing.py DATA_DIR/multihop/2wiki-dev146 [--projects 50]

The documents of the folder are dealt out to projects that ask and know nothing of each other, so each question has its
evidence in several. The server and the model are warm.
"""

from __future__ import annotations

import argparse
import json
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from rich.console import Console
from rich.table import Table

from pipeline import HopRank
from pipeline.db.catalogue import drop_corpus, find_corpus
from pipeline.domains.routing.project_graph import ProjectGraph
from pipeline.domains.routing.router import Router
from pipeline.domains.routing.schema import Project


def main() -> None:
    """Index the projects, ask each question of one and of all, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--projects", type=int, default=50)
    arguments = parser.parse_args()
    documents = (arguments.folder / "corpus.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    lines = (arguments.folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    questions = [json.loads(line)["query"] for line in lines]
    name = f"bench-{uuid.uuid4().hex[:8]}"
    corpora = [f"{name}/{number}" for number in range(arguments.projects)]
    with HopRank.connect() as hoprank, TemporaryDirectory() as folder:
        try:
            graph = ProjectGraph.open(hoprank, name)
            for number, corpus in enumerate(corpora):
                path = Path(folder) / f"{number}.jsonl"
                path.write_text("".join(documents[number :: len(corpora)]), encoding="utf-8")
                hoprank.ingest(path, corpus=corpus)
                graph.add_node(Project(corpus, corpus=corpus))
            Console().print(_table(hoprank, Router(hoprank, name), corpora, questions))
        finally:
            hoprank.graph(name).drop()
            for corpus in corpora:
                if found := find_corpus(hoprank.client, corpus):
                    drop_corpus(hoprank.client, found)


def _table(hoprank: HopRank, router: Router, corpora: list[str], questions: list[str]) -> Table:
    table = Table(title=f"{len(corpora)} corpora, {len(questions)} questions")
    for column in ("search", "p50 ms", "p95 ms", "of one"):
        table.add_column(column, justify="right" if column != "search" else "left")
    searches: dict[str, Callable[[str], object]] = {
        "one corpus": lambda question: hoprank.search(question, corpus=corpora[0]),
        "routed by graph": router.search,
        "all projects": lambda question: router.search(question, mode="all"),
    }
    one = 0.0
    for label, search in searches.items():
        seconds = _seconds(search, questions)
        median = float(np.median(seconds))
        one = one or median
        tail = float(np.quantile(seconds, 0.95))
        table.add_row(label, f"{1000 * median:.1f}", f"{1000 * tail:.1f}", f"{median / one:.2f}")
    return table


def _seconds(search: Callable[[str], object], questions: list[str]) -> list[float]:
    """Return the seconds of each question in a second round."""
    seconds = []
    for question in (*questions, *questions):
        start = time.perf_counter()
        search(question)
        seconds.append(time.perf_counter() - start)
    return seconds[len(questions) :]


if __name__ == "__main__":
    main()
