"""From a ranking to a result: the best chunks as hits, each with its rank in every leg."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pipeline.records import Hit, LegRank
from pipeline.retrieve.explain import explain as explain_ranking
from pipeline.retrieve.filters.matches import Matches
from pipeline.retrieve.reader import CorpusReader
from pipeline.retrieve.results import RetrieverResult, RetrieverResultItem
from pipeline.retrieve.trace import RankingTrace


def hydrate(reader: CorpusReader, trace: RankingTrace, top_k: int, *, explain: bool = False) -> RetrieverResult:
    """Return the best ``top_k`` chunks of a ranking as hits; ``explain`` adds the path and the features of each."""
    hits = _ranked_hits(reader, trace, top_k)
    explanation: dict[str, Any] = {}
    if explain:
        hits, explanation = explain_ranking(reader, trace, hits)
    metadata = {
        "corpus": reader.corpus.name,
        "leg": str(trace.ranking.leg),
        "names": [name.key for name in trace.names],
        "engine": trace.engine,
        "confidence": trace.confidence,
        **explanation,
        **({} if trace.matches is None else {"filter": _filter_summary(trace.matches)}),
    }
    return RetrieverResult(tuple(map(RetrieverResultItem.of, hits)), metadata, tuple(hits), trace.vector)


def _ranked_hits(reader: CorpusReader, trace: RankingTrace, top_k: int) -> list[Hit]:
    top = trace.ranking.ids[:top_k]
    # The hits in the trace are of the generation that was ranked, even if another was published since.
    missing = reader.hits.read([id_ for id_ in top if id_ not in trace.hits], trace.generation)
    hits = {**trace.hits, **{id_: stored.hit for id_, stored in missing.items()}}
    shown = [hits[id_] for id_ in top if id_ in hits]
    legs = _leg_ranks(trace, [hit.id for hit in shown])
    return [
        replace(hit, rank=rank, score=trace.ranking.scores[hit.id], legs=legs[hit.id])
        for rank, hit in enumerate(shown, 1)
    ]


def _leg_ranks(trace: RankingTrace, ids: Sequence[str]) -> dict[str, dict[str, LegRank]]:
    """Return the rank of each of ``ids`` in every leg that has it."""
    places: dict[str, dict[str, LegRank]] = {id_: {} for id_ in ids}
    for ranking, weight in trace.parts:
        ranks = ranking.ranks()
        for id_ in (id_ for id_ in ids if id_ in ranks):
            rank = ranks[id_]
            whole = trace.ranking.scores.get(id_, 0.0)
            share = weight / (trace.k + rank) / whole if whole and len(trace.parts) > 1 else 1.0
            places[id_][str(ranking.leg)] = LegRank(rank=rank, score=ranking.scores[id_], share=share)
    return places


def _filter_summary(matches: Matches) -> dict[str, Any]:
    return {"admitted": len(matches), "chunks": matches.total, "unknown_fields": list(matches.unknown)}
