"""Questions with their relevant documents, however they were written down."""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.errors import QuerySetError
from pipeline.records import Document

_NAMED_AT_MOST = 5


@dataclass(frozen=True, slots=True)
class Query:
    """A question and its relevant documents: document key -> relevance, finite and above 0, at least one.

    ``type`` is what kind of question the queryset calls it, empty if it doesn't say.
    Raises ``QuerySetError`` when ``relevant`` is empty or holds another relevance.
    """

    id: str
    text: str
    relevant: Mapping[str, float]
    type: str = ""

    def __post_init__(self) -> None:
        """Check ``relevant``: every measure divides by what it holds."""
        if not self.relevant or not all(0 < relevance < math.inf for relevance in self.relevant.values()):
            raise QuerySetError(
                f"query {self.id!r} has no relevant document, or a relevance that is not above 0: {self.relevant!r}",
                "Leave out queries without relevant documents, and documents that are not relevant.",
            )


@dataclass(frozen=True, slots=True)
class QuerySet:
    """The queries to measure with, in the order of the file, and the name of the folder or file.

    ``unjudged`` are the ids of queries without a relevant document: nothing can be measured with them.
    The documents are in ``corpus_path``, a .jsonl file, or are ``documents``; both are None when they come from
    elsewhere.
    """

    name: str
    queries: tuple[Query, ...]
    unjudged: tuple[str, ...] = ()
    corpus_path: Path | None = None
    documents: tuple[Document, ...] | None = None


def check_documents(queryset: QuerySet, known_keys: Container[str]) -> None:
    """Raise ``QuerySetError`` when relevant documents are not among ``known_keys`` (a set, for speed).

    A document that ingestion leaves out for want of text still belongs in ``known_keys``: it counts as not found.
    """
    judged = dict.fromkeys(key for query in queryset.queries for key in query.relevant)
    unknown = [key for key in judged if key not in known_keys]
    if unknown:
        raise QuerySetError(
            f"queryset {queryset.name!r}: {len(unknown)} of the {len(judged)} relevant documents in its qrels"
            f" are not in the corpus: {named(unknown)}",
            "Give the corpus that the qrels were made for, under the same document ids.",
        )


def named(ids: Sequence[str]) -> str:
    """Return the first few ids for a message, and dots where there are more."""
    return ", ".join(map(repr, ids[:_NAMED_AT_MOST])) + (", ..." if len(ids) > _NAMED_AT_MOST else "")
