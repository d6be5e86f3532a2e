"""The engine on Ray Data: files are read, documents cut and shards embedded by all processors of a machine or cluster.

Three stages run one after the other, each by Ray Data, which bounds what is on the way (back-pressure) and keeps the
order. They don't share processors: actors that hold them all would wait for ever for tasks that need one. The driver
decides what changed, looks up which vectors the graph has, and alone writes to it.
"""

import logging
import re
import uuid
import warnings
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property
from itertools import groupby
from typing import Any, Self

from pipeline.db.client import Client, batches
from pipeline.db.corpus import CorpusHandle
from pipeline.embedding.embedder import Embedder
from pipeline.errors import SourceError, WorkerFailed
from pipeline.files import Limits, Unreadable
from pipeline.files.remote import scheme_of
from pipeline.ingest.chunking.chunk import Chunker
from pipeline.ingest.distributed.cluster import Cluster, check_workers, cluster, import_ray
from pipeline.ingest.distributed.shards import Leftovers, Shards
from pipeline.ingest.distributed.work import (
    FIX,
    EmbedShards,
    Model,
    cut_documents,
    found_in,
    model_of,
    read_file_of_rows,
    read_files,
    row,
    value_of,
)
from pipeline.ingest.embed import PreparedDocument, assembled, stored_vectors
from pipeline.ingest.engine import Engine, Source, make_chunker
from pipeline.ingest.sources import read
from pipeline.ingest.sources.rows import Found, read_rows
from pipeline.ingest.sources.urls import AnySource
from pipeline.ingest.sources.walk import SourceFile
from pipeline.ingest.update.changes import Changes
from pipeline.progress import Progress
from pipeline.records import Document, Vector
from pipeline.settings import Settings

_FILES = 32  # of a task: starting one takes milliseconds, and a slow file holds up few others; chosen by hand
_LARGEST_FILE = 16_000_000  # bytes of a file whose documents, unpacked, are in memory at once; chosen by hand
_WINDOW = 64  # batches of documents, of a million characters at most each, that are on the way to be cut; by hand


class RayEngine(Engine):
    """Reads, chunks and embeds by Ray, which its context starts or joins; ``corpus_name`` names the shards' folder."""

    def __init__(self, client: Client, embedder: Embedder, settings: Settings, corpus_name: str) -> None:
        self.client = client
        self.embedder = embedder
        self._settings = settings
        self._corpus_name = corpus_name
        self._context = ExitStack()
        import_ray()  # before anything is read: the extra may be missing

    def __enter__(self) -> Self:
        self.cluster: Cluster = self._context.enter_context(cluster(self._settings.ray))
        self._context.callback(_set_up())
        return self

    def __exit__(self, *raised: object) -> None:
        self._context.close()

    @cached_property
    def chunker(self) -> Chunker:
        """The chunker by the settings, for its identity; the workers cut."""
        return make_chunker(self.embedder, self._settings)

    @cached_property
    def _model(self) -> Model:
        return model_of(self.embedder, self._settings)

    def read(self, paths: Sequence[str], *, strict: bool) -> Source:
        """Return the documents in ``paths``, whose files the workers read, and the files left out.

        A large .jsonl file or table is read here, row by row: what a worker finds in a file comes at once.
        """
        sources = self._settings.sources
        if url := next((path for path in paths if scheme_of(path) == "memory"), None):
            raise SourceError(f"{url} is in the memory of this process, where no worker reads.", "Leave out Ray.")
        ways: dict[str, Any] = {"parse": self._parsed, "read_rows": self._read_rows}
        return read(paths, strict=strict, limits=sources.limits, code=sources.code, **ways)

    def _read_rows(
        self, files: Iterable[AnySource], limits: Limits, whole: bool
    ) -> Generator[Iterable[Found], None, None]:
        arguments = {"limits": limits, "whole": whole, "retries": self._settings.ray.retries}
        for is_large, some in groupby(files, key=_is_large):
            if is_large:
                yield from read_rows(some, limits, whole)
                continue
            for sent in self._map(list(map(row, some)), read_file_of_rows, arguments):
                yield found_in(*_checked(sent))

    def _parsed(self, files: Iterable[AnySource], limits: Limits) -> Generator[Document | Unreadable, None, None]:
        blocks = [row(block) for block in batches(files, _FILES)]
        for found in self._map(blocks, read_files, {"limits": limits, "retries": self._settings.ray.retries}):
            yield from (item if isinstance(item, Document) else Unreadable(*item[1:]) for item in _checked(found))

    def text_hashes(self, changes: Changes) -> Iterator[Collection[str]]:
        """Yield the hashes of texts; the workers cut the documents."""
        for _, hashes in self._cut((("", batch) for batch in self._batches(changes)), None, ""):
            yield hashes

    def prepare(
        self,
        corpus: CorpusHandle,
        changes: Changes,
        sentences: dict[str, Vector],  # noqa: ARG002 - they are embedded when links lead there
        progress: Progress,
    ) -> Iterator[list[PreparedDocument]]:
        """Chunk and embed into shards, and yield what they hold, in order; shards that are there aren't made again."""
        fingerprint = corpus.record.fingerprint
        shards = self._shards(fingerprint)
        check_workers(shards, self._settings.ray)
        names = [shards.name(corpus.id, batch) for batch in self._batches(changes)]
        there = shards.embedded()
        whole = {name for name in names if name in there and shards.read_chunks(name) and shards.hashes(name)}
        with progress.stage("chunk"):
            counts = self._chunk(corpus, shards, changes, names, whole, Leftovers(shards, there - set(names)))
        missing = [name for name in names if name not in whole]
        made = self._embed(shards, missing, fingerprint) if missing else iter(())
        total = sum(counts.values())
        for name, batch in zip(names, self._batches(changes), strict=True):
            if name not in whole:
                with progress.stage("embed", total) as done:
                    done(next(made))
            yield self._load(shards, name, batch)

    def published(self, corpus: CorpusHandle) -> None:
        """Remove the shards: the graph has what they hold."""
        self._shards(corpus.record.fingerprint).remove()

    def _shards(self, fingerprint: str) -> Shards:
        root = self._settings.ray.shards or str(self._settings.data_home / "shards")
        address = self.client.address
        corpus = f"{address.uri}/{address.database}/{self._corpus_name}"
        return Shards(root, corpus, (fingerprint, self.chunker.fingerprint))

    def _batches(self, changes: Changes) -> Iterator[list[Document]]:
        """Yield the documents of each shard, the same whenever it is asked."""
        for batch in changes.documents.batches():
            yield from batches(batch, self._settings.ray.shard_documents)

    def _chunk(
        self,
        corpus: CorpusHandle,
        shards: Shards,
        changes: Changes,
        names: Sequence[str],
        whole: Collection[str],
        leftovers: Leftovers,
    ) -> dict[str, int]:
        """Write the chunks of the shards that aren't whole, and the vectors that are known; count the others."""
        counts = {}
        named = zip(names, self._batches(changes), strict=True)
        for name, hashes in self._cut(((name, one) for name, one in named if name not in whole), shards, corpus.id):
            known = stored_vectors(self.client, corpus.record.fingerprint, hashes)
            known |= leftovers.vectors(hash_ for hash_ in hashes if hash_ not in known)
            if known:
                shards.write_vectors(name, known, known=True)
            counts[name] = len(hashes) - len(known)
        return counts

    def _cut(
        self, named: Iterable[tuple[str, list[Document]]], shards: Shards | None, corpus_id: str
    ) -> Iterator[tuple[str, list[str]]]:
        """Yield the name and the texts' hashes of batches of documents that the workers cut."""
        retries = self._settings.ray.retries
        arguments = {"model": self._model, "shards": shards, "corpus_id": corpus_id, "retries": retries}
        # A window at a time, so that not all documents are in memory at once.
        for window in batches(named, _WINDOW):
            for name, hashes in self._map(list(map(row, window)), cut_documents, arguments):
                yield name, _checked(hashes)

    def _embed(self, shards: Shards, names: Sequence[str], fingerprint: str) -> Iterator[int]:
        """Yield, for each shard in order, the number of texts that an actor encoded for it."""
        precision = self.embedder.precision_beside(fingerprint)
        gpus = self.cluster.gpus if self._settings.embed.device != "cpu" else 0
        # More actors than processors would wait for ever for one.
        actors = max(1, min(gpus or self.cluster.cpus, self._settings.ray.workers or len(names), len(names)))
        retries, run = self._settings.ray.retries, uuid.uuid4().hex
        embed = {"model": self._model, "shards": shards, "run": run, "precision": precision, "retries": retries}
        options = {
            "fn_constructor_kwargs": embed,
            "compute": import_ray().data.ActorPoolStrategy(size=actors),
            "num_gpus": 1 if gpus else 0,
            # By default an actor that dies is replaced without end: a shard that kills it would be tried for ever.
            "max_restarts": retries,
            "max_task_retries": retries,
        }
        for _, made in self._naming(shards, run, self._map(list(map(row, names)), EmbedShards, options=options)):
            yield _checked(made)

    def _naming(self, shards: Shards, run: str, made: Iterator[Any]) -> Iterator[Any]:
        """Yield what is ``made``; name the documents of the shard that was tried most often where Ray gives up."""
        try:
            yield from made
        except WorkerFailed as error:
            begun = shards.begun(run)
            most = max(begun.values(), default=0)
            spans = [span for name in sorted(begun) if begun[name] == most and (span := shards.documents(name))]
            if not spans:
                raise
            problem = f"A worker of Ray died {most} times" if most > 1 else "A worker of Ray died"
            raise WorkerFailed(
                f"{problem} while it embedded the documents {' or '.join(spans)}. {error.message}", error.fix
            ) from error

    def _map(
        self,
        rows: list[Any],
        function: Callable[..., Any],
        arguments: Mapping[str, Any] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> Iterator[Any]:
        """Yield the value that ``function`` makes of each row, in order. Raises WorkerFailed."""
        if not rows:
            return
        chosen = options or {"fn_kwargs": arguments}
        data = import_ray().data.from_arrow(rows)
        with warnings.catch_warnings():
            # The number of restarts has no other way in yet.
            warnings.filterwarnings("ignore", message=".*ray_remote_args.* is deprecated")
            # One processor each: Ray then lets the libraries of a worker use one thread.
            mapped = data.map_batches(function, batch_size=None, batch_format="pyarrow", num_cpus=1, **chosen)
        try:
            for table in mapped.iter_batches(batch_size=None, batch_format="pyarrow"):
                yield from map(value_of, (table.slice(place, 1) for place in range(table.num_rows)))
        except Exception as error:
            if not type(error).__module__.startswith("ray"):
                raise
            raise failed(error) from error

    def _load(self, shards: Shards, name: str, documents: Sequence[Document]) -> list[PreparedDocument]:
        found, vectors = shards.read_chunks(name), shards.read_vectors(name)
        if found is None or vectors is None:
            raise WorkerFailed(f"The shard {name} is gone from {shards.folder}.", "Leave ray.shards alone meanwhile.")
        chunked = list(zip(documents, found[0], strict=True))
        return assembled(chunked, vectors, self.embedder.dimension)


def _is_large(item: AnySource) -> bool:
    """Return whether a file is too large to hold what is in it, or its size can't be told."""
    try:
        size = item.path.stat().st_size if isinstance(item, SourceFile) else item.path.size()
    except OSError:
        size = 0  # the error is the worker's to tell
    return size is None or size > _LARGEST_FILE


def _checked(value: Any) -> Any:
    """Return what a worker made; raises the error of wrong input that it returned instead."""
    if isinstance(value, tuple):
        kind, message, fix = value
        raise kind(message, fix)
    return value


def _set_up() -> Callable[[], None]:
    """Set how Ray Data works in this process; return the function that sets it as it was."""
    context = import_ray().data.DataContext.get_current()
    wanted = {
        "enable_progress_bars": False,
        "print_on_execution_start": False,
    }
    before = {name: getattr(context, name) for name in wanted}
    order = context.execution_options.preserve_order
    logger = logging.getLogger("ray.data")
    level = logger.level

    def set_all(values: Mapping[str, Any], *, preserve_order: bool, log_level: int) -> None:
        for name, value in values.items():
            setattr(context, name, value)
        context.execution_options.preserve_order = preserve_order
        logger.setLevel(log_level)

    set_all(wanted, preserve_order=True, log_level=logging.CRITICAL)
    return lambda: set_all(before, preserve_order=order, log_level=level)


def failed(error: BaseException) -> WorkerFailed:
    """Return the error about what Ray raises, in a line of its words."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))  # Ray colours it
    lines = [line for line in text.split("\n") if line.strip()] or [type(error).__name__]
    # A text that begins with the place of a task is a traceback; its first line of an error is the cause of the others.
    raised = [line for line in lines if re.match(r"\w[\w.]*: ", line)] if lines[0].startswith("ray::") else []
    return WorkerFailed(f"Ray failed: {(raised or lines)[0]}", FIX)
