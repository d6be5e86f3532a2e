"""Documents a second by Ray with one and two workers, and without it, in one run.

    uv run python tests/benchmarks/bench_ray.py DATA

DATA is a queryset's folder with a corpus.jsonl. Each engine ingests it into a corpus of its own, on an embedded server
in a temporary home, which is warmed up first. The time of Ray's start is a column of its own.
"""

import argparse
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

from pipeline import HopRank
from pipeline.db.catalogue import drop_corpus, get_corpus
from pipeline.db.embedded import ServerOptions, ensure_running, stop
from pipeline.ingest.distributed.cluster import cluster
from pipeline.progress import Progress
from pipeline.settings import Settings, load_settings


def main() -> None:
    """Measure the engines in turn and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="a folder with a corpus.jsonl")
    path = parser.parse_args().folder / "corpus.jsonl"
    table = Table("engine", "workers", "documents", "a second", "start", "seconds by stage", title=str(path))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        options = ServerOptions(Path(home), jars=load_settings().data_home / "jars")
        try:
            address = asdict(ensure_running(options))
            # One precision for all, and vectors that no engine finds in the graph of the one before.
            for engine, workers in (("warm", 0), ("local", 0), ("ray", 1), ("ray", 2)):
                flags = {"ingest": {"engine": "ray" if engine == "ray" else "local"}, "ray": {"workers": workers}}
                chosen = load_settings({**flags, "neo4j": address, "embed": {"precision": "float32"}})
                cells = _measure(chosen, path, engine)
                if engine != "warm":
                    table.add_row(engine, str(workers or ""), *cells)
        finally:
            stop(options)
    Console(width=160).print(table)


def _measure(settings: Settings, path: Path, name: str) -> list[str]:
    """Return the cells of a row; Ray is started before the clock, and its start is timed by itself."""
    with HopRank.connect(settings=settings) as hoprank:
        begin = time.perf_counter()
        if settings.ingest.engine == "ray":
            with cluster(settings.ray):
                started = time.perf_counter()
                cells = _timed(hoprank, path, name)
        else:
            started = begin
            cells = _timed(hoprank, path, name)
        drop_corpus(hoprank.client, get_corpus(hoprank.client, name))
    return [*cells[:2], f"{started - begin:.1f}", cells[2]]


def _timed(hoprank: HopRank, path: Path, name: str) -> tuple[str, str, str]:
    progress = Progress()
    start = time.perf_counter()
    summary = hoprank.ingest(path, corpus=name, progress=progress)
    seconds = time.perf_counter() - start
    stages = ", ".join(f"{stage} {spent:.1f}" for stage, spent in progress.seconds.items())
    return f"{summary.documents:,}", f"{summary.documents / seconds:.1f}", stages


if __name__ == "__main__":
    main()
