"""Features of candidates: the scores of the legs and of a reranker, the question's words and names, and links.

The features of links compare a candidate with the first passages of the walk. Where a question takes two passages, the
second seldom resembles the question, but the first leads to it. A higher feature never counts against a candidate, so
weights learned on one kind of text can't do harm on another.

Term proximity: Metzler and Croft, A Markov random field model for term dependencies (SIGIR 2005), its unordered pairs.
Passages smoothed by their document: Bendersky and Kurland, Utilizing passage-based language models for document
retrieval (ECIR 2008), here with vectors.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from pipeline.edges import REFERENCES
from pipeline.retrieve.chance import Chance
from pipeline.retrieve.expansion import Neighbourhood
from pipeline.retrieve.fusion import Ranked
from pipeline.retrieve.scoring.confidence import NamedEntity, confidence_in, mentions_of, standard_scores
from pipeline.retrieve.scoring.coverage import Coverage, Passage, coverage, named_share, terms_of

Matrix: TypeAlias = NDArray[np.float64]

_OF_TEXTS = ("vector", "fulltext", "sentence", "proximity", "document")
RERANKER = "reranker"
"""The score of a reranker (:func:`with_reranker`), the last feature; 0 for all without one."""

FEATURES = (*_OF_TEXTS, "walk", "about_named", "about_linked", "covers_together", RERANKER)
"""The columns of :func:`feature_matrix`, in order."""

TEXT_FEATURES = frozenset((*_OF_TEXTS, RERANKER))
"""The features that don't depend on the graph."""

_FIRST = 8  # passages of the walk that may lead to a candidate; chosen by hand, not measured

_RANK_K = 5
"""The walk's first counts 1/6, its tenth 1/15: the ends of a ranking differ little. Chosen by hand; not measured."""

_CHANCE_UNIT = 1.4
"""Deviations of chance that count as one of a vector ranking: its deviation is 1.0 to 1.7 of them on seven sets of five
kinds, so that weights that were learned with the one hold with the other."""

_MOST_COUNT = 2.0
"""Most that cosines count, and least its reciprocal: by a model for English, texts in other languages are all near to
each other and far from the messages. Chosen by hand; it changes nothing on those sets."""

_DOCUMENT_SHARE = 0.3
"""Share of a document's centroid in the vector scores of its passages: by 0.3 the ndcg@10 of Flask's documentation
rises from 76.6 to 78.4; 0.25 to 0.4 do about as well."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The inputs of the features.

    ``embedding`` is the question's vector. ``terms`` are the stems of its words; ``named`` are the terms of its names,
    with the confidence in each. ``chance`` is the deviation of chance in the corpus, None if it can't be told.
    """

    embedding: Sequence[float]
    terms: Sequence[str]
    named: Mapping[str, float]
    vector: Ranked
    fulltext: Ranked
    walk: Ranked
    names: tuple[NamedEntity, ...]
    neighbourhood: Neighbourhood
    chance: float | None = None


@dataclass(frozen=True, slots=True)
class Features:
    """Candidates and their features, by row.

    ``matrix`` has the shape ``(len(ids), len(FEATURES))``. ``confidence`` is the highest in a name of the question,
    ``named_share`` the share of its terms that are in names. ``held`` is the share of its terms that each candidate
    holds, by id.
    """

    ids: tuple[str, ...]
    matrix: Matrix
    confidence: float
    named_share: float
    held: Mapping[str, float] = field(default_factory=dict)


def candidates_to_score(hybrid: Ranked, walk: Ranked, of_each: int) -> list[str]:
    """Return the first ``of_each`` chunks of hybrid and of the walk, each once."""
    return list(dict.fromkeys(id_ for leg in (hybrid, walk) for id_ in leg.ids[:of_each]))


def compute_features(
    question: str,
    embedding: Sequence[float],
    passages: Mapping[str, Passage],
    legs: tuple[Ranked, Ranked, Ranked],
    names: tuple[NamedEntity, ...],
    around: Neighbourhood,
    chance: Chance | None = None,
) -> Features:
    """Return the features of candidates, by id; ``legs`` are the rankings of vector, full text and walk.

    ``embedding`` is the question's vector, of length 1; empty if it wasn't embedded. ``chance`` is that of the corpus:
    the better a model tells its passages from what chance brings, the more cosines count.
    """
    terms = terms_of(question)
    named: dict[str, float] = {}
    for name in names:
        named.update({term: max(name.confidence, named.get(term, 0.0)) for term in terms_of(name.folded)})
    evidence = Evidence(embedding, terms, named, *legs, names, around, chance.deviation if chance else None)
    covered = coverage(terms, list(passages.values()), named) if passages else None
    held = dict(zip(passages, covered.held.tolist(), strict=True)) if covered else {}
    matrix = feature_matrix(passages, evidence, covered)
    return Features(tuple(passages), matrix, confidence_in(names), named_share(terms, named), held)


def with_reranker(features: Features, scores: Mapping[str, float]) -> Features:
    """Return features with the score of a reranker, whose ``scores`` are of the candidates that it read, by id.

    They are standardised over these: mean 0, deviation 1, whatever the model's scale. The others get the lowest.
    """
    if not scores:
        return features
    values = np.array(list(scores.values()))
    spread = values.std()
    # Scores that differ by rounding alone tell nothing apart.
    apart = spread > 1e-9 * max(1.0, float(np.abs(values).max()))
    standard = (values - values.mean()) / spread if apart else np.zeros(len(values))
    by_id, lowest = dict(zip(scores, standard.tolist(), strict=True)), float(standard.min())
    matrix = features.matrix.copy()
    matrix[:, FEATURES.index(RERANKER)] = [by_id.get(id_, lowest) for id_ in features.ids]
    return replace(features, matrix=matrix)


def feature_matrix(passages: Mapping[str, Passage], evidence: Evidence, covered: Coverage | None = None) -> Matrix:
    """Return the matrix of the features of candidates, by id, shape ``(len(passages), len(FEATURES))``.

    ``covered`` is their coverage, if it is known already.
    """
    ids = list(passages)
    if not ids:
        return np.zeros((0, len(FEATURES)))
    rows = {id_: row for row, id_ in enumerate(ids)}
    first = [rows[id_] for id_ in evidence.walk.ids[:_FIRST] if id_ in rows]
    vector, fulltext = standard_scores(ids, evidence.vector), standard_scores(ids, evidence.fulltext)
    covered = covered or coverage(evidence.terms, list(passages.values()), evidence.named)
    documents, ranks = _documents(passages.values()), evidence.walk.ranks()
    # Each passage has the best score of another passage of its document, at least 0.
    beside = documents[:, None] == documents[None, :]
    np.fill_diagonal(beside, val=False)
    columns = {
        "vector": _smoothed(vector, passages.values(), evidence),
        "fulltext": fulltext,
        "sentence": covered.alone(),
        "proximity": covered.proximity(),
        "document": (beside * np.maximum(vector, fulltext)).max(axis=1, initial=0),
        "walk": np.array([1 / (_RANK_K + ranks[id_]) if id_ in ranks else 0.0 for id_ in ids]),
        "about_named": _about_named(rows, evidence),
        RERANKER: np.zeros(len(ids)),
        **_chain(rows, first, evidence, covered),
    }
    return np.stack([columns[name] for name in FEATURES], axis=1)


def _documents(passages: Iterable[Passage]) -> NDArray[np.intp]:
    """Return a number for the document of each passage, the same for those of one: texts take longer to compare."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(passage.document, len(numbers)) for passage in passages], dtype=np.intp)


def _smoothed(scores: Matrix, passages: Iterable[Passage], evidence: Evidence) -> Matrix:
    """Return standard scores of the vector leg, mixed with those of the centroids of the passages' documents.

    They are multiplied by what cosines count. A document of one chunk has no centroid, and its passage keeps its score.
    """
    mean, spread = evidence.vector.moments
    counts = _counts(evidence)
    centroids = {row: passage.centroid for row, passage in enumerate(passages) if passage.centroid is not None}
    if not centroids or spread == 0:
        return scores * counts
    cosines = np.stack(list(centroids.values())) @ np.asarray(evidence.embedding, dtype=np.float32)
    smoothed, rows = scores.copy(), list(centroids)
    smoothed[rows] += _DOCUMENT_SHARE * ((cosines - mean) / spread - scores[rows])
    return smoothed * counts


def _counts(evidence: Evidence) -> float:
    """Return what cosines count: how far those of the vector ranking differ, by what chance brings in the corpus.

    It is 1 if the ranking holds all chunks, since then it goes down to the farthest.
    """
    spread, chunks = evidence.vector.moments[1], evidence.neighbourhood.chunks
    if not evidence.chance or not spread or not chunks:
        return 1.0
    ratio = min(max(spread / (_CHANCE_UNIT * evidence.chance), 1 / _MOST_COUNT), _MOST_COUNT)
    beyond = 1 - min(len(evidence.vector.scores) / chunks, 1.0)
    return float(ratio**beyond)


def _chain(rows: Mapping[str, int], first: Sequence[int], evidence: Evidence, covered: Coverage) -> dict[str, Matrix]:
    """Return the features of links: each candidate's strongest tie to a passage of ``first``, which are rows."""
    shared, about = _shared_names(rows, first, evidence)
    forth, back = _referring(rows, first, evidence.neighbourhood)
    tied = np.maximum.reduce([shared, forth, back / 2])
    ties = {"about_linked": about, "covers_together": tied * covered.together(first)}
    ids = list(rows)
    scores = np.array([evidence.walk.scores[ids[row]] for row in first])
    # Each of ``first`` counts by its share of the walk's best score: a namesake weighs little.
    leading = scores / (scores.max(initial=0) or 1.0)
    for matrix in ties.values():
        matrix *= leading
        matrix[first, range(len(first))] = 0
    return {name: matrix.max(axis=1, initial=0) for name, matrix in ties.items()}


def _shared_names(rows: Mapping[str, int], first: Sequence[int], evidence: Evidence) -> tuple[Matrix, Matrix]:
    """Return the rarity of the rarest name that a candidate shares with each of ``first``, and a sum of rarities.

    The sum is over the names that the candidate is about and the other mentions. Both have the shape
    ``(len(rows), len(first))``. The question's own names are left out.
    """
    here = evidence.neighbourhood
    named = {name.id for name in evidence.names}
    before = set(first)
    mentions: list[list[tuple[int, bool]]] = []
    rarities: list[float] = []
    for id_, entity in here.entities.items():
        mentioned_at = [(rows[chunk], about) for chunk, about in entity.chunks.items() if chunk in rows]
        if id_ not in named and len(mentioned_at) > 1 and not before.isdisjoint(row for row, _ in mentioned_at):
            mentions.append(mentioned_at)
            rarities.append(here.rarity(id_))
    mentioned, about = np.zeros((2, len(mentions), len(rows)))
    for place, mentioned_at in enumerate(mentions):
        at, is_about = zip(*mentioned_at, strict=True)
        mentioned[place, at] = 1
        about[place, at] = is_about
    rarity = np.array(rarities) / _most(here)
    weighed = mentioned[:, first] * rarity[:, None]
    shared: Matrix = (mentioned[:, :, None] * weighed[:, None, :]).max(axis=0, initial=0)
    return shared, about.T @ weighed


def _referring(rows: Mapping[str, int], first: Sequence[int], here: Neighbourhood) -> tuple[Matrix, Matrix]:
    """Return the shares of the links from each of ``first`` to the candidates, and of the links back."""
    ids = list(rows)
    places = {ids[row]: place for place, row in enumerate(first)}
    forth, back = np.zeros((len(rows), len(first))), np.zeros((len(rows), len(first)))
    for link in here.links:
        if link.kind in REFERENCES:
            if link.source in places and link.target in rows:
                forth[rows[link.target], places[link.source]] = link.share
            if link.target in places and link.source in rows:
                back[rows[link.source], places[link.target]] = link.share
    return forth, back


def _about_named(rows: Mapping[str, int], evidence: Evidence) -> Matrix:
    """Return the highest rarity times confidence of a question's name that each candidate is about."""
    here = evidence.neighbourhood
    about = np.zeros(len(rows))
    for name in evidence.names:
        rarity = name.confidence * math.log(1 + here.chunks / name.frequency) / _most(here)
        for chunk, is_about in mentions_of(name, here).items():
            if is_about and chunk in rows:
                about[rows[chunk]] = max(about[rows[chunk]], rarity)
    return about


def _most(here: Neighbourhood) -> float:
    return math.log(1 + max(here.chunks, 1))
