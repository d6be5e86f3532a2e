"""The retriever of one corpus: seeds, walk and hops, fusion; any leg by itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from neo4j.exceptions import ClientError

from pipeline.graph.client import Client
from pipeline.graph.corpora import Corpus
from pipeline.ids import entity_id
from pipeline.retrieve.bm25 import Bm25
from pipeline.retrieve.fuse import Ranked, fuse, ranked
from pipeline.retrieve.legs import Leg
from pipeline.retrieve.projection import ensure_projection, is_missing, projection_name
from pipeline.retrieve.question import fulltext_terms, longest_names, possible_names
from pipeline.retrieve.seeds import NamedEntity, Seeds, plant
from pipeline.settings import RetrieveSettings, WalkSettings

HYBRID_K = 60
"""k of the hybrid leg's fusion: a fixed yardstick, never tuned."""

_NO_SEEDS = Seeds({}, {}, False)


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


@dataclass(frozen=True, slots=True)
class _Start:
    """What the first round trip brings."""

    generation: int
    chunks: int
    vector: Ranked
    fulltext: Ranked
    hybrid: Ranked
    names: tuple[NamedEntity, ...]


class Retriever:
    """Ranks the chunks of one corpus for questions. Thread-safe."""

    def __init__(
        self,
        client: Client,
        corpus: Corpus,
        embed_query: Callable[[str], Sequence[float]],
        settings: RetrieveSettings,
        walk: WalkSettings,
    ) -> None:
        self.corpus = corpus
        self._client = client
        self._embed_query = embed_query
        self._settings = settings
        self._walk = walk
        self._bm25 = Bm25(client, corpus)

    def find(self, question: str, leg: Leg = Leg.WHOLE, vector: Sequence[float] | None = None) -> Found:
        """Rank chunks for a question that was checked; ``vector`` replaces the embedding of its text.

        The ranking holds at most ``candidates`` chunks of each leg that takes part.
        """
        if leg is Leg.BM25:
            generation, ranking = self._bm25.rank(question, self._settings.candidates)
            return self._single(generation, ranking)
        if leg is Leg.FULLTEXT:
            return self._single(*self._fulltext(question))
        embedded = vector if vector is not None else self._embed_query(question)
        if leg is Leg.VECTOR:
            return self._single(*self._vector(embedded))
        start = self._start(question, embedded)
        if leg is Leg.HYBRID:
            parts = ((start.vector, 1.0), (start.fulltext, 1.0))
            return Found(start.hybrid, start.generation, parts, HYBRID_K, _NO_SEEDS, ())
        return self._expand(start, leg)

    def prepare(self) -> None:
        """Do what the first question would wait for: the projection of the present generation."""
        row = self._client.read("corpus_size", corpus=self.corpus.id)[0]
        ensure_projection(self._client, self.corpus, row["generation"], row["chunks"], self._walk)

    def _single(self, generation: int, ranking: Ranked) -> Found:
        return Found(ranking, generation, ((ranking, 1.0),), HYBRID_K, _NO_SEEDS, ())

    def _vector(self, vector: Sequence[float]) -> tuple[int, Ranked]:
        rows = self._client.read(
            "vector_candidates",
            {"embedding": self.corpus.embedding},
            corpus=self.corpus.id,
            vector=list(vector),
            limit=self._settings.candidates,
        )
        return self._generation(rows), ranked(Leg.VECTOR, _cosines(rows))

    def _fulltext(self, question: str) -> tuple[int, Ranked]:
        terms = fulltext_terms(question)
        if not terms:
            return self.corpus.generation, Ranked(Leg.FULLTEXT, {})
        rows = self._client.read(
            "fulltext_candidates",
            corpus=self.corpus.id,
            index=self.corpus.label,
            text=terms,
            limit=self._settings.candidates,
        )
        return self._generation(rows), ranked(Leg.FULLTEXT, {row["id"]: row["score"] for row in rows})

    def _generation(self, rows: Sequence[Any]) -> int:
        return int(rows[0]["generation"]) if rows else self.corpus.generation

    def _start(self, question: str, vector: Sequence[float]) -> _Start:
        possible = possible_names(question)
        entities = {entity_id(self.corpus.id, name.key): name.key for name in possible}
        rows = self._client.read(
            "candidates",
            {"embedding": self.corpus.embedding},
            corpus=self.corpus.id,
            vector=list(vector),
            index=self.corpus.label,
            text=fulltext_terms(question),
            limit=self._settings.candidates,
            entities=list(entities),
        )
        by_leg: dict[str, list[Any]] = {"vector": [], "fulltext": [], "name": []}
        for row in rows:
            by_leg[row["leg"]].append(row)
        known = {entities[row["id"]]: row for row in by_leg["name"]}
        names = tuple(_named(key, known[key]) for key in longest_names(possible, known))
        by_vector = ranked(Leg.VECTOR, _cosines(by_leg["vector"]))
        by_text = ranked(Leg.FULLTEXT, {row["id"]: row["score"] for row in by_leg["fulltext"]})
        hybrid = fuse(Leg.HYBRID, [(by_vector, 1.0), (by_text, 1.0)], HYBRID_K)
        chunks = int(rows[0]["chunks"]) if rows else 0
        return _Start(self._generation(rows), chunks, by_vector, by_text, hybrid, names)

    def _expand(self, start: _Start, leg: Leg) -> Found:
        seeds = plant(start.hybrid, list(start.names), start.chunks, self._walk)
        found = self._walk_and_hop(start, seeds, leg)
        by_leg: dict[str, dict[str, float]] = {"graph": {}, "hops": {}}
        for row in found:
            by_leg[row["leg"]][row["id"]] = row["score"]
        graph, hops = ranked(Leg.GRAPH, by_leg["graph"]), ranked(Leg.HOPS, by_leg["hops"])
        if leg is not Leg.WHOLE:
            ranking = graph if leg is Leg.GRAPH else hops
            return Found(ranking, start.generation, ((ranking, 1.0),), HYBRID_K, seeds, start.names)
        settings = self._settings
        weight = settings.graph_weight if seeds.named else settings.graph_weight_unnamed
        parts = ((start.hybrid, 1.0), (graph, weight), (hops, settings.hops_weight))
        whole = fuse(Leg.WHOLE, parts, settings.fuse_k)
        legs = ((start.vector, 0.0), (start.fulltext, 0.0), *parts)
        return Found(whole, start.generation, legs, settings.fuse_k, seeds, start.names)

    def _walk_and_hop(self, start: _Start, seeds: Seeds, leg: Leg) -> list[Any]:
        walks, hops = leg is not Leg.HOPS, leg is not Leg.GRAPH
        first = dict(list(seeds.chunks.items())[: self._settings.hop_seeds])
        params = {
            "graph": projection_name(self.corpus, start.generation),
            "generation": start.generation,
            "chunks": start.chunks,
            "walk_chunks": _rows(seeds.chunks) if walks else [],
            "walk_entities": _rows(seeds.entities) if walks else [],
            "chunk_seeds": _rows(first) if hops else [],
            "entity_seeds": _rows(seeds.entities) if hops else [],
            "damping": self._walk.damping,
            "iterations": self._walk.iterations,
            "tolerance": self._walk.tolerance,
            "limit": self._settings.candidates,
            "hub": self._settings.hop_hub,
        }
        try:
            return self._client.read("expand", **params)
        except ClientError as error:
            if not is_missing(error):
                raise
        ensure_projection(self._client, self.corpus, start.generation, start.chunks, self._walk)
        return self._client.read("expand", **params)


def _cosines(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Turn the index's scores, (1 + cosine) / 2, into cosines."""
    return {row["id"]: 2 * row["score"] - 1 for row in rows}


def _named(key: str, row: Mapping[str, Any]) -> NamedEntity:
    frequency = int(row["score"])
    return NamedEntity(row["id"], key, frequency, row["chunk"] if frequency == 1 else None)


def _rows(weights: Mapping[str, float]) -> list[dict[str, Any]]:
    return [{"id": id_, "weight": weight} for id_, weight in weights.items()]
