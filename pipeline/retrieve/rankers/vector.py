"""The vector leg: chunks by the cosine of their embedding with the question's."""

from dataclasses import replace

from pipeline.retrieve.candidates import vector_search
from pipeline.retrieve.filters.search import filtered_vector_search
from pipeline.retrieve.reader import CorpusReader
from pipeline.retrieve.trace import RankingTrace


def rank(reader: CorpusReader, trace: RankingTrace) -> RankingTrace:
    """Rank by the vector index."""
    limit = reader.settings.retrieve.candidates
    if trace.matches is None:
        generation, ranking = vector_search(reader, trace.vector, limit)
    else:
        generation = trace.matches.generation
        ranking = filtered_vector_search(reader, trace.matches, trace.vector, limit)
    return replace(trace, generation=generation).ranked(ranking)
