"""The retriever of one corpus: candidates and names, their neighbourhood, walk, hops, scorer, fusion; any leg alone."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from pipeline.db.catalogue import Corpus
from pipeline.db.client import Client
from pipeline.errors import ServerTooPoor
from pipeline.records import Hit
from pipeline.retrieve.candidates import HYBRID_K, Start, StartSettings, begin, by_vector, by_words
from pipeline.retrieve.filters.matches import Admission, Admitted
from pipeline.retrieve.filters.parse import Filter
from pipeline.retrieve.filters.search import begin_within, vector_within, words_within
from pipeline.retrieve.fusion import Ranked, fuse
from pipeline.retrieve.hits import HitReader
from pipeline.retrieve.legs import Leg
from pipeline.retrieve.rankers.bm25 import Bm25
from pipeline.retrieve.rankers.gds_walk import GdsWalk
from pipeline.retrieve.rankers.hops import rank_by_hops
from pipeline.retrieve.rankers.local_walk import rank_by_walk
from pipeline.retrieve.scoring.confidence import NamedEntity, confidence_in, with_confidence
from pipeline.retrieve.scoring.coverage import Passage
from pipeline.retrieve.scoring.features import Examined, Matrix, candidates, examine
from pipeline.retrieve.scoring.scorer import Scorer
from pipeline.retrieve.seeds import Seeds, weigh_seeds
from pipeline.settings import Settings

_NO_SEEDS = Seeds({}, {})


@dataclass(frozen=True, slots=True)
class Found:
    """A ranking of chunks, and what went into it.

    ``parts`` are the rankings that were fused, each with its weight, and ``k`` the constant of the fusion; ``engine``
    is what walked, "gds" or "local", or "" if nothing did. ``examined`` is what the scorer was shown, if it was asked,
    ``contributions`` what each feature added to their scores, and ``hits`` holds what was read of these candidates, by
    id, as a result shows it.
    """

    ranking: Ranked
    generation: int
    parts: tuple[tuple[Ranked, float], ...]
    k: float
    seeds: Seeds
    names: tuple[NamedEntity, ...]
    engine: str = ""
    examined: Examined | None = None
    contributions: Matrix | None = None
    hits: Mapping[str, Hit] = field(default_factory=dict)

    @property
    def confidence(self) -> float:
        """The confidence in the surest name of the question, 0 without one."""
        return confidence_in(self.names)


class Retriever:
    """Ranks the chunks of one corpus for questions. Thread-safe.

    Raises ServerTooPoor if GDS is to walk and the server has none, ConfigurationError on unknown features.
    """

    def __init__(
        self,
        client: Client,
        corpus: Corpus,
        embed_query: Callable[[str], Sequence[float]],
        settings: Settings,
    ) -> None:
        self.corpus = corpus
        if settings.walk.engine == "gds" and not client.has_gds:
            raise ServerTooPoor(
                f"walk.engine is gds, and {client.address.uri} has no Graph Data Science.",
                "Set walk.engine to auto or local, or install the GDS plugin and allow its procedures (gds.*).",
            )
        self._client = client
        self._embed_query = embed_query
        self._settings = settings.retrieve
        self._names = settings.names
        self._walk = settings.walk
        self._scorer = Scorer(settings.scorer)
        self._gds = GdsWalk(client, corpus, settings.walk)
        self._bm25 = Bm25(client, corpus)
        self._admission = Admission(client, corpus)
        self._hits = HitReader(client, corpus)
        self._rehearsed = False

    def find(
        self,
        question: str,
        leg: Leg = Leg.WHOLE,
        vector: Sequence[float] | None = None,
        admitted: Admitted | None = None,
    ) -> Found:
        """Rank chunks for a question that was checked; ``vector`` replaces the embedding of its text.

        The ranking holds at most ``candidates`` chunks of each leg that takes part, and with ``admitted`` these only:
        others are not walked through either.
        """
        limit = self._settings.candidates
        if leg is Leg.BM25:
            return _alone(*self._bm25.rank(question, limit, admitted))
        if leg is Leg.FULLTEXT:
            return _alone(*self._by_words(question, admitted))
        if leg is Leg.VECTOR:
            return _alone(*self._by_vector(self._embed_query(question) if vector is None else vector, admitted))
        if vector is None:
            vector = self._embed_while_planning(question)
        if leg is Leg.HYBRID:
            start = self._begin(question, vector, admitted, seeds=0)
            parts = ((start.vector, 1.0), (start.fulltext, 1.0))
            return Found(start.hybrid, start.generation, parts, HYBRID_K, _NO_SEEDS, ())
        # Of a question without names the scorer asks nothing of the graph.
        unnamed = leg in (Leg.HOPS, Leg.GRAPH)
        start = self._begin(question, vector, admitted, self._walk.chunk_seeds, unnamed=unnamed)
        return self._follow(question, start, leg, admitted)

    def explore(self, question: str) -> Start:
        """Return what the first stage finds for a question: candidates, names and what is around them."""
        return self._begin(question, self._embed_query(question), None, self._walk.chunk_seeds, unnamed=False)

    def admit(self, filter_: Filter) -> Admitted:
        """Return the chunks of the visible generation that a filter admits, for :meth:`find`."""
        return self._admission.admit(filter_)

    def prepare(self) -> None:
        """Do what the first question would wait for: the projection of the present generation, if GDS will walk it."""
        row = self._client.read("corpus_size", corpus=self.corpus.id)[0]
        if self._engine(Leg.GRAPH, row["chunks"] + row["entities"]) == "gds":
            self._gds.prepare(row["generation"], row["chunks"])

    def _embed_while_planning(self, question: str) -> Sequence[float]:
        """Encode a question; at the first, have the server plan the first stage meanwhile.

        A server that has just started takes seconds for that, and so does a model that hasn't left its ONNX yet.
        """
        if self._rehearsed:
            return self._embed_query(question)
        self._rehearsed = True
        thread = threading.Thread(target=self._rehearse, name="hoprank-rehearsal", daemon=True)
        thread.start()
        vector = self._embed_query(question)
        # Not after an error: who interrupts the loading of a model doesn't wait for a plan.
        thread.join()
        return vector

    def _rehearse(self) -> None:
        # What is wrong with the server or the corpus will be said of the question itself.
        with suppress(Exception):
            self._begin("A question with Names", [1.0] * self.corpus.dimension, None, self._walk.chunk_seeds)

    def _by_words(self, question: str, admitted: Admitted | None) -> tuple[int, Ranked]:
        here = (self._client, self.corpus)
        if admitted is None:
            return by_words(*here, question, self._settings.candidates)
        return admitted.generation, words_within(*here, admitted, question, self._settings.candidates)

    def _by_vector(self, vector: Sequence[float], admitted: Admitted | None) -> tuple[int, Ranked]:
        here = (self._client, self.corpus)
        if admitted is None:
            return by_vector(*here, vector, self._settings.candidates)
        return admitted.generation, vector_within(*here, admitted, vector, self._settings.candidates)

    def _begin(
        self, question: str, vector: Sequence[float], admitted: Admitted | None, seeds: int, *, unnamed: bool = True
    ) -> Start:
        here = (self._client, self.corpus)
        settings = StartSettings(self._settings.candidates, seeds, self._settings.hop_hub, unnamed)
        if admitted is None:
            return begin(*here, question, vector, settings)
        return begin_within(*here, admitted, question, vector, settings)

    def _follow(self, question: str, start: Start, leg: Leg, admitted: Admitted | None) -> Found:
        """Follow the graph from what the first stage found; GDS can't walk among admitted chunks alone."""
        names = with_confidence(start.names, start.vector, start.hybrid, start.around, self._names)
        start = replace(start, names=names)
        seeds = weigh_seeds(start.hybrid, names, start.chunks, self._walk)
        limit = self._settings.candidates
        if leg is Leg.HOPS:
            return self._single(rank_by_hops(start.around, seeds, limit), start, seeds, "")
        within = admitted is not None or not (names or leg is Leg.GRAPH)
        engine = "local" if within else self._engine(leg, start.nodes)
        if engine == "gds":
            walk = self._gds.rank(seeds, start.generation, start.chunks, limit)
        else:
            walk = rank_by_walk(start.around, seeds, self._walk, limit)
        if leg is Leg.GRAPH:
            return self._single(walk, start, seeds, engine)
        hits = self._hits.read(candidates(start.hybrid, walk, self._settings.scored), start.generation)
        passages = {id_: passage_of(hit) for id_, hit in hits.items()}
        examined = examine(question, passages, (start.vector, start.fulltext, walk), names, start.around)
        scored = self._scorer.rank(examined)
        if leg is Leg.SCORER:
            return self._single(scored, start, seeds, engine)
        fused = ((start.hybrid, 1.0), (scored, self._settings.fuse_scorer))
        legs = ((start.vector, 0.0), (start.fulltext, 0.0), (walk, 0.0), *fused)
        whole = fuse(Leg.WHOLE, fused, self._settings.fuse_k)
        return Found(
            whole,
            start.generation,
            legs,
            self._settings.fuse_k,
            seeds,
            names,
            engine,
            examined,
            self._scorer.contributions(examined),
            hits,
        )

    def _single(self, ranking: Ranked, start: Start, seeds: Seeds, engine: str) -> Found:
        parts = ((ranking, 1.0),)
        return Found(ranking, start.generation, parts, HYBRID_K, seeds, start.names, engine)

    def _engine(self, leg: Leg, nodes: int) -> str:
        """Choose what walks: "auto" takes GDS for the graph leg where its projection is small enough.

        The whole has its neighbourhood at hand in any case, and a walk of GDS beside it would take as long again.
        """
        if self._walk.engine != "auto":
            return self._walk.engine
        return "gds" if leg is Leg.GRAPH and self._client.has_gds and nodes <= self._walk.gds_up_to else "local"


def passage_of(hit: Hit) -> Passage:
    """Return what the scorer reads of a hit."""
    return Passage(hit.text, hit.title, hit.heading, hit.document)


def _alone(generation: int, ranking: Ranked) -> Found:
    return Found(ranking, generation, ((ranking, 1.0),), HYBRID_K, _NO_SEEDS, ())
