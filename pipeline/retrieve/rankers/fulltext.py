"""The full-text leg: chunks by Lucene's BM25 of the question's words."""

from dataclasses import replace

from pipeline.retrieve.candidates import fulltext_search
from pipeline.retrieve.filters.search import filtered_fulltext_search
from pipeline.retrieve.reader import CorpusReader
from pipeline.retrieve.trace import RankingTrace


def rank(reader: CorpusReader, trace: RankingTrace) -> RankingTrace:
    """Rank by the corpus's full-text index."""
    limit = reader.settings.retrieve.candidates
    if trace.matches is None:
        generation, ranking = fulltext_search(reader, trace.question, limit)
    else:
        generation = trace.matches.generation
        ranking = filtered_fulltext_search(reader, trace.matches, trace.question, limit)
    return replace(trace, generation=generation).ranked(ranking)
