"""Shards: files of chunks and vectors in a folder that the driver and all workers reach, by path or fsspec URL.

A shard has the name of its content, and is there whole or not at all. So a run that was killed goes on from what its
shards hold, and a document that changed meanwhile isn't taken from them. They are Parquet and JSON, never pickled:
whoever may write to the folder can't run code in the process that reads it.
"""

import json
import uuid
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from fsspec.implementations.local import LocalFileSystem
from pydantic import TypeAdapter

from pipeline.errors import ConfigurationError
from pipeline.ids import digest
from pipeline.ingest.update.changes import document_hash
from pipeline.records import Chunk, Document, Vector

_LAYOUT = "1"
"""Raised when the content of a shard changes, so that what another version of HopRank left isn't read."""

_CHUNKS, _VECTORS, _KNOWN = "chunks", "vectors", "known"
_PARTIAL, _BEGUN = "partial", "begun"


@dataclass(frozen=True, slots=True)
class Shards:
    """The shards of one corpus in one folder; picklable, so that workers get it.

    ``root`` is a path or fsspec URL, ``corpus`` names the corpus on its server, ``vectors`` what decides on vectors:
    the corpus's fingerprint and chunker.
    """

    root: str
    corpus: str
    vectors: tuple[str, ...]

    @property
    def folder(self) -> str:
        """The URL of the folder of the corpus, with the shards of other models, too."""
        return f"{self.root.rstrip('/')}/{digest(self.corpus)[:20]}"

    def name(self, corpus_id: str, documents: Sequence[Document]) -> str:
        """Return the name of the shard of some documents: equal for equal documents in the same order alone."""
        return digest(corpus_id, *(part for one in documents for part in (one.key, document_hash(one))))[:40]

    def write_chunks(self, name: str, chunks: Sequence[Sequence[Chunk]], texts: Mapping[str, str]) -> None:
        """Write the chunks of each document of a shard, and the texts to embed, by hash."""
        rows = [_chunks().dump_json(list(one)).decode() for one in chunks]
        metadata = {b"texts": json.dumps(dict(texts)).encode()}
        self._write(name, _CHUNKS, pa.table({"chunks": rows}).replace_schema_metadata(metadata))

    def read_chunks(self, name: str) -> tuple[list[list[Chunk]], dict[str, str]] | None:
        """Return what :meth:`write_chunks` wrote; None if it isn't there, or isn't whole."""
        table = self._read(name, _CHUNKS)
        if table is None:
            return None
        texts: dict[str, str] = json.loads(table.schema.metadata[b"texts"])
        return [_chunks().validate_json(row) for row in table["chunks"].to_pylist()], texts

    def documents(self, name: str) -> str:
        """Return the first and the last document with chunks in a shard: 'a' to 'b'; empty if that isn't known."""
        found = self.read_chunks(name)
        keys = [chunks[0].document_key for chunks in found[0] if chunks] if found else []
        return f"{keys[0]!r} to {keys[-1]!r}" if keys else ""

    def write_vectors(self, name: str, vectors: Mapping[str, Vector], *, known: bool = False) -> None:
        """Write the vectors of a shard's texts by hash, or those of them that are ``known`` before it is embedded."""
        rows = np.ascontiguousarray(np.stack(list(vectors.values())) if vectors else np.zeros((0, 1)), dtype="<f4")
        stored = [row.tobytes() for row in rows]
        table = pa.table({"hash": pa.array(list(vectors), pa.string()), "vector": pa.array(stored, pa.binary())})
        self._write(name, _KNOWN if known else _VECTORS, table)

    def read_vectors(self, name: str, *, known: bool = False) -> dict[str, Vector] | None:
        """Return vectors by hash; None if they aren't there, or aren't whole."""
        table = self._read(name, _KNOWN if known else _VECTORS)
        if table is None:
            return None
        rows = (np.frombuffer(row, dtype="<f4").astype(np.float32) for row in table["vector"].to_pylist())
        return dict(zip(table["hash"].to_pylist(), rows, strict=True))

    def hashes(self, name: str) -> list[str]:
        """Return the hashes of the vectors of a shard; none if it isn't there, or isn't whole."""
        table = self._read(name, _VECTORS, ["hash"])
        return [] if table is None else list(table["hash"].to_pylist())

    def embedded(self) -> set[str]:
        """Return the names of the shards that have vectors, of a run that didn't end."""
        return {parts[0] for parts in self._files() if parts[1:] == [_VECTORS, "parquet"]}

    def begin(self, name: str, run: str) -> None:
        """Record an attempt of a run at a shard: a worker that dies of it can't tell."""
        system, folder = self._at(self._own)
        system.makedirs(folder, exist_ok=True)
        system.pipe_file(f"{folder}/{name}.{run}.{uuid.uuid4().hex}.{_BEGUN}", b"-")

    def begun(self, run: str) -> Counter[str]:
        """Return the number of a run's attempts at each shard that has no vectors yet."""
        done = self.embedded()
        attempts = (parts[0] for parts in self._files() if parts[1:2] == [run] and parts[3:] == [_BEGUN])
        return Counter(name for name in attempts if name not in done)

    def remove(self) -> None:
        """Remove all shards of the corpus."""
        system, folder = self._at(self.folder)
        with suppress(FileNotFoundError):
            system.rm(folder, recursive=True)

    def put(self, name: str, content: bytes) -> None:
        """Write a file beside the shards; raises OSError if the folder can't be written to."""
        system, path = self._at(f"{self.folder}/{name}")
        system.makedirs(path.rsplit("/", 1)[0], exist_ok=True)
        system.pipe_file(path, content)

    def get(self, name: str) -> bytes | None:
        """Return the content of a file beside the shards; None if it can't be read from here."""
        try:
            system, path = self._at(f"{self.folder}/{name}")
            return bytes(system.cat_file(path))
        except Exception:  # file systems of other packages raise their own
            return None

    def _files(self) -> list[list[str]]:
        """Return the names of the files there are, each split at its dots."""
        system, folder = self._at(self._own)
        with suppress(FileNotFoundError):
            # A listing that is kept would lack what other processes have written.
            return [str(file).rsplit("/", 1)[-1].split(".") for file in system.ls(folder, detail=False, refresh=True)]
        return []

    @property
    def _own(self) -> str:
        return f"{self.folder}/{digest(_LAYOUT, *self.vectors)[:20]}"

    def _at(self, url: str) -> tuple[Any, str]:
        try:
            system, path = fsspec.core.url_to_fs(url)
        except (ImportError, ValueError) as error:
            raise ConfigurationError(
                f"ray.shards is {self.root!r}, which can't be opened: {error}",
                "Name a folder, or a URL of a file system that fsspec has a package for (s3:// needs s3fs).",
            ) from error
        return system, str(path)

    def _write(self, name: str, kind: str, table: pa.Table) -> None:
        """Write a file whole or not at all: beside its name first on a disk; other stores put whole objects."""
        sink = pa.BufferOutputStream()
        pq.write_table(table, sink, compression="zstd")
        system, path = self._at(f"{self._own}/{name}.{kind}.parquet")
        system.makedirs(path.rsplit("/", 1)[0], exist_ok=True)
        place = f"{path}.{uuid.uuid4().hex}.{_PARTIAL}" if isinstance(system, LocalFileSystem) else path
        system.pipe_file(place, sink.getvalue().to_pybytes())
        if place != path:
            system.mv(place, path)

    def _read(self, name: str, kind: str, columns: Sequence[str] | None = None) -> pa.Table | None:
        system, path = self._at(f"{self._own}/{name}.{kind}.parquet")
        try:
            content = system.cat_file(path)
            return pq.read_table(pa.BufferReader(content), columns=None if columns is None else list(columns))
        except (FileNotFoundError, pa.ArrowInvalid):
            return None  # what is damaged is made again


class Leftovers:
    """The vectors in shards that no batch of this run has the name of, by hash: documents before them changed."""

    def __init__(self, shards: Shards, names: Iterable[str]) -> None:
        self._shards = shards
        self._shard_of = {hash_: name for name in sorted(names) for hash_ in shards.hashes(name)}

    def vectors(self, hashes: Iterable[str]) -> dict[str, Vector]:
        """Return the vectors of those texts that there are."""
        wanted = [hash_ for hash_ in hashes if hash_ in self._shard_of]
        found: dict[str, Vector] = {}
        for name in sorted({self._shard_of[hash_] for hash_ in wanted}):
            vectors = self._shards.read_vectors(name) or {}
            found |= {hash_: vectors[hash_] for hash_ in wanted if hash_ in vectors}
        return found


@cache
def _chunks() -> TypeAdapter[list[Chunk]]:
    return TypeAdapter(list[Chunk])
