"""The bm25 leg: Okapi BM25 in Python (rank-bm25) over the stems of every chunk, as a yardstick for evaluations."""

import threading
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
import Stemmer
from numpy.typing import NDArray
from rank_bm25 import BM25Okapi

from pipeline.db.client import batches
from pipeline.db.corpus import CorpusHandle
from pipeline.retrieve.fusion import Ranked, ranked
from pipeline.retrieve.legs import Leg
from pipeline.retrieve.reader import CorpusReader
from pipeline.retrieve.trace import RankingTrace
from pipeline.text.index_words import compared_words
from pipeline.text.languages import AUTO, ENGLISH

Keep = Callable[[Sequence[str]], Container[str]]
"""A function from ids to those of them that a filter admits."""

_ASKED = 1_000  # ids that are asked about at a time; chosen by hand, not measured


def rank(reader: CorpusReader, trace: RankingTrace) -> RankingTrace:
    """Rank by an index of the whole corpus, which is kept."""
    limit = reader.settings.retrieve.candidates
    keep = None if trace.matches is None else trace.matches.keep
    generation, ranking = reader.kept(Bm25).rank(trace.question, limit, keep)
    return replace(trace, generation=generation).ranked(ranking)


class Inverted(BM25Okapi):  # type: ignore[misc]  # the library is untyped
    """The library's Okapi BM25 of tokenised texts, with an inverted index: only texts that hold a term are scored."""

    doc_freqs: list[dict[str, int]]

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        super().__init__(texts)
        rows: dict[str, list[int]] = defaultdict(list)
        counts: dict[str, list[int]] = defaultdict(list)
        for row, frequencies in enumerate(self.doc_freqs):
            for term, count in frequencies.items():
                rows[term].append(row)
                counts[term].append(count)
        self.doc_freqs = []
        self._postings = {term: (np.array(rows[term]), np.array(counts[term])) for term in rows}
        self._length = self.k1 * (1 - self.b + self.b * np.array(self.doc_len) / self.avgdl)

    def get_scores(self, query: Sequence[str]) -> NDArray[np.float64]:
        """Return the score of every text, shape ``(len(texts),)``; a repeated term of the query counts repeatedly."""
        scores = np.zeros(self.corpus_size)
        for term in query:
            if term in self._postings:
                rows, counts = self._postings[term]
                scores[rows] += self.idf[term] * counts * (self.k1 + 1) / (counts + self._length[rows])
        return scores


@dataclass(frozen=True, slots=True)
class _Index:
    generation: int
    ids: list[str]
    scorer: Inverted | None


def _kept(best: Iterable[tuple[str, float]], keep: Keep) -> Iterator[tuple[str, float]]:
    for part in batches(best, _ASKED):
        admitted = keep([id_ for id_, _ in part])
        yield from (one for one in part if one[0] in admitted)


class Bm25:
    """Okapi BM25 over the chunks of one corpus, by the stems of its language; built at first use and after a change."""

    def __init__(self, corpus: CorpusHandle) -> None:
        self._corpus = corpus
        self._stemmer = _stemmer_of(corpus.record.analyzer)
        self._lock = threading.Lock()
        self._index: _Index | None = None

    def rank(self, question: str, limit: int, keep: Keep | None = None) -> tuple[int, Ranked]:
        """Return the visible generation and its ``limit`` best chunks, without chunks that share no word.

        With ``keep``, which returns those of some ids that are admitted, only these are ranked.
        """
        index = self._current()
        if index.scorer is None:
            return index.generation, Ranked(Leg.BM25, {})
        scores = index.scorer.get_scores(self._terms(question))
        order = (i for i in np.argsort(-scores, kind="stable").tolist() if scores[i] > 0)
        best = ((index.ids[i], float(scores[i])) for i in order)
        return index.generation, ranked(Leg.BM25, dict(islice(best if keep is None else _kept(best, keep), limit)))

    def _current(self) -> _Index:
        generation = self._corpus.read_visible("corpus_size")["generation"]
        with self._lock:
            if self._index is None or self._index.generation != generation:
                corpus = self._corpus.at(generation)
                rows = sorted(corpus.stream("chunk_texts"), key=lambda row: row["id"])
                corpus.check_visible()
                texts = [self._terms(f"{row['title']} {row['heading']} {row['text']}") for row in rows]
                scorer = Inverted(texts) if any(texts) else None
                self._index = _Index(generation, [row["id"] for row in rows], scorer)
            return self._index

    def _terms(self, text: str) -> list[str]:
        words = compared_words(text)
        if self._stemmer is None:
            return words
        # A stemmer may not be used by two threads at once.
        stems: list[str] = Stemmer.Stemmer(self._stemmer).stemWords(words)
        return stems


def _stemmer_of(analyzer: str) -> str | None:
    """Return the name of the stemmer of a full-text analyser, which has that of its language; None if there is none.

    A corpus whose language isn't known yet is taken for English, as most are.
    """
    language = ENGLISH if analyzer == AUTO else analyzer
    return language if language in Stemmer.algorithms() else None
