"""The map of the program: ingest, search, evaluate, each a plain function from its input to its result."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

from pipeline.embedder import Embedder
from pipeline.errors import CorpusError, InputError, QuerySetError, QuestionError
from pipeline.evaluate.answer import answer
from pipeline.evaluate.calibrate import Calibration
from pipeline.evaluate.calibrate import calibrate as calibrate_links
from pipeline.evaluate.querysets import QuerySet, check_documents, read_document_ids, read_queryset
from pipeline.evaluate.report import Report, Run, build_report
from pipeline.graph.client import Client
from pipeline.graph.corpora import Corpus, check_fingerprint, create_corpus, drop_corpus, find_corpus, get_corpus, held
from pipeline.graph.schema import ensure_schema
from pipeline.ingest.chunking import Chunker
from pipeline.ingest.intake import Intake, batched
from pipeline.ingest.prepare import PREFIX_TOKENS, Prepared, Preparer
from pipeline.ingest.sources import read
from pipeline.ingest.summary import IngestSummary, summarise
from pipeline.ingest.update import Change, Outcome, update
from pipeline.progress import Progress
from pipeline.records import Document, Skipped
from pipeline.retrieve.context import Context, build_context
from pipeline.retrieve.explain import present
from pipeline.retrieve.filters import parse_filter
from pipeline.retrieve.legs import Leg, leg_named
from pipeline.retrieve.projection import drop_projections
from pipeline.retrieve.question import check_question, check_vector
from pipeline.retrieve.results import RetrieverResult
from pipeline.retrieve.retriever import Retriever
from pipeline.retrieve.ties import read_ties
from pipeline.settings import Settings


class Ready(Protocol):
    """What an evaluation needs at hand; :class:`pipeline.api.HopRank` has it."""

    client: Client
    embedder: Embedder
    settings: Settings

    def retriever(self, corpus: str) -> Retriever:
        """Return the retriever of a corpus."""


def ingest(
    client: Client,
    embedder: Embedder,
    settings: Settings,
    paths: Sequence[str],
    corpus_name: str,
    *,
    strict: bool = False,
    progress: Progress | None = None,
) -> IngestSummary:
    """Read ``paths`` and bring the corpus to hold what is in them; other documents of the corpus stay.

    Documents that are unchanged cost no more than reading them; if all are, nothing is written. The corpus is made
    if it is missing. Readers see the old state until the new one is whole.

    Raises SourceError, FingerprintError, Busy, ServerLost; after wrong input the corpus is as it was before.
    """
    source = read(paths, strict=strict, max_bytes=_most_bytes(settings))
    return ingest_documents(client, embedder, settings, source, corpus_name, progress=progress)


def ingest_documents(
    client: Client,
    embedder: Embedder,
    settings: Settings,
    source: Iterable[Document | Skipped],
    corpus_name: str,
    *,
    progress: Progress | None = None,
) -> IngestSummary:
    """As :func:`ingest`, of documents that somebody else reads."""
    progress = progress or Progress()
    chunker = make_chunker(embedder, settings)
    corpus = find_corpus(client, corpus_name)
    if corpus:
        check_fingerprint(corpus, embedder.fingerprint, chunker.fingerprint)
    known = known_documents(client, corpus)
    intake = Intake({key: digest for key, (_, digest) in known.items()})
    changed = intake.changed(source)
    first = next(changed, None)
    if first is None and not (corpus and corpus.staging):
        return summarise(corpus_name, corpus, intake, None, progress)
    corpus = corpus or _create(client, embedder, chunker, settings, corpus_name)
    try:
        seen = corpus.generation
        with held(client, corpus) as (corpus, writer):
            known = known if corpus.generation == seen else known_documents(client, corpus)
            ensure_schema(client, corpus.id, corpus.fingerprint, corpus.dimension, corpus.analyzer)
            preparer = Preparer(client, embedder, chunker, corpus.id, corpus.embedding)
            documents = chain([first] if first else [], changed)
            change = Change(_prepare(preparer, documents, progress), {key: title for key, (title, _) in known.items()})
            outcome = update(client, corpus, writer, change, settings.link, progress)
    except InputError:
        if corpus.generation == 0:
            drop_corpus(client, corpus)
        raise
    return summarise(corpus_name, corpus, intake, outcome, progress)


def remove(
    client: Client, settings: Settings, corpus_name: str, keys: Sequence[str], *, progress: Progress | None = None
) -> Outcome:
    """Remove documents, by key, from a corpus; raises CorpusError naming those that it doesn't have."""
    corpus = get_corpus(client, corpus_name)
    known = known_documents(client, corpus)
    if unknown := sorted(set(keys) - known.keys()):
        raise CorpusError(
            f"The corpus {corpus_name!r} has no document {', '.join(map(repr, unknown[:5]))}.",
            "A document's key is its path relative to the folder that was ingested, or its .jsonl id.",
        )
    seen = corpus.generation
    with held(client, corpus) as (corpus, writer):
        known = known if corpus.generation == seen else known_documents(client, corpus)
        change = Change([], {key: title for key, (title, _) in known.items()}, frozenset(keys))
        return update(client, corpus, writer, change, settings.link, progress or Progress())


def drop(client: Client, corpus_name: str) -> None:
    """Delete a corpus with all that it holds; raises CorpusError if there is none, Busy if somebody writes to it."""
    corpus = get_corpus(client, corpus_name)
    with held(client, corpus):
        drop_projections(client, corpus)
        drop_corpus(client, corpus)


def search(
    client: Client,
    retriever: Retriever,
    query_text: str | None,
    query_vector: Sequence[float] | None = None,
    top_k: int = 10,
    *,
    filters: Mapping[str, Any] | None = None,
    leg: Leg | str = Leg.WHOLE,
    explain: bool = False,
) -> RetrieverResult:
    """Return the ``top_k`` passages that answer a question best; none, if every leg is empty.

    ``query_vector`` replaces the embedding of the text; with it alone only the vector leg and the walk from it speak.
    ``filters`` says which chunks may answer (:mod:`pipeline.retrieve.filters`). ``leg`` asks for one leg instead of the
    fused whole. ``explain`` adds to each hit the path that led to it.

    Raises QuestionError on an empty or overlong question, a vector that can't be one, an unknown leg, or a ``top_k``
    under 1; FilterError on filters that are malformed.
    """
    if top_k < 1:
        raise QuestionError(f"top_k is {top_k}.", "Ask for 1 passage or more.")
    if query_vector is not None:
        check_vector(query_vector, retriever.corpus.dimension)
    question = check_question(query_text or "") if query_vector is None or query_text else ""
    wanted = leg_named(leg)
    admitted = None if filters is None else retriever.admit(parse_filter(filters))
    found = retriever.find(question, wanted, query_vector, admitted)
    return present(client, retriever.corpus, found, top_k, explain=explain, admitted=admitted)


def context(
    hoprank: Ready,
    corpus_name: str,
    question: str,
    *,
    tokens: int = 2000,
    top_k: int = 20,
    filters: Mapping[str, Any] | None = None,
) -> Context:
    """Return the best ``top_k`` passages for a question, as far as ``tokens`` of the embedder go, in reading order.

    Raises what :func:`search` does, and QuestionError if ``tokens`` is under 1.
    """
    if tokens < 1:
        raise QuestionError(f"The budget is {tokens} tokens.", "Allow 1 token or more.")
    retriever = hoprank.retriever(corpus_name)
    result = search(hoprank.client, retriever, question, top_k=top_k, filters=filters)
    corpus = get_corpus(hoprank.client, corpus_name)
    chunks = [item.metadata["id"] for item in result.items]
    ties = read_ties(hoprank.client, chunks, corpus.generation, corpus.chunks)
    return build_context(question, result, ties, tokens, hoprank.embedder.count_tokens)


def evaluate(
    hoprank: Ready,
    folder: Path,
    *,
    split: str | None = None,
    corpus_name: str | None = None,
    legs: Sequence[Leg] = tuple(Leg),
    progress: Progress | None = None,
) -> Report:
    """Ingest a queryset's corpus, answer its queries by every leg, one at a time, and measure.

    ``folder`` and ``split`` are those of :func:`pipeline.evaluate.querysets.read_queryset`. Without ``corpus_name``
    the corpus is a temporary one, which is dropped whatever happens; with it, it is kept and used again.
    Raises QuerySetError if the folder's files don't agree.
    """
    progress = progress or Progress()
    queryset = read_queryset(folder, split)
    with ingested(hoprank, queryset, folder, corpus_name, progress) as (name, documents, seconds):
        return measure(hoprank, queryset, name, documents, seconds, legs=legs, progress=progress)


def measure(
    hoprank: Ready,
    queryset: QuerySet,
    corpus_name: str,
    documents: int,
    ingest_seconds: float,
    *,
    legs: Sequence[Leg] = tuple(Leg),
    progress: Progress | None = None,
) -> Report:
    """Answer a queryset's queries on a corpus that is there already, by each leg, and measure.

    Raises QuerySetError naming relevant documents that the corpus doesn't have.
    """
    retriever = hoprank.retriever(corpus_name)
    check_documents(queryset, known_documents(hoprank.client, get_corpus(hoprank.client, corpus_name)))
    results = answer(hoprank.client, retriever, queryset, legs, progress or Progress())
    run = Run(
        corpus=corpus_name,
        documents=documents,
        ingest_seconds=ingest_seconds,
        version=version("hoprank"),
        settings={
            "model": hoprank.embedder.fingerprint,
            **hoprank.settings.retrieve.model_dump(),
            **hoprank.settings.evidence.model_dump(),
            **hoprank.settings.walk.model_dump(),
        },
    )
    return build_report(queryset, results, run)


@contextmanager
def ingested(
    hoprank: Ready, queryset: QuerySet, folder: Path, corpus_name: str | None, progress: Progress
) -> Iterator[tuple[str, int, float]]:
    """Ingest a queryset's corpus, and yield its name, how many documents it has and the seconds that it took.

    Without ``corpus_name`` it is dropped afterwards.
    """
    source = _documents(queryset, folder, hoprank.settings)
    name = corpus_name or f"evaluate-{uuid.uuid4().hex[:12]}"
    try:
        start = time.perf_counter()
        summary = ingest_documents(hoprank.client, hoprank.embedder, hoprank.settings, source, name, progress=progress)
        yield name, summary.documents, time.perf_counter() - start
    finally:
        if corpus_name is None and (corpus := find_corpus(hoprank.client, name)):
            drop_projections(hoprank.client, corpus)
            drop_corpus(hoprank.client, corpus)


def calibrate(client: Client, settings: Settings, corpus_name: str) -> Calibration:
    """Say what each cosine threshold would do to a corpus's graph; raises CorpusError if it has under two chunks."""
    return calibrate_links(client, get_corpus(client, corpus_name), settings.link)


def make_chunker(embedder: Embedder, settings: Settings) -> Chunker:
    """Return the chunker that fits the embedder: a chunk, its title and its heading are read whole."""
    room = embedder.max_tokens - PREFIX_TOKENS
    size = min(settings.chunk.max_tokens or room, room)
    return Chunker(embedder.token_offsets, size, min(settings.chunk.overlap, size // 2))


def _most_bytes(settings: Settings) -> int:
    return int(settings.sources.max_megabytes * 2**20)


def _documents(queryset: QuerySet, folder: Path, settings: Settings) -> Iterable[Document | Skipped]:
    if queryset.documents is not None:
        return queryset.documents
    if queryset.corpus_path is None:
        raise QuerySetError(
            f"{folder} has no corpus.jsonl.", "A queryset holds corpus.jsonl, queries.jsonl, qrels.tsv."
        )
    check_documents(queryset, read_document_ids(queryset.corpus_path))
    return read([str(queryset.corpus_path)], max_bytes=_most_bytes(settings))


def _create(client: Client, embedder: Embedder, chunker: Chunker, settings: Settings, name: str) -> Corpus:
    corpus = create_corpus(
        client,
        name,
        fingerprint=embedder.fingerprint,
        dimension=embedder.dimension,
        chunker=chunker.fingerprint,
        analyzer=settings.fulltext.analyzer,
    )
    # Somebody else may have made it meanwhile.
    check_fingerprint(corpus, embedder.fingerprint, chunker.fingerprint)
    return corpus


def known_documents(client: Client, corpus: Corpus | None) -> dict[str, tuple[str, str]]:
    """Return title and content hash of each document that is visible, by key."""
    if corpus is None:
        return {}
    rows = client.read("document_hashes", corpus=corpus.id, generation=corpus.generation)
    return {row["key"]: (row["title"], row["hash"]) for row in rows}


def _prepare(preparer: Preparer, documents: Iterable[Document], progress: Progress) -> Iterator[list[Prepared]]:
    for batch in batched(documents):
        with progress.stage("embed") as done:
            prepared = preparer.prepare(batch, done)
        yield prepared
