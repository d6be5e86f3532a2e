"""The first legs within the chunks that a filter admits: scored one by one where these are few, else over-fetched."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from pipeline.graph.client import Client
from pipeline.graph.corpora import Corpus
from pipeline.retrieve.admitted import Admitted
from pipeline.retrieve.fuse import Ranked, fuse, ranked
from pipeline.retrieve.legs import Leg
from pipeline.retrieve.question import fulltext_terms
from pipeline.retrieve.start import HYBRID_K, Start, by_vector, by_words, packed

_SURPLUS = 1.5
"""How many more candidates are asked for than would do if the admitted ones were spread evenly."""

_GROWTH = 4


def vector_within(client: Client, corpus: Corpus, admitted: Admitted, vector: Sequence[float], limit: int) -> Ranked:
    """Return the ``limit`` admitted chunks nearest to a vector; scores are cosines."""
    if not admitted.exact:
        return _overfetched(lambda ask: by_vector(client, corpus, vector, ask)[1], admitted, limit)
    rows = client.read(
        "vector_within", ids=list(admitted.ids), vector=packed(vector), generation=admitted.generation, limit=limit
    )
    scores = zip(rows[0]["near"], rows[0]["near_scores"], strict=True)
    return ranked(Leg.VECTOR, {id_: 2 * score - 1 for id_, score in scores})


def words_within(client: Client, corpus: Corpus, admitted: Admitted, question: str, limit: int) -> Ranked:
    """Return the ``limit`` admitted chunks that match a question's words best; scores are Lucene's."""
    text = fulltext_terms(question)
    if not (text and admitted.ids):
        return Ranked(Leg.FULLTEXT, {})
    if not admitted.exact:
        return _overfetched(lambda ask: by_words(client, corpus, question, ask)[1], admitted, limit)
    rows = client.read(
        "fulltext_within",
        index=corpus.label,
        text=text,
        ids=list(admitted.ids),
        generation=admitted.generation,
        limit=limit,
    )
    return ranked(Leg.FULLTEXT, dict(zip(rows[0]["matching"], rows[0]["matching_scores"], strict=True)))


def start_within(
    client: Client, corpus: Corpus, start: Start, admitted: Admitted, question: str, vector: Sequence[float], limit: int
) -> Start:
    """Return what the first stage finds among admitted chunks: their rankings, and the names to start from."""
    near = vector_within(client, corpus, admitted, vector, limit)
    matching = words_within(client, corpus, admitted, question, limit)
    return replace(
        start,
        generation=admitted.generation,
        vector=near,
        fulltext=matching,
        hybrid=fuse(Leg.HYBRID, [(near, 1.0), (matching, 1.0)], HYBRID_K),
        names=tuple(name for name in start.names if name.only_chunk is None or name.only_chunk in admitted),
    )


def _overfetched(fetch: Callable[[int], Ranked], admitted: Admitted, limit: int) -> Ranked:
    """Ask an index for more and more until ``limit`` of what it gives is admitted, or it has no more."""
    ask = math.ceil(limit * _SURPLUS * admitted.total / len(admitted))
    while True:
        found = fetch(ask)
        kept = admitted.keep(found)
        if len(kept.scores) >= limit or len(found.scores) < ask or ask >= admitted.total:
            return Ranked(kept.leg, dict(list(kept.scores.items())[:limit]))
        ask *= _GROWTH
