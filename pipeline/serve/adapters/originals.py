"""Documents of a framework in a corpus: each comes back as it went in.

The graph holds a text as chunks, and of the metadata what Neo4j can store; search uses both. Beside them stands the
original: the document in JSON, under the name of its framework. Another's document, such as that of a file, has none.
"""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from typing import Any, TypeVar

from pipeline.api import HopRank
from pipeline.db.catalogue import find_corpus
from pipeline.db.corpus import CorpusHandle
from pipeline.errors import InputError, UnknownCorpus
from pipeline.files import well_formed
from pipeline.flows.documents import DocumentEntry, keys_of_value, read_originals
from pipeline.flows.ingest import Decision, ingest_decided
from pipeline.ingest.sources.reader import documents_of
from pipeline.ingest.update.stored import stored_documents
from pipeline.retrieve.results import RetrieverResult
from pipeline.serve.adapters.filters import Conditions
from pipeline.serve.adapters.passages import Passage, passages_of

_T = TypeVar("_T")

_DATES: Mapping[str, type[date] | type[time]] = {f"hoprank:{kind.__name__}": kind for kind in (datetime, date, time)}


@dataclass(frozen=True, slots=True)
class Written:
    """A document to write: what search reads of it, and the original in values of JSON and dates."""

    text: str
    metadata: Mapping[str, Any]
    original: Any


@dataclass(frozen=True, slots=True)
class Stored:
    """A document as stored; ``original`` is None if another wrote it."""

    entry: DocumentEntry
    original: Any | None


@dataclass(frozen=True, slots=True)
class Found:
    """A document that a search found, by its best ``passage``; or a passage of another's, without an ``original``."""

    passage: Passage
    metadata: Mapping[str, Any]
    original: Any | None


class Originals:
    """The documents of a corpus, and the originals of those that the framework ``kind`` wrote. Thread-safe.

    A corpus that isn't there is empty; the first documents make it.
    """

    def __init__(self, hoprank: HopRank, corpus: str, kind: str) -> None:
        self.hoprank = hoprank
        self.corpus = corpus
        self._kind = kind

    def count(self) -> int:
        """Return the number of documents."""
        corpus = find_corpus(self.hoprank.client, self.corpus)
        return corpus.documents if corpus else 0

    def read(self, keys: Iterable[str] | None = None) -> dict[str, Stored]:
        """Return documents by key, by default all, in the order of their keys; those that aren't there are left out."""
        try:
            found = read_originals(self.hoprank.client, self.corpus, keys)
        except UnknownCorpus:
            return {}
        return {entry.key: Stored(entry, _decoded(original, self._kind)) for entry, original in found}

    def with_value(self, field: str, value: str) -> list[str]:
        """Return the keys of the documents whose metadata has a value in a field."""
        try:
            return keys_of_value(self.hoprank.client, self.corpus, field, value)
        except UnknownCorpus:
            return []

    def write(
        self, documents: Mapping[str, Written], left_out: Callable[[set[str]], Collection[str]] = lambda _: ()
    ) -> list[str]:
        """Add and update documents by id in one generation, and return the ids written.

        ``left_out`` is told which of the ids the corpus has, and returns those to leave out, or raises; nobody else
        writes to the corpus meanwhile. Raises InputError for what can't be stored, and the errors of
        :meth:`pipeline.HopRank.add`.
        """
        if not documents:
            return []
        rows = [_row(id_, document) for id_, document in documents.items()]
        prepared = [
            replace(document, original=_encoded(document.key, documents[document.key].original, self._kind))
            for document in documents_of(rows, self.hoprank.settings.sources.limits)
        ]

        def decide(corpus: CorpusHandle) -> Decision[list[str]]:
            without = left_out(documents.keys() & stored_documents(corpus).keys())
            kept = [document for document in prepared if document.key not in without]
            return Decision(kept, [document.key for document in kept])

        return self._ingest(decide)

    def remove(self, keys: Collection[str] | None) -> None:
        """Remove documents by key, or all if ``keys`` is None; those that aren't there are passed over."""
        if (keys is not None and not keys) or find_corpus(self.hoprank.client, self.corpus) is None:
            return

        def decide(corpus: CorpusHandle) -> Decision[None]:
            stored = stored_documents(corpus).keys()
            return Decision((), None, stored if keys is None else stored & set(keys))

        self._ingest(decide)

    def _ingest(self, decide: Callable[[CorpusHandle], Decision[_T]]) -> _T:
        hoprank, wait = self.hoprank, self.hoprank.settings.ingest.wait
        given = (hoprank.client, hoprank.embedder, hoprank.settings, decide, self.corpus)
        return ingest_decided(*given, wait=wait)[1]

    def search(
        self,
        k: int,
        question: str | None,
        vector: Sequence[float] | None = None,
        conditions: Conditions | None = None,
        *,
        leg: str,
    ) -> list[Found]:
        """Return the ``k`` best documents, each once, and passages of others' documents, best first.

        Raises the errors of :meth:`pipeline.HopRank.search`.
        """
        wanted = k
        while True:
            try:
                result = self.hoprank.search(question, vector, wanted, conditions, corpus=self.corpus, leg=leg)
            except UnknownCorpus:
                return []
            found = self._found(result)
            if len(found) >= k or len(result.hits) < wanted:
                return found[:k]
            # Several passages of one document: as many again are asked for until there are enough documents.
            wanted *= 2

    def _found(self, result: RetrieverResult) -> list[Found]:
        stored = self.read({hit.document for hit in result.hits})
        found: dict[str, Found] = {}
        for hit, passage in zip(result.hits, passages_of(result), strict=True):
            one = stored.get(hit.document)
            original = one.original if one else None
            unit = hit.id if original is None else hit.document
            found.setdefault(unit, Found(passage, hit.document_metadata, original))
        return list(found.values())


def _row(id_: str, document: Written) -> dict[str, Any]:
    if well_formed(id_) != id_:
        raise InputError(f"The id {id_!r} holds NUL or half a surrogate pair.", "Give the document another id.")
    title = document.metadata.get("title")
    named = {"title": title} if isinstance(title, str) else {}
    return {"id": id_, "text": document.text, "metadata": document.metadata, **named}


def _encoded(id_: str, original: Any, kind: str) -> str:
    try:
        text = json.dumps({kind: original}, ensure_ascii=False, default=_dated)
        # Neo4j stores no half of a surrogate pair, and JSON can escape it.
        return text if well_formed(text) == text else json.dumps({kind: original}, default=_dated)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(
            f"The document {id_!r} has a value that JSON can't hold: {error}.",
            "Give texts, numbers, true, false, None, dates, and lists and mappings of these.",
        ) from error


def _dated(value: object) -> dict[str, str]:
    for name, kind in _DATES.items():
        if isinstance(value, kind):
            return {name: value.isoformat()}
    raise TypeError(f"a {type(value).__name__}")


def _decoded(text: str, kind: str) -> Any | None:
    """Return the original of the framework ``kind`` that a document has, else None."""
    return json.loads(text, object_hook=_with_dates)[kind] if text.startswith(f'{{"{kind}": ') else None


def _with_dates(value: dict[str, Any]) -> object:
    if len(value) == 1:
        ((name, content),) = value.items()
        if name in _DATES and isinstance(content, str):
            # A mapping of the caller's may have the same name.
            with suppress(ValueError):
                return _DATES[name].fromisoformat(content)
    return value
