"""The engine of an ingest: where documents are read, chunked and embedded, before one process writes them.

An engine turns paths into documents and files left out, and new and changed documents into prepared ones, batch by
batch in the order of the source. Which of them changed, and all that is written, is decided in one place, the flow,
whatever the engine: so each makes the same graph. :class:`LocalEngine` does it in this process.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from typing import Protocol

from pipeline.db.client import Client
from pipeline.db.corpus import CorpusHandle
from pipeline.embedding.embedder import Embedder
from pipeline.ids import digest
from pipeline.ingest.chunking.chunk import Chunker, cut
from pipeline.ingest.embed import PREFIX_TOKENS, PreparedDocument, embed, embedded_text
from pipeline.ingest.sources import read
from pipeline.ingest.update.changes import Changes
from pipeline.progress import Progress
from pipeline.records import Chunk, Document, Skipped, Vector
from pipeline.settings import Settings

Source = Iterable[Document | Skipped]
"""Documents as they are read, and what was left out; it may count its files, as :class:`FilesRead` does."""


class Engine(AbstractContextManager["Engine"], Protocol):
    """Reads, chunks and embeds; its context holds what it needs for that, such as processes.

    ``embedder`` names the model, and ``chunker`` fits it; both are by the settings.
    """

    client: Client
    embedder: Embedder

    @property
    def chunker(self) -> Chunker:
        """The chunker that fits the embedder; the first use of it may load the model's tokenizer."""

    def read(self, paths: Sequence[str], *, strict: bool) -> Source:
        """Return the documents in ``paths`` and the files left out, as :func:`pipeline.ingest.sources.read` does."""

    def text_hashes(self, changes: Changes) -> Iterator[Collection[str]]:
        """Yield the hashes of the distinct texts that new and changed documents embed, batch by batch."""

    def prepare(
        self, corpus: CorpusHandle, changes: Changes, sentences: dict[str, Vector], progress: Progress
    ) -> Iterator[list[PreparedDocument]]:
        """Chunk and embed new and changed documents, batch by batch, in the order of ``changes``.

        ``sentences`` may receive the vectors of the sentences around their links, by hash.
        """

    def published(self, corpus: CorpusHandle) -> None:
        """Forget what was kept to go on from after an interruption: what was prepared for the corpus is visible."""


class LocalEngine(Engine):
    """Reads, chunks and embeds in this process, a batch at a time."""

    def __init__(self, client: Client, embedder: Embedder, settings: Settings) -> None:
        self.client = client
        self.embedder = embedder
        self._settings = settings

    def __exit__(self, *raised: object) -> None:
        """Do nothing: nothing outlives a call."""

    @cached_property
    def chunker(self) -> Chunker:
        """The chunker by the settings."""
        return make_chunker(self.embedder, self._settings)

    def read(self, paths: Sequence[str], *, strict: bool) -> Source:
        """Return the documents in ``paths``, read one at a time, and the files left out."""
        sources = self._settings.sources
        return read(paths, strict=strict, limits=sources.limits, code=sources.code)

    def text_hashes(self, changes: Changes) -> Iterator[Collection[str]]:
        """Yield the hashes of texts, for which it cuts the documents."""
        for documents in changes.documents.batches():
            yield {key for document, chunks in cut(self.chunker, documents, "") for key in embedded(document, chunks)}

    def prepare(
        self, corpus: CorpusHandle, changes: Changes, sentences: dict[str, Vector], progress: Progress
    ) -> Iterator[list[PreparedDocument]]:
        """Chunk and embed; ``sentences`` receives the vectors of the sentences around links."""
        chunks = characters = 0
        for documents in changes.documents.batches():
            with progress.stage("chunk"):
                chunked = list(cut(self.chunker, documents, corpus.id))
            in_batch = sum(len(parts) for _, parts in chunked)
            chunks += in_batch
            characters += sum(len(document.text) for document in documents)
            # the later batches aren't cut yet: their chunks are taken to be as long as those so far
            later = (changes.characters - characters) * chunks // max(characters, 1)
            with progress.stage("embed", in_batch + later) as done:
                fingerprint = corpus.record.fingerprint
                prepared = embed(corpus.client, self.embedder, fingerprint, chunked, done, sentences)
            yield prepared

    def published(self, corpus: CorpusHandle) -> None:
        """Do nothing: nothing is kept."""


def make_chunker(embedder: Embedder, settings: Settings) -> Chunker:
    """Return the chunker that fits the embedder: a chunk, its title and its heading are read whole."""
    room = embedder.max_tokens - PREFIX_TOKENS
    size = min(settings.chunk.max_tokens or room, room)
    return Chunker(embedder.token_offsets, size, min(settings.chunk.overlap, size // 2))


def embedded(document: Document, chunks: Sequence[Chunk]) -> dict[str, str]:
    """Return the texts of a document's chunks that are to be embedded, by hash: not those that bring a vector."""
    supplied = {chunk.start for chunk in document.prechunked if chunk.embedding}
    texts = (embedded_text(chunk) for chunk in chunks if chunk.start not in supplied)
    return {digest(text): text for text in texts}
