"""From a ranking to a result: the best chunks as hits, each with its rank in every leg, and explanations of it.

An explanation is the path to each hit, the contributions of features, and the share of the graph.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pipeline.records import Hit, LegRank
from pipeline.retrieve.fusion import Ranked
from pipeline.retrieve.legs import Leg
from pipeline.retrieve.paths import read_paths
from pipeline.retrieve.reader import CorpusReader
from pipeline.retrieve.results import RetrieverResult, RetrieverResultItem
from pipeline.retrieve.scoring.features import FEATURES
from pipeline.retrieve.scoring.relevance import Evidence, reasons_of
from pipeline.retrieve.scoring.scorer import graph_share
from pipeline.retrieve.trace import RankingTrace

_FIRST = 10  # hits whose words count for the question; chosen by hand, as many as a search shows
_INDEXES = (Leg.VECTOR, Leg.FULLTEXT)
_NO_RANKING = Ranked("", {})


def hydrate(reader: CorpusReader, trace: RankingTrace, top_k: int, *, explain: bool = False) -> RetrieverResult:
    """Return the best ``top_k`` chunks of a ranking as hits; ``explain`` adds the path and the features of each."""
    top = trace.ranking.ids[:top_k]
    # The hits in the trace are of the generation that was ranked, even if another was published since.
    missing = reader.hits.read([id_ for id_ in top if id_ not in trace.hits], trace.generation)
    known = {**trace.hits, **{id_: stored.hit for id_, stored in missing.items()}}
    shown = [known[id_] for id_ in top if id_ in known]
    legs = _leg_ranks(trace, [hit.id for hit in shown])
    scores = trace.ranking.scores
    relevances = reader.judge.judge(evidence_of(reader, trace, shown), shown) if shown else {}
    hits = [
        replace(hit, rank=rank, score=scores[hit.id], legs=legs[hit.id], relevance=relevances.get(hit.id))
        for rank, hit in enumerate(shown, 1)
    ]
    metadata: dict[str, Any] = {
        "corpus": reader.corpus.name,
        "leg": str(trace.ranking.leg),
        "names": [name.folded for name in trace.names],
        "engine": trace.engine,
        "confidence": trace.confidence,
        "relevance": (max(relevances.values()) if relevances else None) if hits else 0.0,
    }
    if explain:
        hits, explanation = _explained(reader, trace, hits)
        metadata |= explanation
    if (matches := trace.matches) is not None:
        metadata["filter"] = {
            "admitted": matches.admitted,
            "chunks": matches.total,
            "unknown_fields": list(matches.unknown),
            **({"evaluated": [dict(one) for one in matches.plan.evaluated]} if explain else {}),
        }
    return RetrieverResult(tuple(map(RetrieverResultItem.of, hits)), metadata, tuple(hits), trace.vector)


def evidence_of(reader: CorpusReader, trace: RankingTrace, hits: Sequence[Hit]) -> Evidence:
    """Return the evidence for the relevance of hits; of a leg that takes no candidates, that of its own ranking."""
    found, known = trace.candidates, {**{hit.id: hit for hit in hits}, **trace.hits}
    vector, fulltext = found.vector, found.fulltext
    if not found.generation:
        vector, fulltext = (trace.ranking if trace.ranking.leg == leg else _NO_RANKING for leg in _INDEXES)
    first = [known[id_] for id_ in trace.ranking.ids[:_FIRST] if id_ in known]
    # Without vectors nothing is compared with chance.
    chance = reader.chance.read(found.chunks) if vector.scores else None
    held = trace.features.held if trace.features else {}
    return Evidence(trace.question, vector, fulltext, trace.scores, trace.confidence, first, chance, held)


def _leg_ranks(trace: RankingTrace, ids: Sequence[str]) -> dict[str, dict[str, LegRank]]:
    places: dict[str, dict[str, LegRank]] = {id_: {} for id_ in ids}
    for ranking, weight in trace.parts:
        ranks = ranking.ranks()
        for id_ in (id_ for id_ in ids if id_ in ranks):
            rank = ranks[id_]
            whole = trace.ranking.scores.get(id_, 0.0)
            share = weight / (trace.k + rank) / whole if whole and len(trace.parts) > 1 else 1.0
            places[id_][str(ranking.leg)] = LegRank(rank=rank, score=ranking.scores[id_], share=share)
    return places


def _explained(reader: CorpusReader, trace: RankingTrace, hits: Sequence[Hit]) -> tuple[list[Hit], dict[str, Any]]:
    """Return hits with their path and the contributions of features, and metadata that explains the whole result.

    The metadata is the confidence in each name of the question; if the model couldn't read the question, that it was
    ranked by words alone; and, if the scorer was fused, the graph's share in it.
    """
    metadata: dict[str, Any] = {"name_confidences": {name.folded: name.confidence for name in trace.names}}
    if trace.candidates.generation and not len(trace.vector):
        metadata["words_alone"] = True
    features: dict[str, dict[str, float]] = {}
    # The scorer as a leg by itself is explained by its scores.
    if trace.features is not None and len(trace.parts) > 1:
        added = reader.scorer.contributions(trace.features)
        metadata["graph_share"] = graph_share(added)
        rows = zip(trace.features.ids, added.tolist(), strict=True)
        features = {id_: dict(zip(FEATURES, row, strict=True)) for id_, row in rows}
    found = trace.candidates
    reasons = reasons_of(evidence_of(reader, trace, hits), hits, found.names, found.neighbourhood)
    hits = [replace(hit, features=features.get(hit.id, {}), reasons=reasons[hit.id]) for hit in hits]
    paths = read_paths(reader, trace, hits)
    return [replace(hit, evidence=paths[hit.id]) for hit in hits], metadata
