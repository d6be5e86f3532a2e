"""The graph leg: personalised PageRank from the seeds."""

from pipeline.retrieve.reader import CorpusReader
from pipeline.retrieve.steps import walk
from pipeline.retrieve.trace import RankingTrace


def rank(reader: CorpusReader, trace: RankingTrace) -> RankingTrace:
    """Rank by a walk over the whole projection where GDS has room for it, else over the expansion."""
    trace = walk(reader, trace, alone=True)
    return trace.ranked(trace.walk)
