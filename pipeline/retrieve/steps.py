"""The steps of a search from question to ranking: each takes a trace and returns one that knows more."""

import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias

from pipeline.embedding.reranker import Read
from pipeline.retrieve.candidates import CandidateLimits, explore
from pipeline.retrieve.filters.search import explore_filtered
from pipeline.retrieve.legs import LegRow, Needs
from pipeline.retrieve.rankers.gds_walk import GdsWalk
from pipeline.retrieve.rankers.local_walk import rank_by_walk
from pipeline.retrieve.reader import CorpusReader
from pipeline.retrieve.scoring.confidence import with_confidence
from pipeline.retrieve.scoring.coverage import Passage
from pipeline.retrieve.scoring.features import Features, candidates_to_score, compute_features, with_reranker
from pipeline.retrieve.scoring.scorer import Scorer
from pipeline.retrieve.seeds import weigh_seeds
from pipeline.retrieve.trace import RankingTrace
from pipeline.settings import NameSettings, WalkSettings
from pipeline.text.outline import in_context

Ranker: TypeAlias = Callable[[CorpusReader, RankingTrace], RankingTrace]
"""The function of a leg: it ranks by what the trace knows, or reads more from the corpus."""


def find_candidates(reader: CorpusReader, trace: RankingTrace, needs: Needs) -> RankingTrace:
    """Find candidates by vector and full text, the question's names, and their expansion, in one round trip.

    Without need of seeds only candidates are fetched. For scores a question without names is not expanded, since the
    graph doesn't count there.
    """
    settings = reader.settings
    limits = CandidateLimits(
        candidates=settings.retrieve.candidates,
        seeds=settings.walk.chunk_seeds if needs >= Needs.SEEDS else 0,
        hub=settings.retrieve.hop_hub,
        unnamed=needs is Needs.SEEDS,
    )
    if trace.matches is None:
        candidates = explore(reader, trace.question, trace.vector, limits)
    else:
        candidates = explore_filtered(reader, trace.matches, trace.question, trace.vector, limits)
    scores = needs >= Needs.SCORES and candidates.vector.scores
    chance = reader.chance.read(candidates.chunks) if scores else None
    return replace(trace, candidates=candidates, generation=candidates.generation, chance=chance)


def choose_seeds(trace: RankingTrace, names: NameSettings, walk: WalkSettings) -> RankingTrace:
    """Compute the confidence in each name of the question, and weigh the seeds of the walk and the hops."""
    candidates = trace.candidates
    trusted = with_confidence(candidates.names, candidates.vector, candidates.hybrid, candidates.neighbourhood, names)
    seeds = weigh_seeds(candidates.hybrid, trusted, candidates.chunks, walk)
    return replace(trace, candidates=replace(candidates, names=trusted), seeds=seeds)


def walk(reader: CorpusReader, trace: RankingTrace, *, alone: bool = False) -> RankingTrace:
    """Rank chunks by a walk from the seeds, by GDS or over the expansion; ``alone`` if it is not fused."""
    settings, limit = reader.settings.walk, reader.settings.retrieve.candidates
    # Local among the matches of a filter, where GDS can't walk, and for scores without names.
    may_be_gds = trace.matches is None and (trace.names or alone)
    if may_be_gds and engine_for(reader, trace.candidates.nodes, alone=alone) == "gds":
        gds = GdsWalk(reader.corpus, settings, reader.scale)
        rank_by_gds = gds.rank if settings.engine == "gds" else gds.rank_if_projected
        # Those that the scorer will need: the server does both at once.
        first = () if alone else trace.candidates.hybrid.ids[: reader.settings.retrieve.scored]
        with reader.hits.reading(first, trace.generation):
            ranking = rank_by_gds(trace.seeds, trace.generation, trace.candidates.chunks, limit)
        if ranking is not None:
            return replace(trace, walk=ranking, engine="gds")
    return walk_locally(trace, settings, limit)


def walk_locally(trace: RankingTrace, settings: WalkSettings, limit: int) -> RankingTrace:
    """Rank ``limit`` chunks by a walk from the seeds over the expansion."""
    ranking = rank_by_walk(trace.candidates.neighbourhood, trace.seeds, settings, limit)
    return replace(trace, walk=ranking, engine="local")


def score(reader: CorpusReader, trace: RankingTrace) -> RankingTrace:
    """Score the best candidates of hybrid and the walk by their features; this reads them as hits."""
    ids = candidates_to_score(trace.candidates.hybrid, trace.walk, reader.settings.retrieve.scored)
    stored = reader.hits.read(ids, trace.generation)
    passages = {id_: one.passage for id_, one in stored.items()}
    features = features_of(trace, passages)
    # A vector alone is no question that a model could read.
    if reader.reranker and trace.question:
        first = reader.settings.retrieve.reranked
        features = rerank(features, trace.question, passages, reader.reranker.scores, reader.scorer, first)
    hits = {id_: one.hit for id_, one in stored.items()}
    return replace(trace, hits=hits, features=features, scores=reader.scorer.rank(features))


def features_of(trace: RankingTrace, passages: Mapping[str, Passage]) -> Features:
    """Return the features of candidates, by id."""
    candidates = trace.candidates
    legs = (candidates.vector, candidates.fulltext, trace.walk)
    names, around = candidates.names, candidates.neighbourhood
    return compute_features(trace.question, trace.vector, passages, legs, names, around, trace.chance)


def rerank(
    features: Features, question: str, passages: Mapping[str, Passage], read: Read, scorer: Scorer, first: int
) -> Features:
    """Return features with the score that ``read`` gives to the ``first`` candidates by the scorer without it."""
    ids = scorer.rank(features).ids[:first]
    texts = [in_context(one.title, one.heading, one.text) for one in map(passages.__getitem__, ids)]
    return with_reranker(features, dict(zip(ids, read(question, texts), strict=True)))


def rank(reader: CorpusReader, trace: RankingTrace, leg: LegRow) -> RankingTrace:
    """Rank by the function of a leg, which is imported at first use."""
    ranker: Ranker = pkgutil.resolve_name(leg.function)
    return ranker(reader, trace)


def engine_for(reader: CorpusReader, nodes: int, *, alone: bool) -> str:
    """Return the engine for a corpus of so many nodes, "gds" or "local".

    "auto" takes GDS for a walk alone if the corpus is small enough. Fused with other legs, the walk has the expansion
    at hand anyway, and the whole would take half as long again by GDS.
    """
    settings = reader.settings.walk
    if settings.engine != "auto":
        return settings.engine
    return "gds" if alone and reader.corpus.client.has_gds and nodes <= settings.gds_up_to else "local"
