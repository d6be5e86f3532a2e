"""The plan of a sync: what it adds, replaces, renames and removes, and what that costs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from pipeline.db.catalogue import Corpus
from pipeline.db.client import Client
from pipeline.ids import digest
from pipeline.ingest.chunking import Chunker
from pipeline.ingest.chunking.prechunked import cut
from pipeline.ingest.embed import embedded_text
from pipeline.ingest.update.changes import Changes
from pipeline.records import Skipped


@dataclass(frozen=True, slots=True)
class Plan:
    """The documents, by key and in order, that a sync adds, replaces, renames (from, to) and removes.

    ``moved`` counts those that are only at another path. ``chunks_to_embed`` are those whose vectors the graph
    doesn't have, ``edges_to_relink`` the present edges of what changes; more change beside them.
    """

    corpus: str
    added: tuple[str, ...]
    changed: tuple[str, ...]
    renamed: tuple[tuple[str, str], ...]
    removed: tuple[str, ...]
    unchanged: int
    moved: int
    skipped: tuple[Skipped, ...]
    empty: tuple[str, ...]
    chunks_to_embed: int
    edges_to_relink: int

    @property
    def gone(self) -> frozenset[str]:
        """The keys that the corpus will no longer have: the removed, and the old ones of the renamed."""
        return frozenset(self.removed) | {old for old, _ in self.renamed}

    def __bool__(self) -> bool:
        """Whether any document changes."""
        return bool(self.added or self.changed or self.renamed or self.removed)

    def to_json(self) -> dict[str, Any]:
        """Return the plan as plain JSON values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Cost:
    """The chunks that have to be embedded, and the present edges of what changes."""

    chunks_to_embed: int
    edges_to_relink: int


def make_plan(name: str, changes: Changes, cost: Cost) -> Plan:
    """Return the plan of a sync of the corpus ``name``."""
    changed = sorted(key for key in changes.changed if key in changes.stored)
    new = sorted(key for key in changes.changed if key not in changes.stored)
    renamed = _renamed(changes, new)
    old_names, new_names = {old for old, _ in renamed}, {new for _, new in renamed}
    return Plan(
        corpus=name,
        added=tuple(key for key in new if key not in new_names),
        changed=tuple(changed),
        renamed=tuple(renamed),
        removed=tuple(key for key in changes.missing if key not in old_names),
        unchanged=changes.unchanged,
        moved=len(changes.moved),
        skipped=changes.skipped,
        empty=changes.empty,
        chunks_to_embed=cost.chunks_to_embed,
        edges_to_relink=cost.edges_to_relink,
    )


def estimate_cost(client: Client, corpus: Corpus | None, chunker: Chunker, embedding: str, changes: Changes) -> Cost:
    """Count what a sync has to embed and to relink; ``embedding`` is the label of the vectors in the graph."""
    corpus_id = corpus.id if corpus else ""
    to_embed = 0
    for documents in changes.documents.batches():
        hashes = {
            digest(embedded_text(chunk))
            for document, chunks in cut(chunker, documents, corpus_id)
            for chunk in chunks
            if not any(given.embedding and given.start == chunk.start for given in document.prechunked)
        }
        rows = client.read("count_stored_embeddings", hashes=list(hashes), embedding=embedding)
        to_embed += len(hashes) - int(rows[0]["stored"])
    replaced = [*(key for key in changes.changed if key in changes.stored), *changes.missing]
    if corpus is None or not replaced:
        return Cost(to_embed, 0)
    rows = client.read("count_edges_of", corpus=corpus.id, keys=replaced, generation=corpus.generation)
    return Cost(to_embed, int(rows[0]["edges"]))


def _renamed(changes: Changes, new: list[str]) -> list[tuple[str, str]]:
    """Pair the keys that are missing with new ones of the same text, both in order."""
    by_text: Mapping[str, list[str]] = defaultdict(list)
    for key in new:
        if key in changes.text_hashes:
            by_text[changes.text_hashes[key]].append(key)
    return [
        (key, same_text.pop(0)) for key in changes.missing if (same_text := by_text.get(changes.stored[key].text_hash))
    ]
