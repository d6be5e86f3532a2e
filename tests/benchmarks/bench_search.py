"""Search against neo4j-graphrag's HybridRetriever: milliseconds a question, on one server, one corpus, one model.

    uv run --group bench python tests/benchmarks/bench_search.py DATA_DIR/multihop/2wiki-dev146

Each question goes to every searcher, in an order that rotates, so that all meet the same machine and the same caches.
Each encodes its question and returns ten passages. The peer searches the vector and full-text indexes that the
ingestion made: as it comes, with the same model in its own SentenceTransformerEmbeddings, and with HopRank's encoder.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import time
import uuid
from collections.abc import Callable
from pathlib import Path

import neo4j
from neo4j_graphrag.embeddings import Embedder as PeerEmbedder
from neo4j_graphrag.embeddings import SentenceTransformerEmbeddings
from neo4j_graphrag.retrievers import HybridRetriever
from rich.console import Console
from rich.table import Table

from pipeline import HopRank
from pipeline.db.catalogue import drop_corpus, get_corpus
from pipeline.retrieve.legs import Leg

_QUESTIONS = 200
_PEER, _PEER_SHARING = "HybridRetriever", "the same, our encoder"
_LUCENE = re.compile(r'[+\-&|!(){}\[\]^"~*?:\\/]')


class _Shared(PeerEmbedder):  # type: ignore[misc]  # the peer is untyped
    """The one encoder, as the peer takes it."""

    def __init__(self, hoprank: HopRank) -> None:
        super().__init__()
        self._hoprank = hoprank

    def embed_query(self, text: str) -> list[float]:
        return self._hoprank.embedder.embed_query(text)


def main() -> None:
    """Measure each folder in turn and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, help="querysets' folders")
    table = Table(title="Search, milliseconds a question")
    for column in ("corpus", "searcher", "p50", "p95", "p50 / peer", "/ our encoder"):
        table.add_column(column, justify="left" if column in ("corpus", "searcher") else "right")
    with HopRank.connect() as hoprank:
        for folder in parser.parse_args().folders:
            _measure(hoprank, folder, table)
    Console().print(table)


def _measure(hoprank: HopRank, folder: Path, table: Table) -> None:
    name = f"bench-{uuid.uuid4().hex[:8]}"
    hoprank.ingest(folder / "corpus.jsonl", corpus=name)
    corpus = get_corpus(hoprank.client, name)
    address = hoprank.client.address
    driver = neo4j.GraphDatabase.driver(
        address.uri, auth=(address.username, address.password), notifications_min_severity="OFF"
    )
    try:
        own = SentenceTransformerEmbeddings(hoprank.embedder.files.location)

        def peer(encoder: PeerEmbedder) -> Callable[[str], object]:
            retriever = HybridRetriever(
                driver, corpus.vector_index, corpus.label, embedder=encoder, return_properties=["text"]
            )
            return lambda question: retriever.search(query_text=_LUCENE.sub(" ", question), top_k=10)

        hoprank.retriever(name).prepare()
        searchers: dict[str, Callable[[str], object]] = {
            _PEER: peer(own),
            _PEER_SHARING: peer(_Shared(hoprank)),
            "hoprank": lambda question: hoprank.search(question, corpus=name),
            "hoprank, graph leg": lambda question: hoprank.search(question, corpus=name, leg=Leg.GRAPH),
            "hoprank, hybrid leg": lambda question: hoprank.search(question, corpus=name, leg=Leg.HYBRID),
        }
        times = _alternate(searchers, _questions(folder))
    finally:
        driver.close()
        drop_corpus(hoprank.client, corpus)
    p50s = {searcher: statistics.median(taken) for searcher, taken in times.items()}
    for searcher, p50 in p50s.items():
        p95 = statistics.quantiles(times[searcher], n=20)[-1]
        ratios = (f"{p50 / p50s[_PEER]:.2f}", f"{p50 / p50s[_PEER_SHARING]:.2f}")
        table.add_row(folder.name, searcher, f"{p50:.1f}", f"{p95:.1f}", *ratios)


def _alternate(searchers: dict[str, Callable[[str], object]], questions: list[str]) -> dict[str, list[float]]:
    for search in searchers.values():
        for question in questions[:20]:
            search(question)
    times: dict[str, list[float]] = {name: [] for name in searchers}
    order = list(searchers)
    for question in questions:
        for name in order:
            start = time.perf_counter()
            searchers[name](question)
            times[name].append((time.perf_counter() - start) * 1000)
        order.append(order.pop(0))
    return times


def _questions(folder: Path) -> list[str]:
    lines = (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["query"] for line in lines][:_QUESTIONS]


if __name__ == "__main__":
    main()
