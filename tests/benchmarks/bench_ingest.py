"""Ingestion against the bare encoder: passages a second, end to end, as a ratio in one run.

    uv run python tests/benchmarks/bench_ingest.py DATA_DIR/multihop/2wiki-dev146 DATA_DIR/ir/scifact-train

The server and the model are warm. The server is in a temporary home of its own: vectors that a graph has are not made
again. The bare encoder is ``SentenceTransformer.encode`` of the same precision on the corpus's texts, batched and
sorted as it does by itself.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
import uuid
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

from pipeline import HopRank
from pipeline.db.catalogue import drop_corpus, get_corpus
from pipeline.db.embedded import ServerOptions, ensure_running, stop
from pipeline.embedding.sentence_transformer import SentenceTransformerEmbedder
from pipeline.progress import Progress
from pipeline.settings import load_settings


def main() -> None:
    """Measure each folder in turn and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, help="querysets' folders, each with a corpus.jsonl")
    table = Table(title="Ingestion, passages a second")
    for column in ("corpus", "passages", "chunks", "bare encoder", "hoprank", "ratio", "again", "seconds by stage"):
        table.add_column(column, justify="left" if column in ("corpus", "seconds by stage") else "right")
    folders = parser.parse_args().folders
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        options = ServerOptions(Path(home), jars=load_settings().data_home / "jars")
        try:
            with HopRank.connect(**asdict(ensure_running(options))) as hoprank:
                hoprank.embedder.encode(["warm"] * 300)
                for folder in folders:
                    table.add_row(*_measure(hoprank, folder))
        finally:
            stop(options)
    Console(width=140).print(table)


def _measure(hoprank: HopRank, folder: Path) -> list[str]:
    path = folder / "corpus.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    texts = [f"{row.get('title') or ''}\n{row['text']}" for row in rows]
    start = time.perf_counter()
    assert isinstance(hoprank.embedder, SentenceTransformerEmbedder)
    hoprank.embedder.model.encode(texts, batch_size=32, convert_to_tensor=True)
    bare = len(texts) / (time.perf_counter() - start)
    name = f"bench-{uuid.uuid4().hex[:8]}"
    try:
        progress = Progress()
        start = time.perf_counter()
        summary = hoprank.ingest(path, corpus=name, progress=progress)
        first = time.perf_counter() - start
        start = time.perf_counter()
        hoprank.ingest(path, corpus=name)
        again = time.perf_counter() - start
    finally:
        drop_corpus(hoprank.client, get_corpus(hoprank.client, name))
    ours = len(texts) / first
    stages = ", ".join(f"{stage} {seconds:.1f}" for stage, seconds in progress.seconds.items())
    return [
        folder.name,
        f"{len(texts):,}",
        f"{summary.chunks:,}",
        f"{bare:.0f}",
        f"{ours:.0f}",
        f"{ours / bare:.0%}",
        f"{again / first:.1%}",
        stages,
    ]


if __name__ == "__main__":
    main()
