"""A dataset: questions with their relevant documents, independent of the format of its files."""

import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self, TypeAlias

from pipeline.errors import QuerySetError
from pipeline.records import Document
from pipeline.retrieve.question import LONGEST, as_read
from pipeline.text.prose import counted

_NAMED_AT_MOST = 5  # ids in a message; chosen by hand


Answers: TypeAlias = tuple[str, ...]
"""Texts, any of which answers a query."""


@dataclass(frozen=True, slots=True)
class Query:
    """A question and its relevant documents: document key -> relevance, finite and above 0, at least one.

    ``type`` is the dataset's own kind of question, empty if it has none. ``irrelevant`` are the documents that were
    judged, and aren't relevant. ``answers`` are texts any of which answers it.
    Raises ``QuerySetError`` when ``relevant`` is empty or holds another relevance.
    """

    id: str
    text: str
    relevant: Mapping[str, float]
    type: str = ""
    irrelevant: frozenset[str] = frozenset()
    answers: Answers = ()

    @classmethod
    def judged(cls, id_: str, text: str, grades: Mapping[str, float], type_: str = "", answers: Answers = ()) -> Self:
        """Return a query by the grades of its judged documents: those of 0 or less aren't relevant."""
        relevant = {key: grade for key, grade in grades.items() if grade > 0}
        return cls(id_, text, relevant, type_, frozenset(grades.keys() - relevant.keys()), answers)

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
    ``corpus_path``, a .jsonl file, or are ``documents``; both are None if they come from elsewhere. ``own`` are the ids
    of queries that are documents of the corpus themselves, under the same ids: a ranking is measured without the
    query's own. ``missing`` are the relevant documents that the corpus lacks. ``remarks`` are sentences on what of the
    files isn't as it should be, or isn't used.
    """

    name: str
    queries: tuple[Query, ...]
    unjudged: tuple[str, ...] = ()
    corpus_path: Path | None = None
    documents: tuple[Document, ...] | None = None
    own: frozenset[str] = frozenset()
    missing: frozenset[str] = frozenset()
    remarks: tuple[str, ...] = ()

    def remarked(self, *remarks: str) -> "Dataset":
        """Return it with more remarks; empty ones are left out."""
        return replace(self, remarks=(*self.remarks, *filter(None, remarks)))

    def as_read(self) -> "Dataset":
        """Return it with its queries as far as they are read, and a remark on those that are longer."""
        queries = tuple(replace(query, text=as_read(query.text)) for query in self.queries)
        longer = [old.id for old, new in zip(self.queries, queries, strict=True) if old.text != new.text]
        if not longer:
            return self
        number = counted(len(longer), "query is", "queries are")
        remark = f"{number} longer than {LONGEST:,} characters, and asked as far as that ({named(longer)})."
        return replace(self, queries=queries).remarked(remark)


def answer_texts(*given: object) -> Answers:
    """Return answers that are written as texts, numbers or lists of these; anything else is left out."""
    values = [value for one in given for value in (one if isinstance(one, list) else [one])]
    texts = [str(value).strip() for value in values if isinstance(value, str | int | float)]
    return tuple(dict.fromkeys(filter(None, texts)))


def check_documents(dataset: Dataset, known_keys: Container[str]) -> Dataset:
    """Return the dataset with a remark on relevant documents that are not among ``known_keys`` (a set, for speed).

    They count as not found, as do documents that ingestion leaves out because they have no text; these are known. If
    none is known, the corpus is another: raises ``QuerySetError``.
    """
    judged = dict.fromkeys(key for query in dataset.queries for key in query.relevant)
    unknown = [key for key in judged if key not in known_keys]
    if unknown and len(unknown) == len(judged):
        raise QuerySetError(
            f"queryset {dataset.name!r}: none of the {len(judged)} relevant documents in its qrels is in the corpus:"
            f" {named(unknown)}",
            "Give the corpus that the qrels were made for, under the same document ids.",
        )
    if not unknown:
        return dataset
    part = f"{len(unknown):,} of {counted(len(judged), 'relevant document')}"
    dataset = replace(dataset, missing=frozenset(unknown))
    return dataset.remarked(f"Not in the corpus, so that they count as not found: {part} ({named(unknown)}).")


def named(ids: Sequence[str]) -> str:
    """Return the first few ids for a message, followed by dots if there are more."""
    return ", ".join(map(repr, ids[:_NAMED_AT_MOST])) + (", ..." if len(ids) > _NAMED_AT_MOST else "")
