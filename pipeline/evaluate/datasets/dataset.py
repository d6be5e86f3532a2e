"""A dataset: questions with their relevant documents, independent of the format of its files."""

import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.errors import QuerySetError
from pipeline.records import Document

_NAMED_AT_MOST = 5  # ids in a message; chosen by hand


@dataclass(frozen=True, slots=True)
class Query:
    """A question and its relevant documents: document key -> relevance, finite and above 0, at least one.

    ``type`` is the dataset's own kind of question, empty if it has none.
    Raises ``QuerySetError`` when ``relevant`` is empty or holds another relevance.
    """

    id: str
    text: str
    relevant: Mapping[str, float]
    type: str = ""

    def __post_init__(self) -> None:
        # Every measure divides by the values.
        if not self.relevant or not all(0 < relevance < math.inf for relevance in self.relevant.values()):
            raise QuerySetError(
                f"query {self.id!r} has no relevant document, or a relevance that is not above 0: {self.relevant!r}",
                "Leave out queries without relevant documents, and documents that are not relevant.",
            )


@dataclass(frozen=True, slots=True)
class Dataset:
    """The queries of an evaluation, in the order of the file, and the name of their folder or file.

    ``unjudged`` are the ids of queries without a relevant document, which can't be measured. The documents are in
    ``corpus_path``, a .jsonl file, or are ``documents``; both are None if they come from elsewhere.
    """

    name: str
    queries: tuple[Query, ...]
    unjudged: tuple[str, ...] = ()
    corpus_path: Path | None = None
    documents: tuple[Document, ...] | None = None


def check_documents(dataset: Dataset, known_keys: Container[str]) -> None:
    """Raise ``QuerySetError`` if relevant documents are not among ``known_keys`` (a set, for speed).

    ``known_keys`` includes documents that ingestion leaves out because they have no text; these count as not found.
    """
    judged = dict.fromkeys(key for query in dataset.queries for key in query.relevant)
    unknown = [key for key in judged if key not in known_keys]
    if unknown:
        raise QuerySetError(
            f"queryset {dataset.name!r}: {len(unknown)} of the {len(judged)} relevant documents in its qrels"
            f" are not in the corpus: {named(unknown)}",
            "Give the corpus that the qrels were made for, under the same document ids.",
        )


def named(ids: Sequence[str]) -> str:
    """Return the first few ids for a message, followed by dots if there are more."""
    return ", ".join(map(repr, ids[:_NAMED_AT_MOST])) + (", ..." if len(ids) > _NAMED_AT_MOST else "")
