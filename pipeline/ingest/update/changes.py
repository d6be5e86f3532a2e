"""Changes: the difference between a source's documents and the stored ones; the plan of a sync, and what a run did."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from pipeline.db.client import Client
from pipeline.db.corpus import CorpusHandle
from pipeline.ids import digest
from pipeline.ingest.chunking import Chunker
from pipeline.ingest.chunking.chunk import cut
from pipeline.ingest.embed import embedded_text
from pipeline.ingest.update.stored import Spool, StoredDocument
from pipeline.progress import Progress
from pipeline.records import Document, Skipped

_BATCH_CHARACTERS = 1_000_000
_BATCH_DOCUMENTS = 512


@dataclass(frozen=True)
class Changes:
    """The result of reading a source; documents are named by key, in the order of the source.

    ``documents`` holds the new and changed documents in batches. ``stored`` holds the corpus's documents before.
    ``text_hashes`` maps new and changed documents to the hashes of their texts, except blank texts. ``unchanged``
    counts the other documents; ``moved`` maps those of them with another path to the new path.
    """

    stored: Mapping[str, StoredDocument]
    documents: Spool[Document]
    changed: tuple[str, ...] = ()
    unchanged: int = 0
    text_hashes: Mapping[str, str] = field(default_factory=dict)
    moved: Mapping[str, str] = field(default_factory=dict)
    empty: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    seen: frozenset[str] = frozenset()

    @cached_property
    def missing(self) -> tuple[str, ...]:
        """The keys of stored documents that the source lacks, in order."""
        return tuple(sorted(self.stored.keys() - self.seen))

    def __bool__(self) -> bool:
        return bool(self.changed or self.moved)


@contextmanager
def detect_changes(
    source: Iterable[Document | Skipped], stored: Mapping[str, StoredDocument], progress: Progress
) -> Iterator[Changes]:
    """Read ``source`` to its end and yield its changes against ``stored``, valid until the context ends.

    Changed documents are kept in a temporary file meanwhile. Raises the errors of reading.
    """
    with Spool[Document]() as documents:
        changed: list[str] = []
        text_hashes: dict[str, str] = {}
        moved: dict[str, str] = {}
        empty: list[str] = []
        skipped: list[Skipped] = []
        seen: set[str] = set()
        unchanged = 0

        def differing() -> Iterator[Document]:
            nonlocal unchanged
            for item in source:
                if isinstance(item, Skipped):
                    skipped.append(item)
                    continue
                seen.add(item.key)
                has_text = bool(item.text.strip())
                if not has_text:
                    empty.append(item.key)
                before = stored.get(item.key)
                if before is None or before.hash != document_hash(item):
                    changed.append(item.key)
                    if has_text:
                        text_hashes[item.key] = digest(item.text)
                    yield item
                    continue
                unchanged += 1
                if before.path != item.path:
                    moved[item.key] = item.path

        with progress.stage("read"):
            for batch in batched(differing()):
                documents.append(batch)
        yield Changes(
            stored=stored,
            documents=documents,
            changed=tuple(changed),
            unchanged=unchanged,
            text_hashes=text_hashes,
            moved=moved,
            empty=tuple(empty),
            skipped=tuple(skipped),
            seen=frozenset(seen),
        )


def document_hash(document: Document) -> str:
    """Return the hash of everything that the graph holds of a document, except its key, path and time.

    Without these, the documents of a moved or copied folder and a renamed file stay unchanged.
    """
    # Only notes have more than target and place; without them the hashes of other documents stay as they were.
    links = repr([(link.target, link.start, *filter(None, (link.relation, link.context))) for link in document.links])
    # A heading that becomes a paragraph changes the chunks of an HTML page, but not its text.
    blocks = repr([(block.kind.value, block.start, block.level) for block in document.blocks])
    metadata = repr(sorted(document.metadata.items()))
    supplied = [(chunk.start, chunk.end, chunk.embedding) for chunk in document.prechunked]
    return digest(
        document.title,
        document.text,
        links,
        blocks,
        metadata,
        str(document.line_offset),
        repr(supplied) if supplied else "",
        *([repr((document.body_start, document.summary))] if document.body_start else ()),
        *([document.original] if document.original else ()),
    )


def batched(documents: Iterable[Document]) -> Iterator[list[Document]]:
    """Group documents into batches with bounded numbers of documents and characters."""
    batch: list[Document] = []
    characters = 0
    for document in documents:
        batch.append(document)
        characters += len(document.text)
        if characters >= _BATCH_CHARACTERS or len(batch) >= _BATCH_DOCUMENTS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


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


@dataclass(frozen=True, slots=True)
class Outcome:
    """Numbers of nodes in a corpus after an update, and of edges by type."""

    generation: int
    documents: int
    chunks: int
    entities: int
    edges: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class IngestSummary:
    """The documents that were read, and the numbers of nodes and edges in the corpus now.

    ``changed`` counts new and changed documents. ``empty`` names documents without text, which are stored but never
    found. ``edges`` counts by type; it is empty if nothing changed. ``linked_otherwise`` describes the link settings
    that differ from those of the corpus: the corpus keeps its own until :func:`pipeline.flows.maintain.relink`.
    """

    corpus: str
    changed: int
    unchanged: int
    skipped: tuple[Skipped, ...]
    empty: tuple[str, ...]
    documents: int
    chunks: int
    entities: int
    edges: Mapping[str, int]
    seconds: Mapping[str, float]
    linked_otherwise: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the summary as plain JSON values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class SyncSummary:
    """The plan of a sync, and the summary of its writes; ``done`` is None after a dry run."""

    plan: Plan
    done: IngestSummary | None

    def to_json(self) -> dict[str, Any]:
        """Return the summary as plain JSON values."""
        return {"plan": self.plan.to_json(), "done": self.done.to_json() if self.done else None}


def summarise(
    name: str,
    corpus: CorpusHandle | None,
    changes: Changes,
    outcome: Outcome | None,
    seconds: Mapping[str, float],
    linked_otherwise: tuple[str, ...],
) -> IngestSummary:
    """Make the summary; without an ``outcome`` nothing has changed."""
    now = outcome or (corpus.record if corpus else None)
    return IngestSummary(
        corpus=name,
        changed=len(changes.changed),
        unchanged=changes.unchanged,
        skipped=changes.skipped,
        empty=changes.empty,
        documents=now.documents if now else 0,
        chunks=now.chunks if now else 0,
        entities=now.entities if now else 0,
        edges=outcome.edges if outcome else {},
        seconds=dict(seconds),
        linked_otherwise=linked_otherwise,
    )
