"""The plan of a sync: the documents that it adds, replaces, renames and removes, and the cost."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from pipeline.db.client import Client
from pipeline.db.corpus import CorpusHandle
from pipeline.ids import digest
from pipeline.ingest.chunking import Chunker
from pipeline.ingest.chunking.prechunked import cut
from pipeline.ingest.embed import embedded_text
from pipeline.ingest.update.changes import Changes
from pipeline.records import Skipped


@dataclass(frozen=True, slots=True)
class Plan:
    """The documents, by key and in order, that a sync adds, replaces, renames (from, to) and removes.

    ``moved`` counts unchanged documents with another path. ``chunks_to_embed`` counts chunks whose vectors the graph
    lacks. ``edges_to_relink`` counts the existing edges of replaced and removed documents; further edges may change.
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
    def removed_keys(self) -> frozenset[str]:
        """Keys that the sync removes: of removed documents, and the old keys of renamed documents."""
        return frozenset(self.removed) | {old for old, _ in self.renamed}

    def __bool__(self) -> bool:
        """Return whether any document changes."""
        return bool(self.added or self.changed or self.renamed or self.removed)

    def to_json(self) -> dict[str, Any]:
        """Return the plan as plain JSON values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Cost:
    """The number of chunks to embed, and of existing edges of replaced and removed documents."""

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


def estimate_cost(
    client: Client, corpus: CorpusHandle | None, chunker: Chunker, vector_index: str, changes: Changes
) -> Cost:
    """Count the chunks to embed and the edges to relink; ``vector_index`` is that of the model, and its label."""
    corpus_id = corpus.id if corpus else ""
    to_embed = 0
    for documents in changes.documents.batches():
        hashes = {
            digest(embedded_text(chunk))
            for document, chunks in cut(chunker, documents, corpus_id)
            for chunk in chunks
            if not any(supplied.embedding and supplied.start == chunk.start for supplied in document.prechunked)
        }
        rows = client.read("count_stored_embeddings", hashes=list(hashes), label=vector_index)
        to_embed += len(hashes) - int(rows[0]["stored"])
    replaced = [*(key for key in changes.changed if key in changes.stored), *changes.missing]
    if corpus is None or not replaced:
        return Cost(to_embed, 0)
    rows = corpus.read("count_edges_of", keys=replaced)
    return Cost(to_embed, int(rows[0]["edges"]))


def _renamed(changes: Changes, new: list[str]) -> list[tuple[str, str]]:
    """Pair missing keys with new keys of the same text, both in order."""
    by_text: Mapping[str, list[str]] = defaultdict(list)
    for key in new:
        if key in changes.text_hashes:
            by_text[changes.text_hashes[key]].append(key)
    return [
        (key, same_text.pop(0)) for key in changes.missing if (same_text := by_text.get(changes.stored[key].text_hash))
    ]
