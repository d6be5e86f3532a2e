"""What of the input is new: documents against those that the graph has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from pipeline.ingest.embed import content_hash
from pipeline.ingest.update.documents import Known
from pipeline.records import Document, Skipped

_CHARACTERS_AT_ONCE = 1_000_000
_DOCUMENTS_AT_ONCE = 512


class Intake:
    """Sorts what is read into skipped, unchanged and changed; complete once :meth:`changed` is read to its end.

    ``seen`` holds the keys of all documents that were read, ``moved`` the new paths of those that are otherwise as
    they were.
    """

    def __init__(self, known: Mapping[str, Known]) -> None:
        self._known = known
        self.skipped: list[Skipped] = []
        self.empty: list[str] = []
        self.unchanged = 0
        self.changed_keys: list[str] = []
        self.moved: dict[str, str] = {}
        self.seen: set[str] = set()

    def changed(self, source: Iterable[Document | Skipped]) -> Iterator[Document]:
        """Yield the documents that the graph doesn't have, or has otherwise."""
        for item in source:
            if isinstance(item, Skipped):
                self.skipped.append(item)
                continue
            self.seen.add(item.key)
            if not item.text.strip():
                self.empty.append(item.key)
            known = self._known.get(item.key)
            if known is None or known.hash != content_hash(item):
                self.changed_keys.append(item.key)
                yield item
                continue
            self.unchanged += 1
            if known.path != item.path:
                self.moved[item.key] = item.path


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
