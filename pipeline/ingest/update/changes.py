"""Changes: the difference between a source's documents and the stored ones."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property

from pipeline.ids import digest
from pipeline.ingest.update.spool import Spool
from pipeline.ingest.update.stored import StoredDocument
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
