"""The whole, ``hoprank``: hybrid and the scorer, fused."""

from pipeline.retrieve.fusion import fuse
from pipeline.retrieve.legs import Leg
from pipeline.retrieve.reader import CorpusReader
from pipeline.retrieve.trace import RankingTrace


def rank(reader: CorpusReader, trace: RankingTrace) -> RankingTrace:
    """Fuse hybrid and the scorer; vector, full text and the walk speak through these, and weigh nothing themselves."""
    settings, candidates = reader.settings.retrieve, trace.candidates
    fused = [(candidates.hybrid, 1.0), (trace.scores, settings.fuse_scorer)]
    heard = [(ranking, 0.0) for ranking in (candidates.vector, candidates.fulltext, trace.walk)]
    return trace.fused(fuse(Leg.WHOLE, fused, settings.fuse_k), [*heard, *fused], settings.fuse_k)
