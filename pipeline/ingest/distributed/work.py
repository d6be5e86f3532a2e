"""The work of a worker: read files, cut documents, embed a shard. Ray Data maps these, and none needs it.

Each takes and returns a table of one row, whose ``content`` is pickled; it goes by way of Ray alone. Wrong input is
returned, for the driver to raise as if it had read the file itself: to try it again would be in vain. Whatever else is
raised, Ray tries again.
"""

import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from pipeline.embedding.backends import make_embedder
from pipeline.embedding.embedder import Embedder
from pipeline.errors import ConfigurationError, HopRankError, InputError
from pipeline.files import Limits
from pipeline.ids import digest
from pipeline.ingest.chunking.chunk import Chunker, cut
from pipeline.ingest.distributed.shards import Shards
from pipeline.ingest.embed import embedded_text
from pipeline.ingest.engine import embedded, make_chunker
from pipeline.ingest.sources.reader import parsed
from pipeline.ingest.sources.walk import SourceFile
from pipeline.records import Document, Precision
from pipeline.settings import Settings, load_settings


@dataclass(frozen=True, slots=True)
class Model:
    """The recipe by which a worker loads the model: its name in the settings, ``embed`` and ``chunk``.

    No weights travel. ``identity`` is the driver's, to compare.
    """

    sections: bytes
    identity: str

    def load(self) -> Embedder:
        """Return the embedder of the worker's own machine; raises ConfigurationError if its vectors are others."""
        embedder = make_embedder(load_settings(pickle.loads(self.sections)))  # noqa: S301 - the driver's
        if str(embedder.identity) != self.identity:
            raise ConfigurationError(
                f"A worker of Ray has the model {embedder.identity}, and the driver {self.identity}.",
                "Install the same weights on all machines: pin embed.revision, or name a folder that all of them have."
                " An embedder that is given in Python stays in its process.",
            )
        return embedder


def model_of(embedder: Embedder, settings: Settings) -> Model:
    """Return what workers load the driver's model by: the settings, with their secrets."""
    embed = {name: getattr(settings.embed, name) for name in type(settings.embed).model_fields}
    given = {name: value for name, value in embed.items() if value is not None}
    return Model(pickle.dumps({"embed": given, "chunk": settings.chunk.model_dump()}), str(embedder.identity))


class WorkFailed(Exception):
    """The work on a shard failed; the text names the document and what was raised."""


def row(value: object) -> pa.Table:
    """Return a table of one row with a value."""
    return pa.table({"content": pa.array([pickle.dumps(value)], pa.large_binary())})


def value_of(table: pa.Table) -> Any:
    """Return the value of a table of one row."""
    return pickle.loads(table["content"][0].as_py())  # noqa: S301 - the driver's or a worker's, by way of Ray


def read_files(table: pa.Table, limits: Limits) -> pa.Table:
    """Return the documents of a block of files, or what is wrong with each."""
    files: Sequence[SourceFile] = value_of(table)
    return row([item if isinstance(item, Document) else told(item) for item in parsed(files, limits)])


def cut_documents(table: pa.Table, model: Model, shards: Shards | None, corpus_id: str) -> pa.Table:
    """Cut the documents of a batch; write a shard of their chunks if there are ``shards``; return the texts' hashes."""
    name, documents = value_of(table)
    try:
        chunked = list(cut(_chunker(model), documents, corpus_id))
    except InputError as error:
        return row((name, told(error)))
    texts = {hash_: text for one, chunks in chunked for hash_, text in embedded(one, chunks).items()}
    if shards:
        shards.write_chunks(name, [chunks for _, chunks in chunked], texts)
    return row((name, list(texts)))


class EmbedShards:
    """Embeds the texts of shards: an actor, which holds the model."""

    def __init__(self, model: Model, shards: Shards, precision: Precision) -> None:
        self._model, self._shards, self._precision = model, shards, precision
        self._embedder: Embedder | None = None

    def __call__(self, table: pa.Table) -> pa.Table:
        """Write the vectors of a shard; return its name and the number of texts that were encoded."""
        name: str = value_of(table)
        try:
            # Not in the constructor: what that raises comes as an actor that died, without the words.
            self._embedder = self._embedder or self._model.load()
            return row((name, self._embed(name, self._embedder)))
        except InputError as error:
            return row((name, told(error)))

    def _embed(self, name: str, embedder: Embedder) -> int:
        found = self._shards.read_chunks(name)
        if found is None:
            raise WorkFailed(f"The shard {name} of chunks is gone from {self._shards.folder}")
        documents, texts = found
        known = self._shards.read_vectors(name, known=True) or {}
        missing = {hash_: text for hash_, text in texts.items() if hash_ not in known}
        try:
            made = embedder.encode(list(missing.values()), precision=self._precision) if missing else ()
        except InputError:
            raise
        except Exception as error:
            keys = [chunks[0].document_key for chunks in documents if chunks]
            ends = f"The documents {keys[0]!r} to {keys[-1]!r} can't be embedded together"
            raise WorkFailed(f"{self._culprit(documents, missing, embedder) or ends}: {_words(error)}") from error
        self._shards.write_vectors(name, {**known, **dict(zip(missing, np.asarray(made), strict=True))})
        return len(missing)

    def _culprit(self, documents: Sequence[Sequence[Any]], texts: dict[str, str], embedder: Embedder) -> str:
        """Return words for the first document whose texts can't be embedded by themselves either; "" if all can."""
        for chunks in filter(None, documents):
            hashes = {digest(embedded_text(chunk)) for chunk in chunks}
            try:
                embedder.encode([texts[hash_] for hash_ in hashes if hash_ in texts], precision=self._precision)
            except Exception:
                return f"The document {chunks[0].document_key!r} can't be embedded"
        return ""


@cache
def _chunker(model: Model) -> Chunker:
    """Return the chunker of a model; a process keeps it, with the model's tokenizer."""
    return make_chunker(model.load(), load_settings(pickle.loads(model.sections)))  # noqa: S301 - the driver's


def told(error: HopRankError) -> tuple[type[HopRankError], str, str]:
    """Return an error as its class, message and fix: pickled, an exception keeps one text alone."""
    return type(error), error.message, error.fix


def _words(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0] or type(error).__name__
