"""The walk by GDS: personalised PageRank in the server over the projection of a whole corpus."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pipeline.db.catalogue import Corpus
from pipeline.db.corpus import CorpusHandle
from pipeline.db.projections import Projection, ensure_projection, run_on_projection
from pipeline.retrieve.fusion import Ranked, ranked
from pipeline.retrieve.legs import Leg
from pipeline.retrieve.seeds import Seeds
from pipeline.settings import WalkSettings


class GdsWalk:
    """Walks one corpus; projects a generation at first use. Thread-safe."""

    def __init__(self, corpus: CorpusHandle, settings: WalkSettings) -> None:
        self._client = corpus.client
        self._corpus = corpus.record
        self._settings = settings

    def prepare(self, generation: int, chunks: int) -> None:
        """Project a generation of so many chunks, unless it is projected."""
        budget = self._settings.projection_megabytes
        ensure_projection(
            self._client, walk_projection(self._corpus, generation), budget, self._project(generation, chunks)
        )

    def rank(self, seeds: Seeds, generation: int, chunks: int, limit: int) -> Ranked:
        """Rank the ``limit`` best chunks by the PageRank of a walk that restarts at ``seeds``."""
        params = {
            "chunk_seeds": _rows(seeds.chunks),
            "entity_seeds": _rows(seeds.entities),
            "damping": self._settings.damping,
            "iterations": self._settings.iterations,
            "tolerance": self._settings.tolerance,
            "limit": limit,
        }
        rows = run_on_projection(
            self._client,
            walk_projection(self._corpus, generation),
            self._settings.projection_megabytes,
            self._project(generation, chunks),
            lambda name: self._client.read("walk", graph=name, **params),
        )
        return ranked(Leg.GRAPH, dict(zip(rows[0]["ids"], rows[0]["scores"], strict=True)) if rows else {})

    def _project(self, generation: int, chunks: int) -> Callable[[str], object]:
        """Return the function that projects a generation under a name."""
        return lambda name: self._client.read(
            "project",
            graph=name,
            corpus=self._corpus.id,
            label=self._corpus.label,
            generation=generation,
            chunks=chunks,
            title=self._settings.title,
            link=self._settings.link,
            similar=self._settings.similar,
            next=self._settings.next,
        )


def walk_projection(corpus: Corpus, generation: int) -> Projection:
    """Return the projection of a generation."""
    return Projection(corpus.id, "walk", generation)


def _rows(weights: Mapping[str, float]) -> list[dict[str, Any]]:
    return [{"id": id_, "weight": weight} for id_, weight in weights.items()]
