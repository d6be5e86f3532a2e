"""The first legs within the chunks that a filter admits: scored one by one where these are few, else over-fetched."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from pipeline.db.catalogue import Corpus
from pipeline.db.client import Client
from pipeline.retrieve.candidates import (
    HYBRID_K,
    Start,
    StartSettings,
    begin,
    by_vector,
    by_words,
    fulltext_ranking,
    packed,
    vector_ranking,
)
from pipeline.retrieve.filters.matches import Admitted
from pipeline.retrieve.fusion import Ranked, fuse
from pipeline.retrieve.legs import Leg
from pipeline.retrieve.question import fulltext_query

_SURPLUS = 1.5
"""How many more candidates are asked for than would do if the admitted ones were spread evenly."""

_GROWTH = 4

FETCHED_AT_MOST = 5_000
"""Hits of the full-text index: to find admitted ones among its first so many is quicker than to compare all hits."""


def vector_within(client: Client, corpus: Corpus, admitted: Admitted, vector: Sequence[float], limit: int) -> Ranked:
    """Return the ``limit`` admitted chunks nearest to a vector; scores are cosines."""
    if not admitted.exact:
        return _overfetched(lambda ask: by_vector(client, corpus, vector, ask)[1], admitted, limit)
    rows = client.read(
        "vector_within", ids=list(admitted.ids), vector=packed(vector), generation=admitted.generation, limit=limit
    )
    return vector_ranking(rows[0])


def words_within(client: Client, corpus: Corpus, admitted: Admitted, question: str, limit: int) -> Ranked:
    """Return the ``limit`` admitted chunks that match a question's words best; scores are Lucene's.

    Either way they are exact, since the index gives all its hits in order.
    """
    text = fulltext_query(question)
    if not (text and admitted.ids):
        return Ranked(Leg.FULLTEXT, {})
    if not admitted.exact or _ask(admitted, limit) <= FETCHED_AT_MOST:
        return _overfetched(lambda ask: by_words(client, corpus, question, ask)[1], admitted, limit)
    rows = client.read(
        "fulltext_within",
        index=corpus.label,
        text=text,
        ids=list(admitted.ids),
        generation=admitted.generation,
        limit=limit,
    )
    return fulltext_ranking(rows[0])


def begin_within(
    client: Client,
    corpus: Corpus,
    admitted: Admitted,
    question: str,
    vector: Sequence[float],
    settings: StartSettings,
) -> Start:
    """Return what the first stage finds among admitted chunks: their rankings, the names, and what is around them.

    No chunk that isn't admitted is in any of it.
    """
    near = vector_within(client, corpus, admitted, vector, settings.candidates)
    matching = words_within(client, corpus, admitted, question, settings.candidates)
    hybrid = fuse(Leg.HYBRID, [(near, 1.0), (matching, 1.0)], HYBRID_K)
    start = begin(client, corpus, question, vector, settings, hybrid.ids[: settings.seeds])
    return replace(
        start,
        generation=admitted.generation,
        vector=near,
        fulltext=matching,
        hybrid=hybrid,
        names=tuple(name for name in start.names if name.only_chunk is None or name.only_chunk in admitted),
        around=start.around.within(admitted),
    )


def _ask(admitted: Admitted, limit: int) -> int:
    """Return how many candidates are likely to have ``limit`` admitted ones among them."""
    return math.ceil(limit * _SURPLUS * admitted.total / len(admitted))


def _overfetched(fetch: Callable[[int], Ranked], admitted: Admitted, limit: int) -> Ranked:
    """Ask an index for more and more until ``limit`` of what it gives is admitted, or it has no more."""
    ask = _ask(admitted, limit)
    while True:
        found = fetch(ask)
        kept = admitted.keep(found)
        if len(kept.scores) >= limit or len(found.scores) < ask or ask >= admitted.total:
            return kept.first(limit)
        ask *= _GROWTH
