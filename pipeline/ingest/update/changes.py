"""Changes: the difference between a source's documents and the stored ones; the plan of a sync, and what a run did."""

import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from pipeline.db.client import Client
from pipeline.db.corpus import CorpusHandle
from pipeline.db.indexes import vector_index_name
from pipeline.files.guard import composed
from pipeline.grouping import grouped
from pipeline.ids import digest
from pipeline.ingest.chunking.chunk import batched
from pipeline.ingest.embed import Done
from pipeline.ingest.update.stored import Spool, StoredDocument
from pipeline.json_values import JsonRecord
from pipeline.progress import Progress
from pipeline.records import Document, Skipped, Warned

_BATCH_CHARACTERS = 1_000_000  # with the next, what is in memory before it is on disk; chosen by hand, not measured
_BATCH_DOCUMENTS = 512


@dataclass
class Changes:
    """The result of reading a source; documents are named by key, in the order of the source.

    ``documents`` holds the new and changed documents in batches, ``characters`` counts those of their texts. ``stored``
    holds the corpus's documents before. ``text_hashes`` maps new and changed documents to the hashes of their texts,
    except blank texts, if the corpus has any documents. ``unchanged`` counts the other documents; ``moved`` maps those
    of them with another path to the new path.
    """

    stored: Mapping[str, StoredDocument]
    documents: Spool[Document]
    changed: list[str] = field(default_factory=list)
    characters: int = 0
    unchanged: int = 0
    text_hashes: dict[str, str] = field(default_factory=dict)
    moved: dict[str, str] = field(default_factory=dict)
    empty: list[str] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    warnings: list[Warned] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)

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
        changes = Changes(stored, documents)
        with progress.stage("read", getattr(source, "total", None)) as done:
            for batch in batched(_differing(_told(source, done), changes), _BATCH_DOCUMENTS, _BATCH_CHARACTERS):
                documents.append(batch)
        yield changes


def _told(source: Iterable[Document | Skipped], done: Done) -> Iterator[Document | Skipped]:
    """Yield the items of ``source``; tell ``done`` of the files that were read, if it counts them."""
    before = 0
    for item in source:
        yield item
        if steps := getattr(source, "done", 0) - before:
            before += steps
            done(steps)
    if left := getattr(source, "done", 0) - before:
        done(left)


def _differing(source: Iterable[Document | Skipped], changes: Changes) -> Iterator[Document]:
    """Yield the new and changed documents of ``source``; record everything in ``changes``."""
    # a key that was stored before keys were composed (NFC) stays that of its document
    decomposed = {composed(key): key for key in changes.stored if not unicodedata.is_normalized("NFC", key)}
    for item in source:
        if isinstance(item, Skipped):
            changes.skipped.append(item)
            continue
        key = decomposed.get(item.key, item.key)
        if key not in changes.seen and item.key not in changes.stored:
            item = replace(item, key=key) if key != item.key else item
        changes.seen.add(item.key)
        changes.warnings += [Warned(item.path or item.key, warning) for warning in item.warnings]
        has_text = bool(item.text.strip())
        if not has_text:
            changes.empty.append(item.key)
        before = changes.stored.get(item.key)
        if before is None or before.hash != document_hash(item):
            changes.changed.append(item.key)
            if before is not None and _is_of_another_folder(before, item):
                changes.warnings.append(Warned(item.path, f"replaces {before.path}: both are {item.key} in the corpus"))
            changes.characters += len(item.text)
            if has_text and changes.stored:  # it may be a renamed document of the corpus
                changes.text_hashes[item.key] = digest(item.text)
            yield item
            continue
        changes.unchanged += 1
        if before.path != item.path:
            changes.moved[item.key] = item.path


def _is_of_another_folder(before: StoredDocument, document: Document) -> bool:
    """Return whether a document takes the key of another that is still where it was read: a moved folder's isn't."""
    return bool(before.path) and before.path != document.path and Path(before.path).is_file()


def document_hash(document: Document) -> str:
    """Return the hash of everything that the graph holds of a document, except its key, path and time.

    Without these, the documents of a moved or copied folder and a renamed file stay unchanged.
    """
    # Only notes have more than target and place; without them the hashes of other documents stay as they were.
    links = repr([(link.target, link.start, *filter(None, (link.relation, link.context))) for link in document.links])
    # A heading that becomes a paragraph changes the chunks of an HTML page, but not its text.
    blocks = repr([(block.kind.value, block.start, block.level) for block in document.blocks])
    metadata = repr(sorted(document.metadata.items()))
    # Metadata of chunks is hashed only where there is any, for the same reason as the links'.
    supplied = [
        (chunk.start, chunk.end, chunk.embedding, *filter(None, [sorted(chunk.metadata.items())]))
        for chunk in document.prechunked
    ]
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


@dataclass(frozen=True, slots=True)
class Plan(JsonRecord):
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
    warnings: tuple[Warned, ...] = ()

    @property
    def removed_keys(self) -> frozenset[str]:
        """Keys that the sync removes: of removed documents, and the old keys of renamed documents."""
        return frozenset(self.removed) | {old for old, _ in self.renamed}

    def __bool__(self) -> bool:
        """Return whether any document changes."""
        return bool(self.added or self.changed or self.renamed or self.removed)


def make_plan(
    client: Client,
    name: str,
    corpus: CorpusHandle | None,
    fingerprint: str,
    changes: Changes,
    text_hashes: Iterable[Collection[str]],
) -> Plan:
    """Return the plan of a sync of the corpus ``name``, whose vectors are of ``fingerprint``.

    ``text_hashes`` yields, batch by batch, the hashes of the distinct texts that new and changed documents embed.
    """
    changed = sorted(key for key in changes.changed if key in changes.stored)
    new = sorted(key for key in changes.changed if key not in changes.stored)
    renamed = _renamed(changes, new)
    old_names, new_names = {old for old, _ in renamed}, {new for _, new in renamed}
    to_embed = edges = 0
    for hashes in text_hashes:
        rows = client.read("count_stored_embeddings", hashes=list(hashes), model=vector_index_name(fingerprint))
        to_embed += len(hashes) - int(rows[0]["stored"])
    if corpus and (replaced := [*changed, *changes.missing]):
        edges = int(corpus.read("count_edges_of", keys=replaced)[0]["edges"])
    return Plan(
        corpus=name,
        added=tuple(key for key in new if key not in new_names),
        changed=tuple(changed),
        renamed=tuple(renamed),
        removed=tuple(key for key in changes.missing if key not in old_names),
        unchanged=changes.unchanged,
        moved=len(changes.moved),
        skipped=tuple(changes.skipped),
        empty=tuple(changes.empty),
        chunks_to_embed=to_embed,
        edges_to_relink=edges,
        warnings=tuple(changes.warnings),
    )


def _renamed(changes: Changes, new: list[str]) -> list[tuple[str, str]]:
    """Pair missing keys with new keys of the same text, both in order."""
    by_text = grouped((changes.text_hashes[key], key) for key in new if key in changes.text_hashes)
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
class IngestSummary(JsonRecord):
    """The documents that were read, and the numbers of nodes and edges in the corpus now.

    ``changed`` counts new and changed documents. ``empty`` names documents without text, which are stored but never
    found. ``edges`` counts by type; it is empty if nothing changed. ``linked_otherwise`` describes the link settings
    that differ from those of the corpus: the corpus keeps its own until :func:`pipeline.flows.maintain.relink`.
    ``warnings`` say what of the files that were read couldn't be read.
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
    warnings: tuple[Warned, ...] = ()


@dataclass(frozen=True, slots=True)
class SyncSummary(JsonRecord):
    """The plan of a sync, and the summary of its writes; ``done`` is None after a dry run."""

    plan: Plan
    done: IngestSummary | None


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
        skipped=tuple(changes.skipped),
        empty=tuple(changes.empty),
        documents=now.documents if now else 0,
        chunks=now.chunks if now else 0,
        entities=now.entities if now else 0,
        edges=outcome.edges if outcome else {},
        seconds=dict(seconds),
        linked_otherwise=linked_otherwise,
        warnings=tuple(changes.warnings),
    )
