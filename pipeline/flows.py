"""The map of the program: ingest, search, evaluate, each a plain function from its input to its result."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Protocol

from pipeline.embedder import Embedder
from pipeline.errors import CorpusError, InputError, QuerySetError, QuestionError
from pipeline.evaluate.answer import answer
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
from pipeline.records import Document
from pipeline.retrieve.explain import present
from pipeline.retrieve.legs import Leg, leg_named
from pipeline.retrieve.projection import drop_projections
from pipeline.retrieve.question import check_question, check_vector
from pipeline.retrieve.results import RetrieverResult
from pipeline.retrieve.retriever import Retriever
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
    progress = progress or Progress()
    source = read(paths, strict=strict, max_bytes=int(settings.sources.max_megabytes * 2**20))
    chunker = make_chunker(embedder, settings)
    corpus = find_corpus(client, corpus_name)
    if corpus:
        check_fingerprint(corpus, embedder.fingerprint, chunker.fingerprint)
    known = _known(client, corpus)
    intake = Intake({key: digest for key, (_, digest) in known.items()})
    changed = intake.changed(source)
    first = next(changed, None)
    if first is None and not (corpus and corpus.staging):
        return summarise(corpus_name, corpus, intake, None, progress)
    corpus = corpus or _create(client, embedder, chunker, settings, corpus_name)
    seen = corpus.generation
    with held(client, corpus) as (corpus, writer), _dropped_if_never_filled(client, corpus):
        known = known if corpus.generation == seen else _known(client, corpus)
        ensure_schema(client, corpus.id, corpus.fingerprint, corpus.dimension, corpus.analyzer)
        preparer = Preparer(client, embedder, chunker, corpus.id, corpus.embedding)
        documents = chain([first] if first else [], changed)
        change = Change(_prepare(preparer, documents, progress), {key: title for key, (title, _) in known.items()})
        outcome = update(client, corpus, writer, change, settings.link, progress)
    return summarise(corpus_name, corpus, intake, outcome, progress)


def remove(
    client: Client, settings: Settings, corpus_name: str, keys: Sequence[str], *, progress: Progress | None = None
) -> Outcome:
    """Remove documents, by key, from a corpus; raises CorpusError naming those that it doesn't have."""
    corpus = get_corpus(client, corpus_name)
    known = _known(client, corpus)
    if unknown := sorted(set(keys) - known.keys()):
        raise CorpusError(
            f"The corpus {corpus_name!r} has no document {', '.join(map(repr, unknown[:5]))}.",
            "A document's key is its path relative to the folder that was ingested, or its .jsonl id.",
        )
    seen = corpus.generation
    with held(client, corpus) as (corpus, writer):
        known = known if corpus.generation == seen else _known(client, corpus)
        change = Change([], {key: title for key, (title, _) in known.items()}, frozenset(keys))
        return update(client, corpus, writer, change, settings.link, progress or Progress())


def drop(client: Client, corpus_name: str) -> None:
    """Delete a corpus with all that it holds; raises CorpusError if there is none, Busy if somebody writes to it."""
    corpus = get_corpus(client, corpus_name)
    with held(client, corpus):
        drop_corpus(client, corpus)
        # Last, for until then a reader could have made one.
        drop_projections(client, corpus)


def search(
    client: Client,
    retriever: Retriever,
    query_text: str | None,
    query_vector: Sequence[float] | None = None,
    top_k: int = 10,
    *,
    leg: Leg | str = Leg.WHOLE,
    explain: bool = False,
) -> RetrieverResult:
    """Return the ``top_k`` passages that answer a question best; none, if every leg is empty.

    ``query_vector`` replaces the embedding of the text; with it alone only the vector leg and the walk from it speak.
    ``leg`` asks for one leg instead of the fused whole. ``explain`` adds to each hit the path that led to it.

    Raises QuestionError on an empty or overlong question, a vector that can't be one, an unknown leg, or a ``top_k``
    under 1.
    """
    if top_k < 1:
        raise QuestionError(f"top_k is {top_k}.", "Ask for 1 passage or more.")
    if query_vector is not None:
        check_vector(query_vector, retriever.corpus.dimension)
    question = check_question(query_text or "") if query_vector is None or query_text else ""
    found = retriever.find(question, leg_named(leg), query_vector)
    return present(client, retriever.corpus, found, top_k, explain=explain)


def evaluate(
    hoprank: Ready,
    folder: Path,
    *,
    corpus_name: str | None = None,
    legs: Sequence[Leg] = tuple(Leg),
    progress: Progress | None = None,
) -> Report:
    """Ingest a queryset's corpus, answer its queries by every leg, one at a time, and measure.

    Without ``corpus_name`` the corpus is a temporary one, which is dropped whatever happens; with it, it is kept
    and used again. Raises QuerySetError if the folder's files don't agree.
    """
    progress = progress or Progress()
    queryset = read_queryset(folder)
    if queryset.corpus_path is None:
        raise QuerySetError(
            f"{folder} has no corpus.jsonl.", "A queryset holds corpus.jsonl, queries.jsonl, qrels.tsv."
        )
    check_documents(queryset, read_document_ids(queryset.corpus_path))
    name = corpus_name or f"evaluate-{uuid.uuid4().hex[:12]}"
    try:
        start = time.perf_counter()
        summary = ingest(
            hoprank.client, hoprank.embedder, hoprank.settings, [str(queryset.corpus_path)], name, progress=progress
        )
        seconds = time.perf_counter() - start
        return measure(hoprank, queryset, name, summary.documents, seconds, legs=legs, progress=progress)
    finally:
        if corpus_name is None and find_corpus(hoprank.client, name):
            drop(hoprank.client, name)


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
    check_documents(queryset, _known(hoprank.client, get_corpus(hoprank.client, corpus_name)))
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


def make_chunker(embedder: Embedder, settings: Settings) -> Chunker:
    """Return the chunker that fits the embedder: a chunk, its title and its heading are read whole."""
    room = embedder.max_tokens - PREFIX_TOKENS
    size = min(settings.chunk.max_tokens or room, room)
    return Chunker(embedder.token_offsets, size, min(settings.chunk.overlap, size // 2))


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


@contextmanager
def _dropped_if_never_filled(client: Client, corpus: Corpus) -> Iterator[None]:
    """Take a new corpus, which the caller holds, away again if what it was made for turns out to be wrong input."""
    try:
        yield
    except InputError:
        if corpus.generation == 0:
            drop_corpus(client, corpus)
        raise


def _known(client: Client, corpus: Corpus | None) -> dict[str, tuple[str, str]]:
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
