"""Ingestion against the bare encoder: passages a second, end to end, as a ratio in one run.

    uv run python tests/benchmarks/bench_ingest.py DATA_DIR/multihop/2wiki-dev146 DATA_DIR/ir/scifact-train

Each folder is ingested into a server that was just started, in an empty home with jars (and Java's cache, if they lie
beside one: `hoprank db aot`), and then again into the same server after the corpus is dropped, which is warm. The model
is warm both times. Vectors of a dropped corpus aren't there to be reused. The bare encoder is
``SentenceTransformer.encode`` of the same precision on the texts of the same chunks, batched and sorted as it does by
itself; in float32, where the bundled model runs as ONNX, it is the same ONNX session on the same texts. Seconds of CPU
are those of this process and of the server: they count on a busy machine, where the others don't.

``--peer`` also measures langchain-neo4j's ``Neo4jVector.from_documents`` of the same texts on the same server, which
is warm: as it comes, with the model in float32 as its HuggingFaceEmbeddings encodes, and with the bare encoder above.
It makes no links, and no index for full text. Its two columns stand for the seconds by stage, for a page has no room
for both. langchain-neo4j must be installed.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import psutil
from rich.console import Console
from rich.table import Table

from pipeline import HopRank
from pipeline.db.catalogue import drop_corpus, get_corpus
from pipeline.db.embedded import Address, ServerOptions, ensure_running, status, stop
from pipeline.embedding.model_files import ModelFiles
from pipeline.embedding.sentence_transformer import SentenceTransformerEmbedder
from pipeline.ingest.chunking.chunk import cut
from pipeline.ingest.embed import embedded_text
from pipeline.ingest.engine import make_chunker
from pipeline.ingest.sources import read
from pipeline.progress import Progress
from pipeline.records import Document, Precision
from pipeline.settings import load_settings

_COLUMNS = ("corpus", "server", "passages", "chunks", "bare", "hoprank", "ratio", "again")
_TEXT = ("corpus", "server", "seconds by stage")


def main() -> None:
    """Measure each folder in turn and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, help="querysets' folders, each with a corpus.jsonl")
    parser.add_argument("--peer", action="store_true", help="measure langchain-neo4j too")
    arguments = parser.parse_args()
    table = Table(title="Ingestion, passages a second")
    last = ("peer", "by bare") if arguments.peer else ("seconds by stage",)
    for column in (*_COLUMNS, "CPU: s", *last):
        table.add_column(column, justify="left" if column in _TEXT else "right")
    for folder in arguments.folders:
        for row in _measure(folder, peer=arguments.peer):
            table.add_row(*row)
    Console(width=170).print(table)


def _measure(folder: Path, *, peer: bool) -> Iterator[list[str]]:
    """Yield the rows of a folder: into a cold server, and into the same one, now warm."""
    path = folder / "corpus.jsonl"
    documents = [found for found in read([str(path)]) if isinstance(found, Document)]
    with _fresh_server() as (options, address), HopRank.connect(**asdict(address)) as hoprank:
        server = psutil.Process(status(options).pid)
        assert isinstance(hoprank.embedder, SentenceTransformerEmbedder)
        hoprank.embedder.encode(["warm"] * 300)
        encode = _bare_encoder(hoprank.embedder)
        chunker = make_chunker(hoprank.embedder, hoprank.settings)
        texts = [embedded_text(chunk) for _, chunks in cut(chunker, documents, "") for chunk in chunks]
        _, bare_seconds, bare_cpu = _timed(encode, texts)
        for state in ("cold", "warm"):
            name, progress, before = f"bench-{uuid.uuid4().hex[:8]}", Progress(), _cpu(server)
            summary, seconds, cpu = _timed(hoprank.ingest, path, corpus=name, progress=progress)
            server_cpu = _cpu(server) - before
            _, again, _ = _timed(hoprank.ingest, path, corpus=name)
            drop_corpus(hoprank.client, get_corpus(hoprank.client, name))
            if not peer:
                last = [", ".join(f"{stage} {spent:.1f}" for stage, spent in progress.seconds.items())]
            elif state == "cold":
                last = ["", ""]
            else:
                each = (_as_it_comes(hoprank.settings.embed.model), encode)
                last = [f"{len(documents) / _timed(_langchain, address, one, texts)[1]:.0f}" for one in each]
            yield [
                folder.name,
                state,
                f"{len(documents):,}",
                f"{summary.chunks:,}",
                f"{len(documents) / bare_seconds:.0f}",
                f"{len(documents) / seconds:.0f}",
                f"{bare_seconds / seconds:.0%}",
                f"{again / seconds:.1%}",
                f"{bare_cpu:.0f}, {cpu:.0f}, {server_cpu:.0f}",
                *last,
            ]


@contextmanager
def _fresh_server() -> Iterator[tuple[ServerOptions, Address]]:
    """Yield the options and the address of a server that was just started in a temporary home."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        options = ServerOptions(Path(home), jars=load_settings().data_home / "jars")
        try:
            yield options, ensure_running(options)
        finally:
            stop(options)


def _bare_encoder(embedder: SentenceTransformerEmbedder) -> Callable[[list[str]], Any]:
    """Return the encoder in the precision of a new corpus: the ONNX session in float32, else sentence-transformers."""
    if embedder.precision is Precision.FLOAT32:
        return embedder.encode
    return lambda texts: embedder.model.encode(texts, batch_size=32, convert_to_tensor=True).float().cpu().numpy()


def _as_it_comes(name: str) -> Callable[[list[str]], Any]:
    """Return what langchain's HuggingFaceEmbeddings does with the model: ``SentenceTransformer.encode`` in float32."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(ModelFiles(name).location)
    model.encode(["warm"] * 300)
    return lambda texts: model.encode(texts, show_progress_bar=False)


def _langchain(address: Address, encode: Callable[[list[str]], Any], texts: list[str]) -> None:
    from langchain_core.documents import Document
    from langchain_core.embeddings import Embeddings
    from langchain_neo4j import Neo4jVector

    class Same(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            vectors: list[list[float]] = encode(texts).tolist()
            return vectors

        def embed_query(self, text: str) -> list[float]:
            return self.embed_documents([text])[0]

    login = {"url": address.uri, "username": address.username, "password": address.password}
    Neo4jVector.from_documents([Document(page_content=text) for text in texts], Same(), **login)


def _timed(work: Callable[..., Any], *arguments: Any, **named: Any) -> tuple[Any, float, float]:
    """Return the result of a call, its seconds, and its seconds of this process's CPU."""
    start, cpu = time.perf_counter(), time.process_time()
    result = work(*arguments, **named)
    return result, time.perf_counter() - start, time.process_time() - cpu


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


if __name__ == "__main__":
    main()
