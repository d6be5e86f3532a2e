"""The harness of every evaluation: rankings by name are asked each query, timed, measured, and averaged.

A domain brings its queries, a function for each ranking and one that measures an answer; see ``tools/evaluate.py``.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np

from pipeline.db.corpus import CorpusHandle
from pipeline.errors import QuerySetError
from pipeline.evaluate.datasets import Dataset, read_dataset
from pipeline.evaluate.measures import Measures, mean_measures
from pipeline.grouping import grouped
from pipeline.progress import Progress

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Answered(Generic[Asked, Answer]):
    """The answer of a ranking to a query, and the milliseconds that it took."""

    ranking: str
    query: Asked
    answer: Answer
    milliseconds: float


def ask(
    queries: Sequence[Asked], rankings: Mapping[str, Callable[[Asked], Answer]], progress: Progress
) -> Iterator[Answered[Asked, Answer]]:
    """Yield the answer of each ranking to each query, one at a time: rankings and queries in their order.

    A ranking is asked the first query once beforehand, so that no latency includes what is made at first use. Raises
    QuerySetError if there is no query.
    """
    if not queries:
        raise QuerySetError("There is no question to ask, so nothing can be measured.", "Give judged questions.")
    for name, rank in rankings.items():
        with progress.stage(f"search: {name}", len(queries)) as done:
            rank(queries[0])
            for query in queries:
                start = time.perf_counter()
                answer = rank(query)
                yield Answered(name, query, answer, 1000 * (time.perf_counter() - start))
                done(1)


def means(
    answered: Iterable[Answered[Asked, Answer]], measure: Callable[[Asked, Answer], Measures]
) -> dict[str, dict[str, float]]:
    """Return the mean over queries of each measure of the answers, by ranking.

    Raises QuerySetError if all answers of all rankings are empty (false): what was asked is gone, or was never there.
    """
    answers = list(answered)
    check_found(one.answer for one in answers)
    measured = grouped((one.ranking, measure(one.query, one.answer)) for one in answers)
    return {ranking: mean_measures(rows) for ranking, rows in measured.items()}


def check_found(answers: Iterable[object]) -> None:
    """Raise QuerySetError unless one of the answers isn't empty: figures of nothing would look like a bad ranking."""
    if not any(answers):
        raise QuerySetError(
            "No ranking found anything for any question, so nothing was measured.",
            "Look whether what is asked still has its texts: hoprank corpus show.",
        )


def latencies(answered: Iterable[Answered[Asked, Answer]]) -> dict[str, dict[str, float]]:
    """Return the percentiles 50 and 95 of the milliseconds, interpolated linearly, by ranking."""
    taken = grouped((one.ranking, one.milliseconds) for one in answered)
    return {
        ranking: {f"p{share}": float(np.percentile(values, share)) for share in (50, 95)}
        for ranking, values in taken.items()
    }


def read_judged(folder: Path, what: str = "documents") -> tuple[Dataset, Path]:
    """Read the dataset of a folder that brings its documents; return it with its corpus.jsonl.

    Raises QuerySetError if the folder is no dataset, or lacks the file; the message calls its lines ``what``.
    """
    dataset = read_dataset(folder)
    if dataset.corpus_path is None:
        raise QuerySetError(f"{folder} has no corpus.jsonl.", f"Put the {what} into corpus.jsonl, one a line.")
    return dataset, dataset.corpus_path


def chunk_documents(corpus: CorpusHandle) -> dict[str, str]:
    """Return the document of each chunk of a corpus, by id."""
    return {row["id"]: row["document"] for row in corpus.stream("chunk_documents")}
