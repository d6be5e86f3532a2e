"""Read a queryset: a folder of questions, and of which documents answer them.

    queries.jsonl   {"id": ..., "query": ...} a line; BEIR's names ``_id`` and ``text`` are read too
    qrels.tsv       a header, then query id, document id and relevance, separated by tabs
    corpus.jsonl    {"id": ..., ...} a line; may be absent when the documents come from elsewhere

All three are UTF-8; blank lines are passed over.
"""

from __future__ import annotations

import json
import math
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pipeline.errors import QuerySetError

_QRELS_FIX = "Write a header line, then one line each of: query id, document id, relevance, separated by tabs."
_JSONL_FIX = "Write one JSON object a line, with a non-empty {}."
_ID_NAMES = ("id", "_id")
_TEXT_NAMES = ("query", "text")
_NAMED_AT_MOST = 5


@dataclass(frozen=True, slots=True)
class Query:
    """A question and its relevant documents: document key -> relevance, finite and above 0, at least one.

    Raises ``QuerySetError`` when ``relevant`` is empty or holds another relevance.
    """

    id: str
    text: str
    relevant: Mapping[str, float]

    def __post_init__(self) -> None:
        """Check ``relevant``: every measure divides by what it holds."""
        if not self.relevant or not all(0 < relevance < math.inf for relevance in self.relevant.values()):
            raise QuerySetError(
                f"query {self.id!r} has no relevant document, or a relevance that is not above 0: {self.relevant!r}",
                "Leave out queries without relevant documents, and documents that are not relevant.",
            )


@dataclass(frozen=True, slots=True)
class QuerySet:
    """The queries to measure with, in the order of the file, and the folder's name.

    ``unjudged`` are the ids of queries without a relevant document: nothing can be measured with them.
    ``corpus_path`` is the folder's corpus.jsonl, or None when it has none.
    """

    name: str
    queries: tuple[Query, ...]
    unjudged: tuple[str, ...] = ()
    corpus_path: Path | None = None


def read_queryset(folder: Path) -> QuerySet:
    """Read ``folder``; a relevance of 0 or less says "judged, and not relevant".

    Raises ``QuerySetError``, with file and line, when a file is missing or malformed, an id is used twice, the qrels
    name unknown queries, or no query has a relevant document.
    """
    if not _is_folder(folder):
        raise QuerySetError(
            f"{folder} is not a folder that can be read",
            "Name a folder with queries.jsonl, qrels.tsv and, mostly, corpus.jsonl.",
        )
    texts = _read_queries(folder / "queries.jsonl")
    relevant = _read_qrels(folder / "qrels.tsv", texts)
    queries = tuple(Query(query_id, text, relevant[query_id]) for query_id, text in texts.items() if relevant[query_id])
    if not queries:
        raise QuerySetError(f"{folder / 'qrels.tsv'} names no relevant document for any query", _QRELS_FIX)
    corpus_path = folder / "corpus.jsonl"
    return QuerySet(
        name=folder.resolve().name,
        queries=queries,
        unjudged=tuple(query_id for query_id in texts if not relevant[query_id]),
        corpus_path=corpus_path if corpus_path.is_file() else None,
    )


def read_document_ids(corpus_path: Path) -> frozenset[str]:
    """Return the ids in a corpus.jsonl, those of documents without text included.

    Raises ``QuerySetError``, with file and line, when the file or an id can't be read.
    """
    return frozenset(_field(record, _ID_NAMES, where) for where, record in _records(corpus_path))


def check_documents(queryset: QuerySet, known_keys: Container[str]) -> None:
    """Raise ``QuerySetError`` when relevant documents are not among ``known_keys`` (a set, for speed).

    A document that ingestion leaves out for want of text still belongs in ``known_keys``: it counts as not found.
    """
    judged = dict.fromkeys(key for query in queryset.queries for key in query.relevant)
    unknown = [key for key in judged if key not in known_keys]
    if unknown:
        raise QuerySetError(
            f"queryset {queryset.name!r}: {len(unknown)} of the {len(judged)} relevant documents in its qrels"
            f" are not in the corpus: {_named(unknown)}",
            "Give the corpus that the qrels were made for, under the same document ids.",
        )


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False


def _read_queries(path: Path) -> dict[str, str]:
    """Return query id -> text, in the order of the file."""
    texts: dict[str, str] = {}
    for where, record in _records(path):
        query_id = _field(record, _ID_NAMES, where)
        if query_id in texts:
            raise QuerySetError(f"{where}: the query id {query_id!r} was used before", "Give every query its own id.")
        texts[query_id] = _field(record, _TEXT_NAMES, where)
    if not texts:
        raise QuerySetError(f"{path} holds no queries", _JSONL_FIX.format('"id" and "query"'))
    return texts


def _read_qrels(path: Path, query_ids: Mapping[str, str]) -> dict[str, dict[str, float]]:
    """Return, for every id in ``query_ids``, its relevant documents; none for those that the file doesn't name."""
    relevant: dict[str, dict[str, float]] = {query_id: {} for query_id in query_ids}
    judged: dict[tuple[str, str], float] = {}
    unknown: dict[str, str] = {}
    for where, query_id, document_id, relevance in _judgements(path):
        if judged.setdefault((query_id, document_id), relevance) != relevance:
            raise QuerySetError(
                f"{where}: document {document_id!r} was judged before for query {query_id!r}, with another relevance",
                "Keep one of the two lines.",
            )
        if query_id not in relevant:
            unknown.setdefault(query_id, where)
        elif relevance > 0:
            relevant[query_id][document_id] = relevance
    if unknown:
        raise QuerySetError(
            f"{next(iter(unknown.values()))}: {len(unknown)} of the query ids are not in queries.jsonl:"
            f" {_named(list(unknown))}",
            "Add those queries to queries.jsonl, or take their lines out of qrels.tsv.",
        )
    return relevant


def _judgements(path: Path) -> Iterator[tuple[str, str, str, float]]:
    """Yield where it stands, query id, document id and relevance of every line below the header."""
    lines = _lines(path)
    where, header = next(lines, (f"{path}:1", ""))
    if _relevance(header.rpartition("\t")[2]) is not None:
        raise QuerySetError(f"{where}: the first line is a judgement, not a header: {header!r}", _QRELS_FIX)
    _columns(where, header)
    for where, line in lines:
        query_id, document_id, written = _columns(where, line)
        relevance = _relevance(written)
        if relevance is None:
            raise QuerySetError(f"{where}: the relevance {written!r} is not a number", _QRELS_FIX)
        yield where, query_id, document_id, relevance


def _columns(where: str, line: str) -> list[str]:
    columns = line.split("\t")
    if len(columns) != 3 or not all(columns):
        raise QuerySetError(f"{where}: three columns were expected, none of them empty: {line!r}", _QRELS_FIX)
    return columns


def _relevance(written: str) -> float | None:
    """Return the number that was written; None for words, ``nan`` and infinities."""
    try:
        relevance = float(written)
    except ValueError:
        return None
    return relevance if math.isfinite(relevance) else None


def _records(path: Path) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield where it stands and the JSON object of every line."""
    for where, line in _lines(path):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:  # ValueError also for a number of thousands of digits
            raise QuerySetError(f"{where}: this is not JSON: {error}", _JSONL_FIX.format('"id"')) from error
        if not isinstance(record, dict):
            raise QuerySetError(f"{where}: this is not a JSON object", _JSONL_FIX.format('"id"'))
        yield where, record


def _field(record: Mapping[str, object], names: tuple[str, ...], where: str) -> str:
    """Return the first of ``names`` that the record has; whole numbers become text, as qrels.tsv writes them."""
    name = next((name for name in names if name in record), names[0])
    value = record.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    # JSON can spell half of a surrogate pair, which neither the server nor a UTF-8 file can hold.
    if not isinstance(value, str) or not value.strip() or not _encodable(value):
        found = f"is {value!r:.80}" if name in record else "is missing"
        raise QuerySetError(f"{where}: the field {name!r} {found}", _JSONL_FIX.format(f'"{names[0]}"'))
    return value


def _encodable(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    """Yield ``path:line``, counted from 1, and the text of every line that isn't blank.

    Lines end at line feeds only: JSON strings may hold the other separators of Unicode.
    """
    try:
        with path.open("rb") as file:
            for number, raw in enumerate(file, start=1):
                line = raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
                if line.strip():
                    yield f"{path}:{number}", line
    except UnicodeDecodeError as error:
        raise QuerySetError(f"{path}:{number}: this is not UTF-8: {error}", "Save the file as UTF-8.") from error
    except OSError as error:
        raise QuerySetError(
            f"{path} can't be read: {error.strerror}", f"Put a readable {path.name} into the queryset's folder."
        ) from error


def _named(ids: list[str]) -> str:
    return ", ".join(map(repr, ids[:_NAMED_AT_MOST])) + (", ..." if len(ids) > _NAMED_AT_MOST else "")
