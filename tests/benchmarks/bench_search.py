"""Search against neo4j-graphrag's HybridRetriever: milliseconds a question, by one client and by eight, and recall@10.

    uv run python tests/benchmarks/bench_search.py DATA_DIR/multihop/2wiki-dev146
    uv run python tests/benchmarks/bench_search.py --passages 5000 50000 200000    # generated, most with given vectors

A server in a temporary home of its own holds each corpus in turn, and nothing else. The first twenty questions warm up,
ten times each, and aren't timed: a new server compiles what it runs during some hundred searches. Each other question
goes to every searcher, in an order that rotates, so that all meet the same machine and the same caches; eight clients
take ten questions each of one searcher, then of the next. Each searcher encodes its question and returns ten passages.
The peer searches the vector and full-text indexes that the ingestion made: as it comes, with the same model in its own
SentenceTransformerEmbeddings, and with HopRank's encoder. "8" is of eight clients at once, "CPU" the processor time of
this process and of the server, in milliseconds a question of theirs: other programs change it less than the rest. It is
fast to find nothing: the exit code is 1 if the peer's recall@10 is below nine tenths of that of HopRank's hybrid leg.
Generated passages have no judgements; of them the peer and HopRank have to find ten each time. HopRank encodes
questions as it does anywhere: by OpenVINO where that is installed and quicker.
"""

from __future__ import annotations

import argparse
import ast
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

import neo4j
import psutil
from neo4j_graphrag.embeddings import Embedder as PeerEmbedder
from neo4j_graphrag.embeddings import SentenceTransformerEmbeddings
from neo4j_graphrag.retrievers import HybridRetriever
from rich.console import Console
from rich.table import Table

from pipeline import HopRank
from pipeline.db.catalogue import get_corpus
from pipeline.db.embedded import Address, ServerOptions, ensure_running, status, stop
from pipeline.embedding.model_files import ModelFiles
from pipeline.evaluate.datasets import read_dataset
from pipeline.flows.maintain import drop
from pipeline.retrieve.legs import Leg
from pipeline.settings import load_settings
from tests.benchmarks.generated import generated_questions, write_documents

_WARM_UP, _ROUNDS, _TIMED = 20, 10, 200
_CLIENTS = 8
_PEER, _PEER_SHARING = "HybridRetriever", "the same, our encoder"
_WHOLE, _HYBRID = "hoprank", "hoprank, hybrid leg"
_LUCENE = re.compile(r'[+\-&|!(){}\[\]^"~*?:\\/]')
_FOUND = 0.9

_COLUMNS = (
    *("corpus", "searcher", "p50", "p95", "/ peer"),
    *("8: p50", "p95", "a second", "/ peer", "CPU", "R@10"),
)
_EMBEDDED = 2_000
"""Generated passages that the model embeds; the others bring vectors."""

Search = Callable[[str], list[str]]
"""Returns the documents of the passages found, best first."""


class _Question(NamedTuple):
    """A question and its relevant documents; none are known of generated passages."""

    text: str
    relevant: Collection[str] = ()


@dataclass(frozen=True)
class _Corpus:
    """A corpus to measure: its file, and the questions that are asked."""

    name: str
    path: Path
    questions: Sequence[_Question]

    @property
    def is_judged(self) -> bool:
        return any(query.relevant for query in self.questions)


@dataclass
class _Crowd:
    """What eight clients of one searcher met: milliseconds of each question, and of all together."""

    times: list[float]
    seconds: float = 0.0
    busy: float = 0.0

    @property
    def rate(self) -> float:
        """Questions a second."""
        return len(self.times) / self.seconds

    @property
    def processor(self) -> float:
        """Processor time a question, in milliseconds."""
        return 1000 * self.busy / len(self.times)


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
    parser.add_argument("folders", nargs="*", type=Path, help="querysets' folders")
    parser.add_argument("--passages", nargs="+", type=int, default=[], help="numbers of generated passages")
    parser.add_argument("--questions", type=int, default=_TIMED, help="that are timed; fewer for a quick look")
    arguments = parser.parse_args()
    table = Table(title="Search, milliseconds a question")
    for column in _COLUMNS:
        table.add_column(column, justify="left" if column in ("corpus", "searcher") else "right")
    settings = load_settings()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        options = ServerOptions(Path(home), jars=settings.data_home / "jars")
        try:
            address = ensure_running(options)
            server = psutil.Process(status(options).pid)
            with HopRank.connect(**asdict(address)) as hoprank:
                failed = [
                    _measure(hoprank, address, server, corpus, table)
                    for corpus in _corpora(arguments, Path(home), hoprank.embedder.dimension)
                ]
        finally:
            stop(options)
    Console(width=160).print(table)
    return int(any(failed))


def _corpora(arguments: argparse.Namespace, home: Path, dimension: int) -> Iterator[_Corpus]:
    number = _WARM_UP + arguments.questions
    for folder in arguments.folders:
        dataset = read_dataset(folder)
        questions = [_Question(query.text, query.relevant) for query in dataset.queries[:number]]
        yield _Corpus(dataset.name, dataset.corpus_path or folder, questions)
    for passages in arguments.passages:
        path = home / "generated.parquet"
        write_documents(path, passages, _EMBEDDED, dimension)
        questions = list(map(_Question, generated_questions(passages, number)))
        yield _Corpus(f"{passages:,} generated", path, questions)


def _measure(hoprank: HopRank, address: Address, server: psutil.Process, corpus: _Corpus, table: Table) -> bool:
    """Add the rows of one corpus, and return whether a searcher finds too little."""
    hoprank.ingest(corpus.path, corpus=corpus.name)
    hoprank.retriever(corpus.name).prepare()
    with neo4j.GraphDatabase.driver(
        address.uri, auth=(address.username, address.password), notifications_min_severity="OFF"
    ) as driver:
        searchers = {**_peers(hoprank, driver, corpus.name), **_own(hoprank, corpus.name)}
        for search in searchers.values():
            for query in [*corpus.questions[:_WARM_UP]] * _ROUNDS:
                search(query.text)
        alone, recalls = _alternate(searchers, corpus.questions[_WARM_UP:])
        crowd = _crowd(searchers, corpus.questions[_WARM_UP:], server)
    drop(hoprank.client, corpus.name)
    for name, of_crowd in crowd.items():
        figures = [*_percentiles(alone[name]), f"{_p50(alone[name]) / _p50(alone[_PEER]):.2f}"]
        rate = f"{of_crowd.rate:.0f}", f"{of_crowd.rate / crowd[_PEER].rate:.2f}", f"{of_crowd.processor:.0f}"
        recall = f"{100 * recalls[name]:.1f}" if corpus.is_judged else ""
        table.add_row(corpus.name, name, *figures, *_percentiles(of_crowd.times), *rate, recall)
    if corpus.is_judged:
        return recalls[_PEER] < _FOUND * recalls[_HYBRID]
    return min(recalls[_PEER], recalls[_WHOLE]) < 1


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

    return {_WHOLE: by(Leg.WHOLE), "hoprank, graph leg": by(Leg.GRAPH), _HYBRID: by(Leg.HYBRID)}


def _alternate(
    searchers: dict[str, Search], queries: Sequence[_Question]
) -> tuple[dict[str, list[float]], dict[str, float]]:
    """Return the times and the recall@10 of each searcher, one client asking."""
    times: dict[str, list[float]] = {name: [] for name in searchers}
    recalls: dict[str, list[float]] = {name: [] for name in searchers}
    order = list(searchers)
    for query in queries:
        for name in order:
            taken, found = _timed(searchers[name], query.text)
            times[name].append(taken)
            known = len(set(query.relevant) & set(found)) / len(query.relevant) if query.relevant else len(found) / 10
            recalls[name].append(known)
        order.append(order.pop(0))
    return times, {name: statistics.fmean(values) for name, values in recalls.items()}


def _crowd(searchers: dict[str, Search], queries: Sequence[_Question], server: psutil.Process) -> dict[str, _Crowd]:
    """Return what each searcher takes when eight clients ask at once."""
    crowds = {name: _Crowd([]) for name in searchers}
    order = list(searchers)
    with ThreadPoolExecutor(_CLIENTS) as clients:
        for at in range(0, len(queries), 10 * _CLIENTS):
            some = [query.text for query in queries[at : at + 10 * _CLIENTS]]
            for name in order:
                crowd, busy, begun = crowds[name], _busy(server), time.perf_counter()
                crowd.times += [taken for taken, _ in clients.map(partial(_timed, searchers[name]), some)]
                crowd.seconds += time.perf_counter() - begun
                crowd.busy += _busy(server) - busy
            order.append(order.pop(0))
    return crowds


def _busy(server: psutil.Process) -> float:
    """Return the seconds of processor time that this process and the server have taken."""
    return time.process_time() + sum(server.cpu_times()[:2])


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
