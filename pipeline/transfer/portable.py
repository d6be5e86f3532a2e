"""The portable form of a corpus: a sequence of parts without internal ids, for files.

The order is: the corpus, its documents, chunks, entities, counts and edges. Equal corpora give equal parts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from pipeline.db.catalogue import SCHEMA_VERSION, Corpus
from pipeline.db.client import Client

FORMAT = 1


class Part(NamedTuple):
    """One part of a corpus; ``kind`` is ``corpus``, ``document``, ``chunk``, ``entity``, ``counts`` or ``edge``."""

    kind: str
    value: dict[str, Any]


def portable(client: Client, corpus: Corpus, *, embeddings: bool = True) -> Iterator[Part]:
    """Yield the parts of a corpus's visible generation, streamed; ``embeddings=False`` leaves the vectors out."""
    generation, label = corpus.generation, corpus.label
    yield Part("corpus", _head(corpus, embeddings=embeddings))
    for row in client.stream("export_documents", corpus=corpus.id, generation=generation):
        yield Part("document", _without(row["document"], "id", "corpus", "since", "until"))
    for row in client.stream("export_chunks", label=label, generation=generation, embeddings=embeddings):
        vector = {"embedding": row["vector"].to_native()} if row["vector"] is not None else {}
        yield Part("chunk", {**row["chunk"], **vector})
    for row in client.stream("export_entities", corpus=corpus.id):
        yield Part("entity", {"key": row["key"], "name": row["name"]})
    for row in client.stream("export_counts", corpus=corpus.id, generation=generation):
        yield Part("counts", {"kind": row["kind"], "shard": row["shard"], "counts": json.loads(row["counts"])})
    for row in client.stream("export_edges", label=label, generation=generation):
        evidence = _without(row["properties"], "since", "until")
        yield Part("edge", {"kind": row["kind"], "source": row["source"], "target": row["target"], **evidence})


def _head(corpus: Corpus, *, embeddings: bool) -> dict[str, Any]:
    names = ("name", "fingerprint", "dimension", "chunker", "extractor", "analyzer", "documents", "chunks", "entities")
    return {
        "format": FORMAT,
        "schema": SCHEMA_VERSION,
        **{name: getattr(corpus, name) for name in names},
        "edges": dict(corpus.edges),
        "embeddings": embeddings,
    }


def _without(properties: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in properties.items() if name not in names}
