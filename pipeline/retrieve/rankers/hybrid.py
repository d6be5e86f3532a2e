"""The hybrid leg: vector and full text, fused by reciprocal rank with k = 60 and equal weights."""

from pipeline.retrieve.candidates import HYBRID_K
from pipeline.retrieve.reader import CorpusReader
from pipeline.retrieve.trace import RankingTrace


def rank(_reader: CorpusReader, trace: RankingTrace) -> RankingTrace:
    """Rank as the candidates are fused already."""
    candidates = trace.candidates
    return trace.fused(candidates.hybrid, [(candidates.vector, 1.0), (candidates.fulltext, 1.0)], HYBRID_K)
