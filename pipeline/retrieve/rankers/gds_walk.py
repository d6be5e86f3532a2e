"""The walk by GDS: personalised PageRank in the server over the projection of a whole corpus."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from neo4j.exceptions import ClientError

from pipeline.db.catalogue import Corpus
from pipeline.db.client import Client
from pipeline.db.projections import ensure_projection, is_missing, projection_name
from pipeline.retrieve.fusion import Ranked, ranked
from pipeline.retrieve.legs import Leg
from pipeline.retrieve.seeds import Seeds
from pipeline.settings import WalkSettings


class GdsWalk:
    """Walks one corpus; projects a generation at first use. Thread-safe."""

    def __init__(self, client: Client, corpus: Corpus, settings: WalkSettings) -> None:
        self._client = client
        self._corpus = corpus
        self._settings = settings

    def prepare(self, generation: int, chunks: int) -> None:
        """Project a generation of so many chunks, unless it is projected."""
        ensure_projection(self._client, self._corpus, generation, chunks, self._settings)

    def rank(self, seeds: Seeds, generation: int, chunks: int, limit: int) -> Ranked:
        """Rank the ``limit`` best chunks by the PageRank of a walk that restarts at ``seeds``."""
        params = {
            "graph": projection_name(self._corpus, generation),
            "chunk_seeds": _rows(seeds.chunks),
            "entity_seeds": _rows(seeds.entities),
            "damping": self._settings.damping,
            "iterations": self._settings.iterations,
            "tolerance": self._settings.tolerance,
            "limit": limit,
        }
        try:
            rows = self._client.read("walk", **params)
        except ClientError as error:
            if not is_missing(error):
                raise
            self.prepare(generation, chunks)
            rows = self._client.read("walk", **params)
        return ranked(Leg.GRAPH, dict(zip(rows[0]["ids"], rows[0]["scores"], strict=True)) if rows else {})


def _rows(weights: Mapping[str, float]) -> list[dict[str, Any]]:
    return [{"id": id_, "weight": weight} for id_, weight in weights.items()]
