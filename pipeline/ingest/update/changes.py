"""Changes: the documents of a source against those that the graph has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property

from pipeline.ids import digest
from pipeline.ingest.update.spool import Spool
from pipeline.ingest.update.stored import StoredDocument
from pipeline.progress import Progress
from pipeline.records import Document, Skipped

_CHARACTERS_AT_ONCE = 1_000_000
_DOCUMENTS_AT_ONCE = 512


@dataclass(frozen=True)
class Changes:
    """The outcome of reading a source, by documents' keys in the order of the source.

    ``documents`` holds the new and changed documents in batches. ``stored`` are the corpus's documents before.
    ``text_hashes`` are those of the texts of new and changed documents; documents without text have none. ``unchanged``
    counts the rest, and ``moved`` maps those of the rest that are elsewhere to their new paths.
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
    """Read ``source`` to its end, and yield what is new or other than ``stored``; it lasts as long as the context.

    Documents are kept in a temporary file meanwhile. Raises what reading raises.
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
    """Return a hash of all of a document that the graph holds, so that any change to it is noticed.

    Its key and its path are no part of it: a folder that was moved and a file that was renamed hold what they held.
    """
    links = repr([(link.target, link.start) for link in document.links])
    # A heading that became a paragraph leaves the text of an HTML page as it was, and not its chunks.
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
    )


def batched(documents: Iterable[Document]) -> Iterator[list[Document]]:
    """Group documents into batches of a bounded number and a bounded number of characters."""
    batch: list[Document] = []
    characters = 0
    for document in documents:
        batch.append(document)
        characters += len(document.text)
        if characters >= _CHARACTERS_AT_ONCE or len(batch) >= _DOCUMENTS_AT_ONCE:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch
