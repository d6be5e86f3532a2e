"""What a corpus already has of each document: enough to tell what is new, changed, renamed or moved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pipeline.db.catalogue import Corpus
from pipeline.db.client import Client
from pipeline.db.lease import HeldWrites

_MOVED_AT_ONCE = 10_000


@dataclass(frozen=True, slots=True)
class Known:
    """A document as the graph has it; ``hash`` is that of all its content, ``text_hash`` that of its text alone."""

    title: str
    hash: str
    text_hash: str
    path: str


def known_documents(client: Client, corpus: Corpus | None) -> dict[str, Known]:
    """Return the documents that are visible, by key; none of a corpus that isn't there."""
    if corpus is None:
        return {}
    rows = client.stream("known_documents", corpus=corpus.id, generation=corpus.generation)
    return {row["key"]: Known(row["title"], row["hash"], row["text_hash"] or "", row["path"]) for row in rows}


def move_documents(writes: HeldWrites, corpus: Corpus, paths: Mapping[str, str]) -> None:
    """Note where documents, by key, are now; what is searched doesn't depend on it, so it is no new generation."""
    rows = ({"key": key, "path": path} for key, path in paths.items())
    writes.write_rows("move_documents", rows, batch=_MOVED_AT_ONCE, corpus=corpus.id, generation=corpus.generation)
