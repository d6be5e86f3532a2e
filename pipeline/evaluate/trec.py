"""Runs and judgements as trec_eval, ir_measures, PyTerrier and ranx exchange them.

    LEG.trec     query id, Q0, document id, rank, score and the name of the run, separated by blanks
    qrels.trec   query id, 0, document id and relevance, separated by blanks

A blank in an id is written as in a URL: ``%20``. The score of a run that is written is 1 / rank, for legs score by
different scales; a run that is read is in the order of trec_eval: by score in single precision, then by id, descending.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from urllib.parse import quote

import numpy as np

from pipeline.errors import ConfigurationError, QuerySetError
from pipeline.evaluate.datasets import Query, read_dataset, read_grades
from pipeline.evaluate.measures import QueryMeasures, distinct
from pipeline.evaluate.report import Report, check_json_path, write_text
from pipeline.files import Guard, Line, lines

QRELS = "qrels.trec"
SUFFIX = ".trec"

_RUN = Guard(
    QuerySetError, "A line of a run is: query id, Q0, document id, rank, score, name of the run, separated by blanks."
)
_COLUMNS = 6  # of a line of a run
_SEPARATES = re.compile(r"\s|%(?=[0-9A-Fa-f]{2})")
_FINEST = 1000  # parts of a relevance that are told apart: it is a whole number in the file


def trec_id(id_: str) -> str:
    """Return an id as it stands in a file: without blanks, and no two alike."""
    return _SEPARATES.sub(lambda match: quote(match[0], safe=""), id_)


def check_runs_folder(folder: Path) -> None:
    """Make a folder for runs, unless it is there; raises ConfigurationError if no file can be written to it."""
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise ConfigurationError(
            f"{folder} can't be made: {error.strerror}", "Name a folder in one of yours."
        ) from error
    check_json_path(folder / QRELS)


def write_runs(report: Report, folder: Path) -> None:
    """Write the ranking of each leg of a report to a folder as a run, and the judgements; other files stay.

    Raises ConfigurationError if a file can't be written.
    """
    for leg in report.legs:
        write_text("".join(_ranked(leg.leg, leg.detail)), folder / f"{leg.leg}{SUFFIX}")
    write_text("".join(_judged(report.dataset.queries)), folder / QRELS)


def _ranked(leg: str, detail: Iterable[QueryMeasures]) -> Iterator[str]:
    for row in detail:
        for rank, key in enumerate(distinct(row.result.ranking), start=1):
            yield f"{trec_id(row.result.query_id)} Q0 {trec_id(key)} {rank} {1 / rank:.9g} {leg}\n"


def _judged(queries: Sequence[Query]) -> Iterator[str]:
    """Yield lines of judgements; relevances that aren't whole are multiplied, which leaves every measure as it is."""
    grades = {grade for query in queries for grade in query.relevant.values()}
    parts = math.lcm(*(Fraction(grade).limit_denominator(_FINEST).denominator for grade in grades))
    for query in queries:
        for key, grade in {**query.relevant, **dict.fromkeys(sorted(query.irrelevant), 0.0)}.items():
            yield f"{trec_id(query.id)} 0 {trec_id(key)} {round(grade * parts)}\n"


def read_runs(path: Path) -> dict[str, dict[str, tuple[str, ...]]]:
    """Return the rankings of a file by the name of the run and by query, best first.

    Raises QuerySetError, naming the line, for what is no run, and for a document that a query has twice.
    """
    scores: dict[str, dict[str, dict[str, np.float32]]] = {}
    for line in lines(path, _RUN):
        columns = line.text.split()
        if len(columns) != _COLUMNS:
            raise line.fault(f"hasn't {_COLUMNS} columns: {line.text!r:.100}")
        query, _, key, _, written, run = columns
        of_query = scores.setdefault(run, {}).setdefault(query, {})
        if key in of_query:
            raise line.fault(f"has document {key!r} for query {query!r} again", "Keep one of the two lines.")
        of_query[key] = _score(written, line)
    if not scores:
        raise _RUN.fault(path, "is empty")
    return {run: {query: _in_order(keys) for query, keys in of.items()} for run, of in scores.items()}


def _score(written: str, line: Line) -> np.float32:
    try:
        score = float(written)
    except ValueError:
        score = math.nan
    if math.isnan(score):
        raise line.fault(f"has the score {written!r}, which is no number")
    with np.errstate(over="ignore"):
        return np.float32(score)


def _in_order(scores: Mapping[str, np.float32]) -> tuple[str, ...]:
    return tuple(key for _, key in sorted(((score, key) for key, score in scores.items()), reverse=True))


def read_judgements(path: Path) -> tuple[Query, ...]:
    """Return the judged queries of a file of judgements, or of a queryset's folder, without their texts.

    Ids are as they stand in runs. Raises QuerySetError.
    """
    if path.is_dir() and not (path / QRELS).is_file():
        return tuple(
            replace(
                query,
                id=trec_id(query.id),
                text="",
                relevant={trec_id(key): grade for key, grade in query.relevant.items()},
                irrelevant=frozenset(map(trec_id, query.irrelevant)),
            )
            for query in read_dataset(path).queries
        )
    file = path / QRELS if path.is_dir() else path
    judged = read_grades(file)
    queries = tuple(Query.judged(id_, "", grades) for id_, grades in judged.items() if max(grades.values()) > 0)
    if not queries:
        raise QuerySetError(f"{file} names no relevant document.", "Give the judgements of the queryset.")
    return queries
