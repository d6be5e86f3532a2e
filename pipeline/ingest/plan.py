"""What a sync is going to do, told before it does it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from pipeline.db.catalogue import Corpus
from pipeline.db.client import Client
from pipeline.ids import digest
from pipeline.ingest.chunking import Chunker
from pipeline.ingest.chunking.prechunked import cut
from pipeline.ingest.embed import embedded_text
from pipeline.ingest.update.changes import Intake
from pipeline.ingest.update.documents import Known
from pipeline.records import Document, Skipped


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


class Planner:
    """Counts, batch by batch, what the new and changed documents of a sync will cost; then makes the plan."""

    def __init__(self, client: Client, corpus: Corpus | None, chunker: Chunker, embedding: str) -> None:
        self._client = client
        self._corpus = corpus
        self._chunker = chunker
        self._embedding = embedding
        self._text_hashes: dict[str, str] = {}
        self._to_embed = 0

    def take(self, documents: list[Document]) -> None:
        """Count in a batch of documents that are new or changed."""
        self._text_hashes.update((one.key, digest(one.text)) for one in documents if one.text.strip())
        corpus_id = self._corpus.id if self._corpus else ""
        hashes = {
            digest(embedded_text(chunk))
            for document, chunks in zip(documents, cut(self._chunker, documents, corpus_id), strict=True)
            for chunk in chunks
            if not any(given.embedding and given.start == chunk.start for given in document.given)
        }
        rows = self._client.read("count_stored_embeddings", hashes=list(hashes), embedding=self._embedding)
        self._to_embed += len(hashes) - int(rows[0]["stored"])

    def plan(self, name: str, intake: Intake, known: Mapping[str, Known]) -> Plan:
        """Return the plan, once all documents were taken in."""
        gone = sorted(known.keys() - intake.seen)
        new = sorted(key for key in intake.changed_keys if key not in known)
        renamed = _renamed(gone, new, known, self._text_hashes)
        old, other = {old for old, _ in renamed}, {other for _, other in renamed}
        changed = sorted(key for key in intake.changed_keys if key in known)
        return Plan(
            corpus=name,
            added=tuple(key for key in new if key not in other),
            changed=tuple(changed),
            renamed=tuple(renamed),
            removed=tuple(key for key in gone if key not in old),
            unchanged=intake.unchanged,
            moved=len(intake.moved),
            skipped=tuple(intake.skipped),
            empty=tuple(intake.empty),
            chunks_to_embed=self._to_embed,
            edges_to_relink=self._edges([*changed, *gone]),
        )

    def _edges(self, keys: list[str]) -> int:
        if self._corpus is None or not keys:
            return 0
        generation = self._corpus.generation
        rows = self._client.read("count_edges_of", corpus=self._corpus.id, keys=keys, generation=generation)
        return int(rows[0]["edges"])


def _renamed(
    gone: Iterable[str], new: Iterable[str], known: Mapping[str, Known], text_hashes: Mapping[str, str]
) -> list[tuple[str, str]]:
    """Pair the keys that go with new ones of the same text, both in order."""
    by_text: dict[str, list[str]] = defaultdict(list)
    for key in new:
        if key in text_hashes:
            by_text[text_hashes[key]].append(key)
    return [(key, waiting.pop(0)) for key in gone if (waiting := by_text.get(known[key].text_hash))]
