"""Lessons: judged questions with their candidates and the passages of their corpus, to learn from."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.db.corpus import CorpusHandle
from pipeline.db.vectors import from_bytes
from pipeline.embedding.reranker import Read
from pipeline.evaluate.datasets import Dataset, Query
from pipeline.progress import Progress
from pipeline.retrieve.fusion import Ranked
from pipeline.retrieve.question import check_question
from pipeline.retrieve.scoring.confidence import Signs, led_to, mentions_of, signs_of
from pipeline.retrieve.scoring.coverage import Passage
from pipeline.retrieve.scoring.features import Features, candidates_to_score
from pipeline.retrieve.scoring.scorer import Scorer
from pipeline.retrieve.steps import choose_seeds, features_of, rerank, walk_locally
from pipeline.retrieve.trace import RankingTrace
from pipeline.settings import NameSettings, Settings

MOST_QUESTIONS = 200
"""Maximum number of questions of a dataset, spread evenly; all datasets count the same anyway."""

_LOOKED_AT = 10
"""Number of chunks of a name, chunks about it first; a relevant one among them means that the name leads there."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """A judged question, and the trace of its search up to the candidates."""

    query: Query
    found: RankingTrace


@dataclass(frozen=True, slots=True)
class Lessons:
    """The judged questions of a dataset, its kind, the passages of its corpus, by id, and what a reranker reads."""

    dataset: str
    kind: str
    lessons: tuple[Lesson, ...]
    passages: Mapping[str, Passage]
    read: Read | None = None


@dataclass(frozen=True, slots=True)
class NameLesson:
    """A name in a question: its evidence, and whether it leads to a relevant document."""

    signs: Signs
    leads: bool


@dataclass(frozen=True, slots=True)
class Example:
    """A question as the scorer sees it.

    ``passages`` are those of the corpus, by id. ``rows`` are the candidates to learn from: the best ranked of each
    document, since most chunks of a long relevant document aren't relevant. ``relevant`` says which of these rows are.
    """

    query: Query
    hybrid: Ranked
    features: Features
    passages: Mapping[str, Passage]
    rows: NDArray[np.intp]
    relevant: NDArray[np.bool_]


def corpus_passages(corpus: CorpusHandle) -> dict[str, Passage]:
    """Return all chunks of a corpus as passages, by id."""
    centroids = {row["document"]: from_bytes(row["centroid"]) for row in corpus.stream("document_centroids")}
    return {
        row["id"]: Passage(row["text"], row["title"], row["heading"], row["document"], centroids.get(row["document"]))
        for row in corpus.stream("chunk_texts")
    }


def study(
    explore: Callable[[str], RankingTrace],
    passages: Mapping[str, Passage],
    dataset: Dataset,
    kind: str,
    progress: Progress,
    read: Read | None = None,
) -> Lessons:
    """Find the candidates of a dataset's questions, at most ``MOST_QUESTIONS``.

    ``explore`` finds the candidates of a question; ``passages`` are those of the corpus, by id. ``read`` scores them by
    a reranker, if there is one.
    """
    chosen = dataset.queries
    if len(chosen) > MOST_QUESTIONS:
        chosen = tuple(chosen[round(place)] for place in np.linspace(0, len(chosen) - 1, MOST_QUESTIONS))
    lessons = []
    with progress.stage(f"study {dataset.name}", len(chosen)) as done:
        for query in chosen:
            lessons.append(Lesson(query, explore(check_question(query.text))))
            done(1)
    return Lessons(dataset.name, kind, tuple(lessons), passages, remembering(read) if read else None)


def remembering(read: Read) -> Read:
    """Return a reranker's ``read`` that scores each passage for a question once, for all ways of learning."""
    known: dict[tuple[str, str], float] = {}

    def scores(question: str, texts: Sequence[str]) -> list[float]:
        missing = [text for text in dict.fromkeys(texts) if (question, text) not in known]
        known.update(zip(((question, text) for text in missing), read(question, missing), strict=True))
        return [known[question, text] for text in texts]

    return scores


def name_lessons(lessons: Lessons) -> list[NameLesson]:
    """Return the names in the questions of a dataset, judged."""
    learned = []
    for lesson in lessons.lessons:
        candidates = lesson.found.candidates
        for name in candidates.names:
            first = led_to(mentions_of(name, candidates.neighbourhood))[:_LOOKED_AT]
            known = (lessons.passages[chunk].document for chunk in first if chunk in lessons.passages)
            leads = any(document in lesson.query.relevant for document in known)
            signs = signs_of(name, candidates.vector, candidates.hybrid, candidates.neighbourhood)
            learned.append(NameLesson(signs, leads))
    return learned


def examples(lessons: Lessons, names: NameSettings, settings: Settings) -> list[Example]:
    """Return the questions of a dataset as the scorer would see them with these settings of names.

    A reranker reads the first candidates by the scorer of ``settings``, whatever is learned.
    """
    shown, scorer = [], Scorer(settings.weights.scorer)
    for lesson in lessons.lessons:
        trace = choose_seeds(lesson.found, names, settings.walk)
        trace = walk_locally(trace, settings.walk, settings.retrieve.candidates)
        hybrid = trace.candidates.hybrid
        to_score = candidates_to_score(hybrid, trace.walk, settings.retrieve.scored)
        passages = {id_: lessons.passages[id_] for id_ in to_score if id_ in lessons.passages}
        documents = [passage.document for passage in passages.values()]
        rows = np.array(_best_of_documents(list(passages), documents, hybrid, trace.walk), dtype=np.intp)
        relevant = np.array([documents[row] in lesson.query.relevant for row in rows], dtype=np.bool_)
        features = features_of(trace, passages)
        if lessons.read:
            features = rerank(features, trace.question, passages, lessons.read, scorer, settings.retrieve.reranked)
        shown.append(Example(lesson.query, hybrid, features, lessons.passages, rows, relevant))
    return shown


def _best_of_documents(ids: Sequence[str], documents: Sequence[str], hybrid: Ranked, walk: Ranked) -> list[int]:
    """Return for each document the row of the candidate that hybrid or the walk ranks best; of equals, hybrid's."""
    in_hybrid, in_walk = hybrid.ranks(), walk.ranks()
    last = len(in_hybrid) + len(in_walk) + 1
    by_rank = sorted(
        range(len(ids)),
        key=lambda row: (min(in_hybrid.get(ids[row], last), in_walk.get(ids[row], last) + 0.5), ids[row]),
    )
    return sorted({documents[row]: row for row in reversed(by_rank)}.values())  # of a document the best comes last
