"""The retriever of one corpus: candidates and names, walk and hops, fusion; any leg by itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from neo4j import Record
from neo4j.exceptions import ClientError

from pipeline.graph.client import Client
from pipeline.graph.corpora import Corpus
from pipeline.retrieve.bm25 import Bm25
from pipeline.retrieve.fuse import Ranked, fuse, ranked
from pipeline.retrieve.legs import Leg
from pipeline.retrieve.projection import ensure_projection, is_missing, projection_name
from pipeline.retrieve.seeds import Evidence, NamedEntity, Seeds, plant, weigh
from pipeline.retrieve.start import HYBRID_K, Start, begin, by_vector, by_words
from pipeline.settings import EvidenceSettings, Settings

_NO_SEEDS = Seeds({}, {}, Evidence.WEAK)


@dataclass(frozen=True, slots=True)
class Found:
    """A ranking of chunks, and what went into it.

    ``parts`` are the rankings that were fused, each with its weight, and ``k`` the constant of the fusion.
    """

    ranking: Ranked
    generation: int
    parts: tuple[tuple[Ranked, float], ...]
    k: float
    seeds: Seeds
    names: tuple[NamedEntity, ...]


class Retriever:
    """Ranks the chunks of one corpus for questions. Thread-safe."""

    def __init__(
        self,
        client: Client,
        corpus: Corpus,
        embed_query: Callable[[str], Sequence[float]],
        settings: Settings,
    ) -> None:
        self.corpus = corpus
        self._client = client
        self._embed_query = embed_query
        self._settings = settings.retrieve
        self._evidence = settings.evidence
        self._walk_settings = settings.walk
        self._bm25 = Bm25(client, corpus)

    def find(self, question: str, leg: Leg = Leg.WHOLE, vector: Sequence[float] | None = None) -> Found:
        """Rank chunks for a question that was checked; ``vector`` replaces the embedding of its text.

        The ranking holds at most ``candidates`` chunks of each leg that takes part.
        """

        def embed() -> Sequence[float]:
            return self._embed_query(question) if vector is None else vector

        limit = self._settings.candidates
        if leg is Leg.BM25:
            return _alone(*self._bm25.rank(question, limit))
        if leg is Leg.FULLTEXT:
            return _alone(*by_words(self._client, self.corpus, question, limit))
        if leg is Leg.VECTOR:
            return _alone(*by_vector(self._client, self.corpus, embed(), limit))
        start = begin(self._client, self.corpus, question, embed(), limit)
        if leg is Leg.HYBRID:
            parts = ((start.vector, 1.0), (start.fulltext, 1.0))
            return Found(start.hybrid, start.generation, parts, HYBRID_K, _NO_SEEDS, ())
        return self._follow(start, leg)

    def prepare(self) -> None:
        """Do what the first question would wait for: the projection of the present generation."""
        row = self._client.read("corpus_size", corpus=self.corpus.id)[0]
        ensure_projection(self._client, self.corpus, row["generation"], row["chunks"], self._walk_settings)

    def _follow(self, start: Start, leg: Leg) -> Found:
        """Follow the graph from what the first stage found; both legs at the same time where both are wanted."""
        evidence = weigh(start.names, start.chunks, self._evidence)
        seeds = plant(start.hybrid, start.names, start.chunks, evidence, self._walk_settings)
        if leg is Leg.GRAPH:
            graph = self._walk(start, seeds)
            return Found(graph, start.generation, ((graph, 1.0),), HYBRID_K, seeds, start.names)
        beside = self._client.read_beside("hops", **self._hop_parameters(start, seeds))
        graph = self._walk(start, seeds) if leg is Leg.WHOLE else Ranked(Leg.GRAPH, {})
        hops = _ranking(Leg.HOPS, beside.result())
        if leg is Leg.HOPS:
            return Found(hops, start.generation, ((hops, 1.0),), HYBRID_K, seeds, start.names)
        return self._whole(start, seeds, graph, hops)

    def _whole(self, start: Start, seeds: Seeds, graph: Ranked, hops: Ranked) -> Found:
        graph_weight, hops_weight = _weights(self._evidence, seeds.evidence)
        parts = ((start.hybrid, 1.0), (graph, graph_weight), (hops, hops_weight))
        k = self._settings.fuse_k
        whole = fuse(Leg.WHOLE, [(ranking, weight) for ranking, weight in parts if weight], k)
        legs = ((start.vector, 0.0), (start.fulltext, 0.0), *parts)
        return Found(whole, start.generation, legs, k, seeds, start.names)

    def _walk(self, start: Start, seeds: Seeds) -> Ranked:
        params = {
            "graph": projection_name(self.corpus, start.generation),
            "chunk_seeds": _rows(seeds.chunks),
            "entity_seeds": _rows(seeds.entities),
            "damping": self._walk_settings.damping,
            "iterations": self._walk_settings.iterations,
            "tolerance": self._walk_settings.tolerance,
            "limit": self._settings.candidates,
        }
        try:
            return _ranking(Leg.GRAPH, self._client.read("walk", **params))
        except ClientError as error:
            if not is_missing(error):
                raise
        ensure_projection(self._client, self.corpus, start.generation, start.chunks, self._walk_settings)
        return _ranking(Leg.GRAPH, self._client.read("walk", **params))

    def _hop_parameters(self, start: Start, seeds: Seeds) -> dict[str, Any]:
        first = dict(list(seeds.chunks.items())[: self._settings.hop_seeds])
        return {
            "generation": start.generation,
            "chunks": start.chunks,
            "chunk_seeds": _rows(first),
            "entity_seeds": _rows(seeds.entities),
            "limit": self._settings.candidates,
            "hub": self._settings.hop_hub,
        }


def _weights(settings: EvidenceSettings, evidence: Evidence) -> tuple[float, float]:
    """Return what the walk's and the hops' rankings weigh in the fusion."""
    return {
        Evidence.TITLED: (settings.graph_titled, settings.hops_titled),
        Evidence.RARE: (settings.graph_rare, settings.hops_rare),
        Evidence.WEAK: (settings.graph_weak, settings.hops_weak),
    }[evidence]


def _alone(generation: int, ranking: Ranked) -> Found:
    return Found(ranking, generation, ((ranking, 1.0),), HYBRID_K, _NO_SEEDS, ())


def _ranking(leg: Leg, rows: Sequence[Record]) -> Ranked:
    return ranked(leg, dict(zip(rows[0]["ids"], rows[0]["scores"], strict=True)) if rows else {})


def _rows(weights: Mapping[str, float]) -> list[dict[str, Any]]:
    return [{"id": id_, "weight": weight} for id_, weight in weights.items()]
