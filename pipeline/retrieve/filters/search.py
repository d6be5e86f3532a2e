"""Candidates among the chunks that match a filter: few are scored one by one; for many an index is read further."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from pipeline.db.vectors import packed
from pipeline.retrieve.candidates import (
    CandidateLimits,
    Candidates,
    explore,
    fulltext_ranking,
    fulltext_search,
    fuse_hybrid,
    vector_ranking,
    vector_search,
)
from pipeline.retrieve.filters.matches import Matches
from pipeline.retrieve.fusion import Ranked
from pipeline.retrieve.legs import Leg
from pipeline.retrieve.question import fulltext_query
from pipeline.retrieve.reader import CorpusReader

_SURPLUS = 1.5
"""Candidates fetched in proportion to those needed if the matches were spread evenly. Chosen by hand; not measured."""

_GROWTH = 4  # by which more are fetched if these were too few; chosen by hand, not measured

FETCHED_AT_MOST = 5_000
"""Maximum hits read from the full-text index; beyond, comparing all its hits with the matches is faster."""


def filtered_vector_search(reader: CorpusReader, matches: Matches, vector: Sequence[float], limit: int) -> Ranked:
    """Return the ``limit`` matches nearest to a vector; scores are cosines."""
    if not matches.exact:
        return _overfetched(reader, lambda ask: vector_search(reader, vector, ask), matches, limit)
    corpus = reader.corpus.at(matches.generation)
    row = corpus.read_visible("filtered_vector", ids=list(matches.ids), vector=packed(vector), limit=limit)
    return vector_ranking(row)


def filtered_fulltext_search(reader: CorpusReader, matches: Matches, question: str, limit: int) -> Ranked:
    """Return the ``limit`` matches whose words match a question's best; scores are Lucene's.

    Both ways are exact, since the index returns all its hits in order.
    """
    text = fulltext_query(question)
    if not (text and matches.ids):
        return Ranked(Leg.FULLTEXT, {})
    if not matches.exact or _ask(matches, limit) <= FETCHED_AT_MOST:
        return _overfetched(reader, lambda ask: fulltext_search(reader, question, ask), matches, limit)
    corpus = reader.corpus.at(matches.generation)
    row = corpus.read_visible("filtered_fulltext", text=text, ids=list(matches.ids), limit=limit)
    return fulltext_ranking(row)


def explore_filtered(
    reader: CorpusReader, matches: Matches, question: str, vector: Sequence[float], limits: CandidateLimits
) -> Candidates:
    """Find candidates, names and their expansion among matches; no other chunk is in any of them."""
    near = Ranked(Leg.VECTOR, {})
    if len(vector):
        near = filtered_vector_search(reader, matches, vector, limits.candidates)
    matching = filtered_fulltext_search(reader, matches, question, limits.candidates)
    hybrid = fuse_hybrid(near, matching)
    around = explore(reader, question, vector, limits, hybrid.ids[: limits.seeds])
    if around.generation != matches.generation:
        raise reader.corpus.superseded()
    return replace(
        around,
        vector=near,
        fulltext=matching,
        hybrid=hybrid,
        names=tuple(name for name in around.names if name.only_chunk is None or name.only_chunk in matches),
        neighbourhood=around.neighbourhood.filtered(matches),
    )


def _ask(matches: Matches, limit: int) -> int:
    """Return how many candidates are likely to include ``limit`` matches."""
    return math.ceil(limit * _SURPLUS * matches.total / len(matches))


def _overfetched(
    reader: CorpusReader, fetch: Callable[[int], tuple[int, Ranked]], matches: Matches, limit: int
) -> Ranked:
    """Fetch more and more hits of an index until ``limit`` of them match, or it has no more."""
    ask = _ask(matches, limit)
    while True:
        generation, fetched = fetch(ask)
        if generation != matches.generation:
            raise reader.corpus.superseded()
        kept = matches.keep(fetched)
        if len(kept.scores) >= limit or len(fetched.scores) < ask or ask >= matches.total:
            return kept.first(limit)
        ask *= _GROWTH
