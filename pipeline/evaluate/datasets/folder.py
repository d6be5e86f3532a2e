"""Datasets in a folder of JSON Lines: HopRank's own, or BEIR's as published.

    queries.jsonl   {"id": ..., "query": ...} a line; BEIR's names ``_id`` and ``text`` are read too
    qrels.tsv       a header, then query id, document id and relevance, separated by tabs
    qrels/          BEIR has such a file for each split in this folder instead
    corpus.jsonl    {"id": ..., ...} a line; may be absent if the documents come from elsewhere

All files are UTF-8. Blank lines are skipped.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterator
from pathlib import Path

from pipeline.errors import QuerySetError
from pipeline.evaluate.datasets.dataset import Dataset, Query, named
from pipeline.evaluate.datasets.lines import JSONL_FIX, field, lines, records

SPLITS = ("test", "dev", "train")
"""BEIR's splits; the first that exists is the default."""

_QRELS_FIX = "Write a header line, then one line each of: query id, document id, relevance, separated by tabs."
_ID_NAMES = ("id", "_id")
_TEXT_NAMES = ("query", "text")


def read_folder(folder: Path, split: str | None = None) -> Dataset:
    """Read ``folder``; a relevance of 0 or less means judged and not relevant.

    ``split`` is the one of BEIR's splits to read; queries of the others are left out.

    Raises ``QuerySetError``, with file and line, if a file is missing or malformed, an id is used twice, the qrels name
    unknown queries, or no query has a relevant document.
    """
    name, qrels = _qrels(folder, split)
    texts = _read_queries(folder / "queries.jsonl")
    relevant = _read_qrels(qrels, texts)
    if name:
        texts = {query_id: asked for query_id, asked in texts.items() if query_id in relevant}
    queries = tuple(
        Query(query_id, text, relevant[query_id], kind)
        for query_id, (text, kind) in texts.items()
        if relevant.get(query_id)
    )
    if not queries:
        raise QuerySetError(f"{qrels} names no relevant document for any query", _QRELS_FIX)
    corpus_path = folder / "corpus.jsonl"
    return Dataset(
        name="/".join(part for part in (folder.resolve().name, name) if part),
        queries=queries,
        unjudged=tuple(query_id for query_id in texts if not relevant.get(query_id)),
        corpus_path=corpus_path if corpus_path.is_file() else None,
    )


def read_document_ids(corpus_path: Path) -> frozenset[str]:
    """Return the ids in a corpus.jsonl, including ids of documents without text.

    Raises ``QuerySetError``, with file and line, if the file or an id can't be read.
    """
    return frozenset(field(record, _ID_NAMES, where) for where, record in records(corpus_path))


def _qrels(folder: Path, split: str | None) -> tuple[str, Path]:
    """Return the split to read, empty if the folder has none, and its file."""
    qrels = folder / "qrels.tsv"
    splits = {path.stem: path for path in sorted((folder / "qrels").glob("*.tsv"))}
    if split is None and (qrels.exists() or not splits):
        return "", qrels
    chosen = split or next((name for name in SPLITS if name in splits), next(iter(splits)))
    if chosen not in splits:
        fix = f"It has {', '.join(splits)}." if splits else "Leave the split out: the folder has none."
        raise QuerySetError(f"{folder} has no split {chosen!r}: there is no qrels/{chosen}.tsv", fix)
    return chosen, splits[chosen]


def _read_queries(path: Path) -> dict[str, tuple[str, str]]:
    """Return query id -> text and type, in the order of the file; the type is empty if it is missing or no text."""
    texts: dict[str, tuple[str, str]] = {}
    for where, record in records(path):
        query_id = field(record, _ID_NAMES, where)
        if query_id in texts:
            raise QuerySetError(f"{where}: the query id {query_id!r} was used before", "Give every query its own id.")
        kind = record.get("type")
        texts[query_id] = field(record, _TEXT_NAMES, where), kind if isinstance(kind, str) else ""
    if not texts:
        raise QuerySetError(f"{path} holds no queries", JSONL_FIX.format('"id" and "query"'))
    return texts


def _read_qrels(path: Path, query_ids: Container[str]) -> dict[str, dict[str, float]]:
    """Return the relevant documents of every query in the file; raises unless all are in ``query_ids``."""
    relevant: dict[str, dict[str, float]] = {}
    judged: dict[tuple[str, str], float] = {}
    unknown: dict[str, str] = {}
    for where, query_id, document_id, relevance in _judgements(path):
        if judged.setdefault((query_id, document_id), relevance) != relevance:
            raise QuerySetError(
                f"{where}: document {document_id!r} was judged before for query {query_id!r}, with another relevance",
                "Keep one of the two lines.",
            )
        if query_id not in query_ids:
            unknown.setdefault(query_id, where)
            continue
        of_query = relevant.setdefault(query_id, {})
        if relevance > 0:
            of_query[document_id] = relevance
    if unknown:
        raise QuerySetError(
            f"{next(iter(unknown.values()))}: {len(unknown)} of the query ids are not in queries.jsonl:"
            f" {named(list(unknown))}",
            "Add those queries to queries.jsonl, or take their lines out of qrels.tsv.",
        )
    return relevant


def _judgements(path: Path) -> Iterator[tuple[str, str, str, float]]:
    """Yield the place, query id, document id and relevance of every line below the header."""
    rows = lines(path)
    where, header = next(rows, (f"{path}:1", ""))
    if _relevance(header.rpartition("\t")[2]) is not None:
        raise QuerySetError(f"{where}: the first line is a judgement, not a header: {header!r}", _QRELS_FIX)
    _columns(where, header)
    for where, line in rows:
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
    """Return a relevance as a number; None for words, ``nan`` and infinities."""
    try:
        relevance = float(written)
    except ValueError:
        return None
    return relevance if math.isfinite(relevance) else None
