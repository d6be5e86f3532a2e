"""The legs that rank by an index of the server, by what the steps of a search have found, or by both fused."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from pipeline.retrieve.candidates import HYBRID_K, fulltext_search, vector_search
from pipeline.retrieve.filters.matches import Matches
from pipeline.retrieve.filters.search import filtered_fulltext_search, filtered_vector_search
from pipeline.retrieve.fusion import Ranked, fuse
from pipeline.retrieve.legs import Leg
from pipeline.retrieve.reader import CorpusReader
from pipeline.retrieve.steps import walk
from pipeline.retrieve.trace import RankingTrace

_Asked = TypeVar("_Asked", str, Sequence[float])


def vector(reader: CorpusReader, trace: RankingTrace) -> RankingTrace:
    """Rank chunks by the cosine of their embedding with the question's."""
    return _searched(reader, trace, trace.vector, vector_search, filtered_vector_search)


def fulltext(reader: CorpusReader, trace: RankingTrace) -> RankingTrace:
    """Rank chunks by Lucene's BM25 of the question's words."""
    return _searched(reader, trace, trace.question, fulltext_search, filtered_fulltext_search)


def _searched(
    reader: CorpusReader,
    trace: RankingTrace,
    asked: _Asked,
    search: Callable[[CorpusReader, _Asked, int], tuple[int, Ranked]],
    filtered: Callable[[CorpusReader, Matches, _Asked, int], Ranked],
) -> RankingTrace:
    """Rank by one of the server's indexes, among the chunks that the filter admits if there is one."""
    limit, matches = reader.settings.retrieve.candidates, trace.matches
    if matches is None:
        generation, ranking = search(reader, asked, limit)
    else:
        generation, ranking = matches.generation, filtered(reader, matches, asked, limit)
    return replace(trace, generation=generation).ranked(ranking)


def hybrid(_reader: CorpusReader, trace: RankingTrace) -> RankingTrace:
    """Rank by vector and full text, fused by reciprocal rank with k = 60 and equal weights."""
    candidates = trace.candidates
    return trace.fused(candidates.hybrid, [(candidates.vector, 1.0), (candidates.fulltext, 1.0)], HYBRID_K)


def graph(reader: CorpusReader, trace: RankingTrace) -> RankingTrace:
    """Rank by a walk from the seeds, over the whole projection where GDS has room for it, else over the expansion."""
    trace = walk(reader, trace, alone=True)
    return trace.ranked(trace.walk)


def scorer(_reader: CorpusReader, trace: RankingTrace) -> RankingTrace:
    """Rank candidates by a learned sum of their features."""
    return trace.ranked(trace.scores)


def whole(reader: CorpusReader, trace: RankingTrace) -> RankingTrace:
    """Fuse hybrid and the scorer; vector, full text and the walk speak through these, and weigh nothing themselves."""
    settings, candidates = reader.settings.retrieve, trace.candidates
    fused = [(candidates.hybrid, 1.0), (trace.scores, settings.fuse_scorer)]
    parts = [*((ranking, 0.0) for ranking in (candidates.vector, candidates.fulltext, trace.walk)), *fused]
    return trace.fused(fuse(Leg.WHOLE, fused, settings.fuse_k), parts, settings.fuse_k)
