"""What every way of writing to a corpus shares: made if it is missing, held, and given its next generation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from pipeline.db.catalogue import Corpus, check_extractor, check_fingerprint, create_corpus, drop_corpus, find_corpus
from pipeline.db.client import Client
from pipeline.db.indexes import ensure_schema
from pipeline.db.lease import HeldWrites
from pipeline.embedding.embedder import Embedder
from pipeline.errors import InputError
from pipeline.ingest.chunking import Chunker
from pipeline.ingest.embed import PREFIX_TOKENS, Prepared, Preparer
from pipeline.ingest.entities.extractors import extractor_fingerprint
from pipeline.ingest.generation import Change, Outcome, update
from pipeline.ingest.update.changes import batched
from pipeline.ingest.update.documents import Known, move_documents
from pipeline.progress import Progress
from pipeline.records import Document
from pipeline.settings import Settings


@dataclass(frozen=True, slots=True)
class Writing:
    """The means of writing documents: the server, the model and the chunker that fits it, and the settings."""

    client: Client
    embedder: Embedder
    chunker: Chunker
    settings: Settings
    progress: Progress

    def find(self, name: str) -> Corpus | None:
        """Return the corpus if there is one; raises FingerprintError if another model or chunker made it."""
        corpus = find_corpus(self.client, name)
        if corpus:
            self._check(corpus)
        return corpus

    def create(self, name: str) -> Corpus:
        """Make the corpus; raises FingerprintError if somebody else has made it meanwhile, with another model."""
        corpus = create_corpus(
            self.client,
            name,
            fingerprint=self.embedder.fingerprint,
            dimension=self.embedder.dimension,
            chunker=self.chunker.fingerprint,
            extractor=extractor_fingerprint(self.settings.link),
            analyzer=self.settings.fulltext.analyzer,
        )
        self._check(corpus)
        return corpus

    def write(
        self,
        corpus: Corpus,
        writer: str,
        documents: Iterable[Document] | None,
        known: Mapping[str, Known],
        moved: Mapping[str, str],
        removed: frozenset[str] = frozenset(),
    ) -> tuple[Corpus, Outcome | None]:
        """Bring a corpus, which the caller holds as ``writer``, up to date; return it as it then is.

        ``documents`` are new or changed, ``known`` are those that the corpus has, ``moved`` says where some are now.
        A next generation is written if there are ``documents``, or if a run died over one; its outcome is returned
        beside. A corpus that never held anything is dropped if the input turns out to be wrong.
        """
        outcome = None
        if documents is not None or corpus.staging:
            outcome = self._write_generation(corpus, writer, documents or (), known, removed)
            corpus = corpus.at(outcome.generation)
        move_documents(HeldWrites(self.client, corpus, writer), corpus, moved)
        return corpus, outcome

    def _write_generation(
        self,
        corpus: Corpus,
        writer: str,
        documents: Iterable[Document],
        known: Mapping[str, Known],
        removed: frozenset[str],
    ) -> Outcome:
        with _dropped_if_never_filled(self.client, corpus):
            ensure_schema(self.client, corpus.id, corpus.fingerprint, corpus.dimension, corpus.analyzer)
            preparer = Preparer(self.client, self.embedder, self.chunker, corpus.id, corpus.embedding)
            titles = {key: one.title for key, one in known.items()}
            change = Change(self._prepare(preparer, documents), titles, removed)
            return update(self.client, corpus, writer, change, self.settings.link, self.progress)

    def _prepare(self, preparer: Preparer, documents: Iterable[Document]) -> Iterator[list[Prepared]]:
        for batch in batched(documents):
            with self.progress.stage("embed") as done:
                prepared = preparer.prepare(batch, done)
            yield prepared

    def _check(self, corpus: Corpus) -> None:
        check_fingerprint(corpus, self.embedder.fingerprint, self.chunker.fingerprint)
        check_extractor(corpus, extractor_fingerprint(self.settings.link))


def make_chunker(embedder: Embedder, settings: Settings) -> Chunker:
    """Return the chunker that fits the embedder: a chunk, its title and its heading are read whole."""
    room = embedder.max_tokens - PREFIX_TOKENS
    size = min(settings.chunk.max_tokens or room, room)
    return Chunker(embedder.token_offsets, size, min(settings.chunk.overlap, size // 2))


@contextmanager
def _dropped_if_never_filled(client: Client, corpus: Corpus) -> Iterator[None]:
    try:
        yield
    except InputError:
        if corpus.generation == 0:
            drop_corpus(client, corpus)
        raise
