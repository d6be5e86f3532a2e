"""Search against neo4j-graphrag's HybridRetriever: milliseconds a question, by one client and by eight, and recall@10.

    uv run python tests/benchmarks/bench_search.py DATA_DIR/multihop/2wiki-dev146

A server in a temporary home of its own holds the corpus of each folder in turn, and nothing else. The first questions
warm up and aren't timed. Each other question goes to every searcher, in an order that rotates, so that all meet the
same machine and the same caches; eight clients take ten questions each of one searcher, then of the next. Each searcher
encodes its question and returns ten passages. The peer searches the vector and full-text indexes that the ingestion
made: as it comes, with the same model in its own SentenceTransformerEmbeddings, and with HopRank's encoder. It is fast
to find nothing: the exit code is 1 if the peer's recall@10 is below nine tenths of that of HopRank's hybrid leg.
"""

from __future__ import annotations

import argparse
import ast
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import partial
from pathlib import Path

import neo4j
from neo4j_graphrag.embeddings import Embedder as PeerEmbedder
from neo4j_graphrag.embeddings import SentenceTransformerEmbeddings
from neo4j_graphrag.retrievers import HybridRetriever
from rich.console import Console
from rich.table import Table

from pipeline import HopRank
from pipeline.db.catalogue import get_corpus
from pipeline.db.embedded import Address, ServerOptions, ensure_running, stop
from pipeline.embedding.model_files import ModelFiles
from pipeline.evaluate.datasets import Query, read_dataset
from pipeline.flows.maintain import drop
from pipeline.retrieve.legs import Leg
from pipeline.settings import load_settings

_WARM_UP, _TIMED = 20, 200
_CLIENTS = 8
_PEER, _PEER_SHARING, _HYBRID = "HybridRetriever", "the same, our encoder", "hoprank, hybrid leg"
_LUCENE = re.compile(r'[+\-&|!(){}\[\]^"~*?:\\/]')
_FOUND = 0.9

Search = Callable[[str], list[str]]
"""Returns the documents of the passages found, best first."""


class _Shared(PeerEmbedder):
    """The one encoder, as the peer takes it."""

    def __init__(self, hoprank: HopRank) -> None:
        super().__init__()
        self._hoprank = hoprank

    def embed_query(self, text: str) -> list[float]:
        return self._hoprank.embedder.embed_query(text)


def main() -> int:
    """Measure each folder in turn, print a table, and return 1 if the peer doesn't find what it should."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, help="querysets' folders")
    table = Table(title="Search, milliseconds a question")
    for column in ("corpus", "searcher", "p50", "p95", "p50 / peer", "8 clients: p50", "p95", "a second", "recall@10"):
        table.add_column(column, justify="left" if column in ("corpus", "searcher") else "right")
    settings = load_settings()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        options = ServerOptions(Path(home), jars=settings.data_home / "jars")
        try:
            address = ensure_running(options)
            with HopRank.connect(**asdict(address)) as hoprank:
                failed = [_measure(hoprank, address, folder, table) for folder in parser.parse_args().folders]
        finally:
            stop(options)
    Console(width=140).print(table)
    return int(any(failed))


def _measure(hoprank: HopRank, address: Address, folder: Path, table: Table) -> bool:
    """Add the rows of one folder, and return whether the peer finds too little."""
    dataset = read_dataset(folder)
    hoprank.ingest(dataset.corpus_path or folder, corpus=dataset.name)
    hoprank.retriever(dataset.name).prepare()
    with neo4j.GraphDatabase.driver(
        address.uri, auth=(address.username, address.password), notifications_min_severity="OFF"
    ) as driver:
        searchers = {**_peers(hoprank, driver, dataset.name), **_own(hoprank, dataset.name)}
        questions = dataset.queries[: _WARM_UP + _TIMED]
        for search in searchers.values():
            for query in questions[:_WARM_UP]:
                search(query.text)
        alone, recalls = _alternate(searchers, questions[_WARM_UP:])
        together, rates = _crowd(searchers, questions[_WARM_UP:])
    drop(hoprank.client, dataset.name)
    for name in searchers:
        figures = [*_percentiles(alone[name]), f"{_p50(alone[name]) / _p50(alone[_PEER]):.2f}"]
        crowd = [*_percentiles(together[name]), f"{rates[name]:.0f}"]
        table.add_row(dataset.name, name, *figures, *crowd, f"{100 * recalls[name]:.1f}")
    return recalls[_PEER] < _FOUND * recalls[_HYBRID]


def _peers(hoprank: HopRank, driver: neo4j.Driver, name: str) -> dict[str, Search]:
    corpus = get_corpus(hoprank.client, name)

    def peer(encoder: PeerEmbedder) -> Search:
        retriever = HybridRetriever(
            driver, corpus.vector_index, corpus.label, embedder=encoder, return_properties=["text", "document"]
        )

        def search(question: str) -> list[str]:
            items = retriever.search(query_text=_LUCENE.sub(" ", question), top_k=10).items
            return [ast.literal_eval(item.content)["document"] for item in items]

        return search

    own = SentenceTransformerEmbeddings(ModelFiles(hoprank.settings.embed.model).location)
    return {_PEER: peer(own), _PEER_SHARING: peer(_Shared(hoprank))}


def _own(hoprank: HopRank, name: str) -> dict[str, Search]:
    def by(leg: Leg) -> Search:
        return lambda question: [
            item.metadata["document"] for item in hoprank.search(question, corpus=name, leg=leg).items
        ]

    return {"hoprank": by(Leg.WHOLE), "hoprank, graph leg": by(Leg.GRAPH), _HYBRID: by(Leg.HYBRID)}


def _alternate(
    searchers: dict[str, Search], queries: Sequence[Query]
) -> tuple[dict[str, list[float]], dict[str, float]]:
    """Return the times and the recall@10 of each searcher, one client asking."""
    times: dict[str, list[float]] = {name: [] for name in searchers}
    recalls: dict[str, list[float]] = {name: [] for name in searchers}
    order = list(searchers)
    for query in queries:
        for name in order:
            taken, found = _timed(searchers[name], query.text)
            times[name].append(taken)
            recalls[name].append(len(query.relevant.keys() & set(found)) / len(query.relevant))
        order.append(order.pop(0))
    return times, {name: statistics.fmean(values) for name, values in recalls.items()}


def _crowd(searchers: dict[str, Search], queries: Sequence[Query]) -> tuple[dict[str, list[float]], dict[str, float]]:
    """Return the times of each searcher, eight clients asking at once, and the questions that it answers a second."""
    times: dict[str, list[float]] = {name: [] for name in searchers}
    seconds = dict.fromkeys(searchers, 0.0)
    order = list(searchers)
    with ThreadPoolExecutor(_CLIENTS) as clients:
        for at in range(0, len(queries), 10 * _CLIENTS):
            some = [query.text for query in queries[at : at + 10 * _CLIENTS]]
            for name in order:
                begun = time.perf_counter()
                times[name] += [taken for taken, _ in clients.map(partial(_timed, searchers[name]), some)]
                seconds[name] += time.perf_counter() - begun
            order.append(order.pop(0))
    return times, {name: len(queries) / seconds[name] for name in searchers}


def _timed(search: Search, question: str) -> tuple[float, list[str]]:
    begun = time.perf_counter()
    found = search(question)
    return 1000 * (time.perf_counter() - begun), found


def _p50(times: Sequence[float]) -> float:
    return statistics.median(times)


def _percentiles(times: Sequence[float]) -> tuple[str, str]:
    return f"{_p50(times):.1f}", f"{statistics.quantiles(times, n=20)[-1]:.1f}"


if __name__ == "__main__":
    sys.exit(main())
