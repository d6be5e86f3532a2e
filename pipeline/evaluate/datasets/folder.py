"""Datasets in a folder of JSON Lines: HopRank's own, or BEIR's as published.

    queries.jsonl   {"id": ..., "query": ...} a line; BEIR's names ``_id`` and ``text`` are read too, and answers as
                    ``answer``, ``answers`` or ``answer_aliases``
    qrels.tsv       query id, document id and relevance, separated by tabs, mostly below a header; TREC's four columns
                    (query id, iteration, document id, relevance) and blanks between columns are read too
    qrels/          BEIR has such a file for each split in this folder instead; files of splits may also stand beside
                    queries.jsonl, and be named ``.txt``
    corpus.jsonl    {"id": ..., ...} a line; may be absent if the documents come from elsewhere

All files are UTF-8. Blank lines are skipped. :func:`read_dataset` reads HippoRAG's files too.
"""

import math
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import AliasChoices, BaseModel, BeforeValidator, Field

from pipeline.errors import QuerySetError
from pipeline.evaluate.datasets.dataset import Answers, Dataset, Query, answer_texts, named
from pipeline.evaluate.datasets.hipporag import SUFFIX, read_hipporag
from pipeline.files import Guard, Line, lines
from pipeline.files.validated import validated
from pipeline.retrieve.question import as_asked
from pipeline.text.prose import counted

_SPLITS = ("test", "dev", "train")  # BEIR's splits; the first that exists is the default
_SUFFIXES = (".tsv", ".txt")
_QUERIES = Guard(
    QuerySetError, 'Write one JSON object a line, with a non-empty "id" and "query", into queries.jsonl.', mend=True
)
_CORPUS = Guard(QuerySetError, 'Write one JSON object a line, with a non-empty "id".', mend=True)
_QRELS = Guard(
    QuerySetError,
    "Write qrels.tsv with a header, then one line each of: query id, document id, relevance, separated by tabs; or as "
    "TREC does: query id, 0, document id, relevance.",
)


def number_as_text(value: object) -> object:
    """Return a whole number as a text, as ids and questions may be written; any other value as it is."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


_Text = Annotated[str, BeforeValidator(number_as_text), Field(pattern=r"\S")]
"""A text that isn't blank; a whole number is one too, as in qrels.tsv."""


class _Identified(BaseModel):
    id: _Text = Field(validation_alias=AliasChoices("id", "_id"))


class _Query(_Identified):
    query: Annotated[str | None, BeforeValidator(number_as_text)] = Field(
        validation_alias=AliasChoices("query", "text")
    )
    type: Any = None
    answer: Any = None
    answers: Any = None
    answer_aliases: Any = None


class _Asked(NamedTuple):
    """A query's text, its type, empty if it is missing or no text, and its answers."""

    text: str
    type: str
    answers: Answers


def read_dataset(path: Path, split: str | None = None) -> Dataset:
    """Read a dataset: a folder of JSON Lines (HopRank's own or BEIR's), or a folder or file of HippoRAG's.

    ``split`` chooses among BEIR's: test, dev or train. Raises ``QuerySetError`` if there is no dataset, a file is
    missing or malformed, or the folder holds several datasets.
    """
    if _is(path, folder=True) and not (path / "queries.jsonl").exists() and not (path / "qrels.tsv").exists():
        corpora = sorted(path.glob(f"*{SUFFIX}"))
        if len(corpora) > 1:
            names = ", ".join(corpus.name.replace(SUFFIX, ".json") for corpus in corpora[:5])
            raise QuerySetError(f"{path} holds {len(corpora)} querysets: {names}", f"Name one: {path}/NAME.json.")
        path = corpora[0] if corpora else path
    if path.suffix == ".json" and _is(path, folder=False):
        if split is not None:
            raise QuerySetError(f"{path} has no split {split!r}", "Leave the split out: HippoRAG's sets have none.")
        return read_hipporag(path.with_name(f"{path.name.removesuffix(SUFFIX).removesuffix('.json')}.json")).as_read()
    if not _is(path, folder=True):
        raise QuerySetError(
            f"{path} is not a folder that can be read",
            "Name a folder with queries.jsonl, qrels.tsv and, mostly, corpus.jsonl, or a NAME.json of HippoRAG's.",
        )
    return read_folder(path, split).as_read()


def _is(path: Path, *, folder: bool) -> bool:
    try:
        return path.is_dir() if folder else path.is_file()
    except OSError:
        return False


def read_folder(folder: Path, split: str | None = None) -> Dataset:
    """Read ``folder``; a relevance of 0 or less means judged and not relevant.

    ``split`` is the one of BEIR's splits to read; queries of the others are left out.

    A query without a text, and a judgement of a query that isn't there, are left out with a remark. Raises
    ``QuerySetError``, with file and line, if a file is missing or malformed, an id is used twice, or no query has a
    relevant document.
    """
    name, qrels = _qrels(folder, split)
    texts, blank = _read_queries(folder / "queries.jsonl")
    judged = read_grades(qrels)
    unknown = [query_id for query_id in judged if query_id not in texts and query_id not in blank]
    if name:
        texts = {query_id: asked for query_id, asked in texts.items() if query_id in judged}
    relevant = {query_id for query_id, grades in judged.items() if max(grades.values()) > 0}
    queries = tuple(
        Query.judged(query_id, asked.text, judged[query_id], asked.type, asked.answers)
        for query_id, asked in texts.items()
        if query_id in relevant
    )
    if not queries:
        raise QuerySetError(f"{qrels} names no relevant document for any query of queries.jsonl", _QRELS.fix)
    unjudged = tuple(query_id for query_id in texts if query_id not in relevant)
    remarks = (
        f"{counted(len(ids), 'query', 'queries')} {what} ({named(ids)})."
        for ids, what in (
            ([id_ for id_ in blank if id_ in relevant], "without a text can't be asked"),
            (unjudged, "without a relevant document can't be measured"),
            (unknown, f"in {qrels.name} that queries.jsonl doesn't have can't be asked"),
        )
        if ids
    )
    return Dataset(
        name="/".join(part for part in (folder.resolve().name, name) if part),
        queries=queries,
        unjudged=unjudged,
        corpus_path=_corpus_path(folder),
        remarks=tuple(remarks),
    )


def _corpus_path(folder: Path) -> Path | None:
    path = folder / "corpus.jsonl"
    return path if path.is_file() else None


def read_document_ids(corpus_path: Path) -> frozenset[str]:
    """Return the ids in a corpus.jsonl, including ids of documents without text.

    Raises ``QuerySetError``, with file and line, if the file or an id can't be read.
    """
    return frozenset(
        validated(_Identified, line.object(), line.place, _CORPUS).id for line in lines(corpus_path, _CORPUS)
    )


def _qrels(folder: Path, split: str | None) -> tuple[str, Path]:
    """Return the split to read, empty if the folder has none, and its file."""
    named = [folder / f"qrels{suffix}" for suffix in _SUFFIXES]
    qrels = next((path for path in named if path.exists()), named[0])
    beside = [folder / f"{name}{suffix}" for suffix in _SUFFIXES for name in _SPLITS]
    within = (path for path in sorted((folder / "qrels").glob("*")) if path.suffix in _SUFFIXES)
    splits = {path.stem: path for path in (*filter(Path.is_file, beside), *within)}
    if split is None and (qrels.exists() or not splits):
        return "", qrels
    chosen = split or next((name for name in _SPLITS if name in splits), next(iter(splits)))
    if chosen not in splits:
        fix = f"It has {', '.join(splits)}." if splits else "Leave the split out: the folder has none."
        raise QuerySetError(f"{folder} has no split {chosen!r}: there is no qrels/{chosen}.tsv", fix)
    return chosen, splits[chosen]


def _read_queries(path: Path) -> tuple[dict[str, _Asked], list[str]]:
    """Return the queries by id, in the order of the file, and the ids of queries without a text."""
    texts: dict[str, _Asked] = {}
    for line in lines(path, _QUERIES):
        query = validated(_Query, line.object(), line.place, _QUERIES)
        kind = query.type if isinstance(query.type, str) else ""
        answers = answer_texts(query.answer, query.answers, query.answer_aliases)
        asked = _Asked(query.query or "", kind, answers)
        if texts.setdefault(query.id, asked) != asked:
            raise line.fault(f"has the query id {query.id!r}, which was used before", "Give every query its own id.")
    if not texts:
        raise _QUERIES.fault(path, "holds no queries")
    blank = [id_ for id_, asked in texts.items() if not as_asked(asked.text)]
    return {id_: asked for id_, asked in texts.items() if as_asked(asked.text)}, blank


def read_grades(path: Path) -> dict[str, dict[str, float]]:
    """Return the relevance of the judged documents of each query; raises QuerySetError if a pair has two."""
    judged: dict[str, dict[str, float]] = {}
    for line, query_id, document_id, relevance in judgements(path):
        if judged.setdefault(query_id, {}).setdefault(document_id, relevance) != relevance:
            raise line.fault(
                f"judges document {document_id!r} for query {query_id!r} once more, with another relevance",
                "Keep one of the two lines.",
            )
    return judged


def judgements(path: Path) -> Iterator[tuple[Line, str, str, float]]:
    """Yield the line, query id, document id and relevance of every judgement; raises QuerySetError.

    The first line is a header unless it ends with a number; the first judgement tells how many columns there are. If
    the header has tabs, they separate the judgements, too.
    """
    rows: Iterator[Line] = lines(path, _QRELS)
    first = next(rows, Line(path, 1, "", _QRELS))
    tabs = "\t" in first.text
    if _relevance(_columns(first, first, tabs=tabs)[-1]) is not None:
        rows = chain([first], rows)
    model: Line | None = None
    for line in rows:
        model = model or line
        columns = _columns(line, model, tabs=tabs or "\t" in model.text)
        relevance = _relevance(columns[-1])
        if relevance is None:
            raise line.fault(f"has the relevance {columns[-1]!r}, which is not a number")
        yield line, columns[0], columns[-2], relevance


def _columns(line: Line, model: Line, *, tabs: bool) -> list[str]:
    """Return the columns of a line, which ``tabs`` separate or blanks; those of ``model`` tell how many there are."""
    separator = "\t" if tabs else None
    count = 4 if len(model.text.rstrip().split(separator)) == 4 else 3
    if separator and count == 3:
        return line.columns(count)
    columns = line.text.rstrip().split(separator)
    if len(columns) != count or not all(columns):
        between = "tabs" if separator else "tabs or blanks"
        raise line.fault(f"hasn't {count} columns separated by {between}, none of them empty: {line.text!r:.100}")
    return columns


def _relevance(written: str) -> float | None:
    """Return a relevance as a number; None for words, ``nan`` and infinities."""
    try:
        relevance = float(written)
    except ValueError:
        return None
    return relevance if math.isfinite(relevance) else None
