"""A sync of a few changes against the whole ingest: what 1% of a corpus costs, in percent of all of it.

    uv run python tests/benchmarks/bench_sync.py DATA_DIR/ir/scifact-train --documents 5000

The documents are the first of corpus.jsonl. Of the changed ones (1%) half get another sentence, a quarter are removed
and a quarter are new. Run it with a HOPRANK_HOME of its own: vectors that the graph has are not made again.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
import uuid
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from pipeline import HopRank
from pipeline.flows.maintain import drop
from pipeline.progress import Progress


def main() -> None:
    """Ingest, change, sync, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="a queryset's folder with a corpus.jsonl")
    parser.add_argument("--documents", type=int, default=5000)
    parser.add_argument("--changed", type=float, nargs="*", default=[0.0, 0.0002, 0.01], help="shares of the documents")
    arguments = parser.parse_args()
    lines = (arguments.folder / "corpus.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    table = Table(title=f"{arguments.folder.name}: sync against ingest, {arguments.documents:,} documents")
    for column in ("changed", "seconds", "share of the ingest", "seconds by stage"):
        table.add_column(column, justify="left" if column == "seconds by stage" else "right")
    name = f"bench-{uuid.uuid4().hex[:8]}"
    with HopRank.connect() as hoprank, tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "corpus.jsonl"
        hoprank.embedder.encode(["warm"] * 64)
        try:
            present, spare = rows[: arguments.documents], rows[arguments.documents :]
            whole = _sync(hoprank, path, present, name, table, "all", None)
            for share in arguments.changed:
                count = round(share * arguments.documents)
                present = _edited(present, spare[:count], count)
                _sync(hoprank, path, present, name, table, f"{count:,}", whole)
        finally:
            drop(hoprank.client, name)
    Console(width=140).print(table)


def _edited(rows: list[dict[str, Any]], spare: list[dict[str, Any]], count: int) -> list[dict[str, Any]]:
    """Change ``count`` documents of ``rows``, spread over all of them."""
    step = max(1, len(rows) // max(count, 1))
    places = [place * step for place in range(count)]
    edited = list(rows)
    for place in places[count // 2 : count]:
        edited[place] = {**edited[place], "text": f"{edited[place]['text']} The Edinburgh group agreed on {place}."}
    gone = set(places[: count // 4])
    return [row for place, row in enumerate(edited) if place not in gone] + spare[: count // 4]


def _sync(
    hoprank: HopRank,
    path: Path,
    rows: list[dict[str, Any]],
    name: str,
    table: Table,
    changed: str,
    whole: float | None,
) -> float:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    progress = Progress()
    start = time.perf_counter()
    if whole is None:
        hoprank.ingest(path, corpus=name, progress=progress)
    else:
        hoprank.sync(path, corpus=name, progress=progress)
    seconds = time.perf_counter() - start
    stages = ", ".join(f"{stage} {spent:.2f}" for stage, spent in progress.seconds.items())
    table.add_row(changed, f"{seconds:.2f}", f"{seconds / whole:.1%}" if whole else "", stages)
    return seconds


if __name__ == "__main__":
    main()
