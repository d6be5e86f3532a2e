"""Evaluate: dataset -> search by each leg -> measures -> report."""

import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Protocol

from pipeline.db.catalogue import get_corpus, list_corpora, list_graphs
from pipeline.db.client import Client
from pipeline.db.corpus import CorpusHandle, open_corpus
from pipeline.embedding.embedder import Embedder
from pipeline.errors import QuerySetError
from pipeline.evaluate.answers import holds_answer, with_answers
from pipeline.evaluate.calibration import Calibration
from pipeline.evaluate.calibration import calibrate as calibrate_links
from pipeline.evaluate.datasets import Dataset, Query, check_documents, read_dataset, read_document_ids
from pipeline.evaluate.harness import ask, check_found, chunk_documents
from pipeline.evaluate.measures import MEASURES, QueryResult, check_measures, document_ranking
from pipeline.evaluate.report import Report, Run, build_report
from pipeline.flows.ingest import ingest_documents
from pipeline.flows.maintain import drop
from pipeline.flows.search import Retriever
from pipeline.grouping import grouped
from pipeline.ingest.sources import read
from pipeline.ingest.update.stored import chunks_of_documents, stored_documents
from pipeline.knowledge.catalogue import drop_graph
from pipeline.progress import Progress
from pipeline.records import Document, Fingerprint, Skipped
from pipeline.retrieve.legs import Leg, LegRow
from pipeline.retrieve.question import check_question
from pipeline.retrieve.trace import RankingTrace
from pipeline.settings import Settings
from pipeline.text.outline import join_chunks
from pipeline.text.prose import counted

_SHOWN = 10
"""Number of hits that a timed search reads, as many as a search shows."""


class Ready(Protocol):
    """The attributes of :class:`pipeline.api.HopRank` that an evaluation uses."""

    client: Client
    embedder: Embedder
    settings: Settings

    def retriever(self, corpus: str) -> Retriever:
        """Return the retriever of a corpus."""


def evaluate(
    hoprank: Ready,
    folder: Path,
    *,
    split: str | None = None,
    corpus_name: str | None = None,
    legs: Sequence[Leg] = tuple(Leg),
    measures: Iterable[str] = (),
    contexts: Sequence[int] = (),
    progress: Progress | None = None,
) -> Report:
    """Ingest the corpus of a dataset, search for its queries by every leg, one at a time, and measure.

    ``folder`` and ``split`` are those of :func:`pipeline.evaluate.datasets.read_dataset`. Without ``corpus_name``
    the corpus is temporary, and is dropped in any case; with it, the corpus is kept and used again. For a folder
    without documents ``corpus_name`` is the corpus to search. ``measures`` are reported beside ``MEASURES``, see
    :func:`pipeline.evaluate.measures.check_measures`. ``contexts`` are budgets in tokens: for each the report says in
    how many questions the context holds an answer.
    Raises QuerySetError if the folder's files don't agree, CorpusError if the corpus doesn't exist, ConfigurationError
    if a measure is unknown.
    """
    progress = progress or Progress()
    others = check_measures(measures)
    dataset = read_dataset(folder, split)
    with ingested(hoprank, dataset, folder, corpus_name, progress) as (name, documents, seconds):
        report = measure(hoprank, dataset, name, documents, seconds, legs=legs, measures=others, progress=progress)
        return with_contexts(hoprank, report, name, contexts, progress) if contexts else report


def measure(
    hoprank: Ready,
    dataset: Dataset,
    corpus_name: str,
    documents: int,
    ingest_seconds: float,
    *,
    legs: Sequence[Leg] = tuple(Leg),
    measures: Iterable[str] = (),
    progress: Progress | None = None,
) -> Report:
    """Search an existing corpus for a dataset's queries by each leg, and measure, also by ``measures``.

    Relevant documents that the corpus doesn't have count as not found. Raises QuerySetError if it has none of them, or
    if no leg finds anything.
    """
    retriever = hoprank.retriever(corpus_name)
    dataset = fitted(dataset, open_corpus(hoprank.client, corpus_name))
    results = run_legs(retriever, dataset, legs, progress or Progress())
    check_found(result.ranking for result in results)
    corpus = retriever.corpus.record
    # Figures depend on the settings of the search, how the corpus was made, the model, and the server.
    circumstances = {
        "model": corpus.fingerprint,
        "precision": Fingerprint.of(corpus.fingerprint).precision,
        **{name: getattr(hoprank.settings, name).model_dump() for name in ("retrieve", "walk")},
        **{name: getattr(hoprank.settings.weights, name).model_dump() for name in ("names", "scorer")},
        "link": dict(corpus.links),
        **{name: getattr(corpus, name) for name in ("chunker", "extractor", "analyzer", "schema_version")},
        "neo4j": hoprank.client.server_version(),
        "gds": hoprank.client.has_gds,
    }
    run = Run(corpus_name, documents, ingest_seconds, version("hoprank"), circumstances)
    return build_report(dataset, results, run, (*MEASURES, *measures))


def with_contexts(
    hoprank: Ready, report: Report, corpus_name: str, budgets: Sequence[int], progress: Progress
) -> Report:
    """Return a report with the share of questions whose context holds an answer, by its budget in tokens.

    Raises QuerySetError if no question has an answer that a text can hold.
    """
    queries = with_answers(report.dataset.queries)
    if not queries:
        raise QuerySetError(
            f"queryset {report.queryset!r}: no question has an answer that a context can hold",
            'Give queries an "answer", a text or a list of texts.',
        )
    retriever, count = hoprank.retriever(corpus_name), hoprank.embedder.count_tokens
    shares = {}
    with progress.stage("contexts", len(budgets) * len(queries)) as done:
        for budget in budgets:
            held = 0
            for query in queries:
                context = retriever.context(query.text, count, tokens=budget)
                held += holds_answer("\n".join(passage.text for passage in context.passages), query.answers)
                done(1)
            shares[budget] = held / len(queries)
    return replace(report, contexts=shares, answered=len(queries))


def fitted(dataset: Dataset, corpus: CorpusHandle) -> Dataset:
    """Return a dataset as it fits a corpus: with the queries that are documents of it, and remarks on what is missing.

    A query is a document if one has its id and its text, and isn't judged relevant for it: in sets of arguments and of
    questions, it would lead every ranking (the evaluation of BEIR leaves out every document of a query's id). An id
    alone tells nothing, since many sets number both from 1. Raises QuerySetError if no relevant document is there.
    """
    stored = stored_documents(corpus)
    dataset = check_documents(dataset, stored)
    texts = {one.id: one.text for one in dataset.queries if one.id in stored and one.id not in one.relevant}
    chunks = grouped((one.chunk.document_key, one.chunk) for one in chunks_of_documents(corpus, sorted(texts)))
    own = set()
    for id_, of_document in chunks.items():
        text = join_chunks(sorted({(chunk.start, chunk.end, chunk.text) for chunk in of_document}))
        asked = _words(texts[id_])
        if asked in (_words(text)[: len(asked)], _words(f"{stored[id_].title} {text}")[: len(asked)]):
            own.add(id_)
    if not own:
        return dataset
    number = counted(len(own), "query is a document", "queries are documents")
    remark = f"{number} of the corpus, each of which is left out of its own query's ranking."
    return replace(dataset, own=frozenset(own)).remarked(remark)


def _words(text: str) -> list[str]:
    return text.casefold().split()


def run_legs(retriever: Retriever, dataset: Dataset, legs: Sequence[LegRow], progress: Progress) -> list[QueryResult]:
    """Search for each query by each leg, reading the ten best hits; return the rankings of documents."""

    def search(leg: LegRow, query: Query) -> RankingTrace:
        trace = retriever.rank(check_question(query.text), leg)
        retriever.hydrate(trace, _SHOWN)
        return trace

    documents = chunk_documents(retriever.corpus)
    retriever.prepare()
    rankings = {leg.value: partial(search, leg) for leg in legs}
    results = []
    for answered in ask(dataset.queries, rankings, progress):
        trace, leg = answered.answer, answered.ranking
        own = answered.query.id if answered.query.id in dataset.own else None
        found = ((documents[id_], score) for id_, score in trace.ranking.scores.items() if id_ in documents)
        hits = [(document, score) for document, score in found if document != own]
        confidence = trace.confidence if leg == Leg.WHOLE else None
        ranking = tuple(document_ranking(hits))
        results.append(QueryResult(answered.query.id, leg, ranking, answered.milliseconds, confidence, trace.engine))
    return results


@contextmanager
def temporary(client: Client, keep: str | None = None) -> Iterator[str]:
    """Yield ``keep``, or a name of its own for corpora and graphs that an evaluation makes and leaves no trace of.

    Dropped afterwards are the corpus and the graph of that name, and those whose names begin with it and a sign, such
    as ``name/part`` and ``name::merges``.
    """
    if keep is not None:
        yield keep
        return
    name = f"evaluate-{uuid.uuid4().hex[:12]}"
    try:
        yield name
    finally:
        for graph, _ in list_graphs(client):
            if graph.name.startswith(name):
                drop_graph(client, graph)
        for corpus in list_corpora(client):
            if corpus.name.startswith(name):
                drop(client, corpus.name, kind=corpus.kind)


@contextmanager
def ingested(
    hoprank: Ready, dataset: Dataset, folder: Path, corpus_name: str | None, progress: Progress
) -> Iterator[tuple[str, int, float]]:
    """Ingest the corpus of a dataset; yield its name, its number of documents, and the seconds that it took.

    Without ``corpus_name`` it is dropped afterwards. For a folder of questions alone it is the corpus of that name.
    """
    if corpus_name and dataset.documents is None and dataset.corpus_path is None:
        yield corpus_name, get_corpus(hoprank.client, corpus_name).documents, 0.0
        return
    source: Iterable[Document | Skipped] | None = dataset.documents
    if source is None:
        if dataset.corpus_path is None:
            raise QuerySetError(
                f"{folder} has no corpus.jsonl.",
                "A queryset holds corpus.jsonl, queries.jsonl, qrels.tsv;"
                " or name the corpus that its questions are about.",
            )
        check_documents(dataset, read_document_ids(dataset.corpus_path))
        source = read([str(dataset.corpus_path)], limits=hoprank.settings.sources.limits)
    with temporary(hoprank.client, corpus_name) as name:
        start = time.perf_counter()
        summary = ingest_documents(hoprank.client, hoprank.embedder, hoprank.settings, source, name, progress=progress)
        yield name, summary.documents, time.perf_counter() - start


def calibrate(client: Client, settings: Settings, corpus_name: str) -> Calibration:
    """Measure the effect of each cosine threshold on a corpus; raises CorpusError if it has fewer than two chunks."""
    corpus = open_corpus(client, corpus_name)
    return calibrate_links(corpus, settings.link.kept_by(corpus.record.links))
