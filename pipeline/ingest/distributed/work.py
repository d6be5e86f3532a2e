"""The work of a worker: read files, cut documents, embed a shard. Ray Data maps these, and none needs it.

Each takes and returns a table of one row, whose ``content`` is pickled; it goes by way of Ray alone. Wrong input is
returned, for the driver to raise as if it had read the file itself: to try it again would be in vain. Whatever else is
raised is tried again, and then returned, too.
"""

import pickle
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, TypeVar, cast

import pyarrow as pa

from pipeline.embedding.backends import make_embedder
from pipeline.embedding.embedder import Embedder
from pipeline.errors import ConfigurationError, HopRankError, InputError, WorkerFailed, first_line
from pipeline.files import Limits, Unreadable
from pipeline.ids import digest
from pipeline.ingest.chunking.chunk import Chunker, cut
from pipeline.ingest.distributed.shards import Shards
from pipeline.ingest.embed import embedded_text
from pipeline.ingest.engine import embedded, make_chunker
from pipeline.ingest.sources.reader import parsed
from pipeline.ingest.sources.rows import BadRow, Found, read_rows
from pipeline.ingest.sources.urls import AnySource
from pipeline.records import Chunk, Document, Precision, Vector
from pipeline.settings import Settings, load_settings

FIX = "Mend the cause and run it again: the shards that are done aren't made again. The logs of Ray say more."
_PAUSE = 0.5  # seconds before work is tried again, for what passes by itself; chosen by hand

_Made = TypeVar("_Made")


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


def row(value: object) -> pa.Table:
    """Return a table of one row with a value."""
    return pa.table({"content": pa.array([pickle.dumps(value)], pa.large_binary())})


def value_of(table: pa.Table) -> Any:
    """Return the value of a table of one row."""
    return pickle.loads(table["content"][0].as_py())  # noqa: S301 - the driver's or a worker's, by way of Ray


def read_files(table: pa.Table, limits: Limits, retries: int) -> pa.Table:
    """Return the documents of a block of files, or what is wrong with each; or what is wrong with the block."""
    files: Sequence[AnySource] = value_of(table)

    def read() -> list[Any]:
        return [item if isinstance(item, Document) else told(item) for item in parsed(files, limits)]

    return row(attempt(read, retries, lambda: f"The files {files[0].path} to {files[-1].path} can't be read"))


Rows = tuple[list[Found | tuple[str, str, str]], tuple[str, str] | None]
"""The content of a file of many documents as it travels: documents with their rows, of a row that is none its place and
error in place of the exception; and why the file ends early."""


def read_file_of_rows(table: pa.Table, limits: Limits, whole: bool, retries: int) -> pa.Table:
    """Return the :data:`Rows` of a file in a list, as that isn't an error."""
    item: AnySource = value_of(table)

    def read() -> list[Rows]:
        found: list[Found | tuple[str, str, str]] = []
        with closing(read_rows([item], limits, whole)) as files:
            try:
                found.extend(map(_sent if whole else _key_of, next(files)))
            except Unreadable as error:
                return [(found, (error.message, error.fix))]
        return [(found, None)]

    return row(attempt(read, retries, lambda: f"The file {item.path} can't be read"))


def _sent(found: Found) -> Found | tuple[str, str, str]:
    if isinstance(found, BadRow):
        return found.place, found.error.message, found.error.fix
    return replace(found[0], content=""), found[1]


def _key_of(found: Found) -> Found | tuple[str, str, str]:
    """Return what is sent of a document whose key alone is asked for."""
    if isinstance(found, BadRow):
        return _sent(found)
    return replace(found[0], content=""), Document(found[1].key, "", "")


def found_in(sent: Rows) -> Iterator[Found]:
    """Yield what a worker found in a file; raises Unreadable where the file ended early."""
    found, error = sent
    for one in found:
        yield BadRow(one[0], Unreadable(*one[1:])) if isinstance(one[0], str) else cast("Found", one)
    if error:
        raise Unreadable(*error)


def cut_documents(table: pa.Table, model: Model, shards: Shards | None, corpus_id: str, retries: int) -> pa.Table:
    """Cut the documents of a batch; write a shard of their chunks if there are ``shards``; return the texts' hashes."""
    name, documents = value_of(table)

    def cut_all() -> list[str]:
        chunked = list(cut(_chunker(model), documents, corpus_id))
        texts = {hash_: text for one, chunks in chunked for hash_, text in embedded(one, chunks).items()}
        if shards:
            shards.write_chunks(name, [chunks for _, chunks in chunked], texts)
        return list(texts)

    failed = f"The documents {documents[0].key!r} to {documents[-1].key!r} can't be cut"
    return row((name, attempt(cut_all, retries, lambda: failed)))


class EmbedShards:
    """Embeds the texts of shards in a run: an actor, which holds the model."""

    def __init__(self, model: Model, shards: Shards, run: str, precision: Precision, retries: int) -> None:
        self._model, self._shards, self._run, self._precision, self._retries = model, shards, run, precision, retries
        self._embedder: Embedder | None = None

    def __call__(self, table: pa.Table) -> pa.Table:
        """Write the vectors of a shard; return its name and the number of texts that were encoded."""
        name: str = value_of(table)
        self._shards.begin(name, self._run)
        return row((name, attempt(lambda: self._embed(name), self._retries, lambda: self._failed(name))))

    def _encode(self, texts: Sequence[str]) -> list[Vector]:
        # Not in the constructor: what that raises comes as an actor that died, without the words.
        self._embedder = self._embedder or self._model.load()
        return list(self._embedder.encode(texts, precision=self._precision)) if texts else []

    def _embed(self, name: str) -> int:
        texts, known = self._content(name)[1:]
        missing = [hash_ for hash_ in texts if hash_ not in known]
        made = self._encode([texts[hash_] for hash_ in missing])
        self._shards.write_vectors(name, {**known, **dict(zip(missing, made, strict=True))})
        return len(missing)

    def _content(self, name: str) -> tuple[list[list[Chunk]], dict[str, str], dict[str, Vector]]:
        found = self._shards.read_chunks(name)
        if found is None:
            raise FileNotFoundError(f"its chunks are gone from {self._shards.folder}")
        return *found, self._shards.read_vectors(name, known=True) or {}

    def _failed(self, name: str) -> str:
        """Return words for the first document whose texts can't be embedded by themselves either, else for all."""
        try:
            documents, texts, known = self._content(name)
        except Exception:
            return f"The shard {name} can't be embedded"
        for chunks in filter(None, documents):
            hashes = {digest(embedded_text(chunk)) for chunk in chunks}
            try:
                self._encode([texts[hash_] for hash_ in hashes if hash_ in texts and hash_ not in known])
            except Exception:
                return f"The document {chunks[0].document_key!r} can't be embedded"
        return f"The documents {self._shards.documents(name)} can't be embedded together"


@cache
def _chunker(model: Model) -> Chunker:
    """Return the chunker of a model; a process keeps it, with the model's tokenizer."""
    return make_chunker(model.load(), load_settings(pickle.loads(model.sections)))  # noqa: S301 - the driver's


Told = tuple[type[HopRankError], str, str]
"""An error as its class, message and fix: pickled, an exception keeps one text alone."""


def told(error: HopRankError) -> Told:
    """Return an error as what travels."""
    return type(error), error.message, error.fix


def attempt(work: Callable[[], _Made], retries: int, failed: Callable[[], str]) -> _Made | Told:
    """Return what ``work`` makes, tried again ``retries`` times; else the error, which ``failed`` begins in words.

    Ray would try again, too, where it is asked to, but loses what was raised. Wrong input is returned at once.
    """
    for left in reversed(range(retries + 1)):
        try:
            return work()
        except InputError as error:
            return told(error)
        except Exception as error:
            if not left:
                return WorkerFailed, f"{failed()}: {first_line(error)} (attempts: {retries + 1}).", FIX
        time.sleep(_PAUSE)
    raise AssertionError  # the last attempt returns
