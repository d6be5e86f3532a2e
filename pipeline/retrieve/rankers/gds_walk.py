"""The walk by GDS: personalised PageRank in the server over the projection of a whole corpus."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from neo4j.exceptions import ClientError

from pipeline.db.catalogue import Corpus
from pipeline.db.corpus import CorpusHandle
from pipeline.db.projections import Projection, drop_projection, ensure_projection, is_missing, run_on_projection
from pipeline.embedding.everyday import BUNDLED, Scale
from pipeline.errors import Superseded
from pipeline.ids import digest
from pipeline.retrieve.fusion import Ranked, ranked
from pipeline.retrieve.legs import Leg
from pipeline.retrieve.seeds import Seeds
from pipeline.settings import WalkSettings


class GdsWalk:
    """Walks one corpus. Thread-safe."""

    def __init__(self, corpus: CorpusHandle, settings: WalkSettings, scale: Scale = BUNDLED) -> None:
        self._client = corpus.client
        self._corpus = corpus
        self._settings = settings
        self._scale = scale

    def prepare(self, generation: int, chunks: int) -> None:
        """Project a generation of so many chunks, unless it is projected."""
        budget = self._settings.projection_megabytes
        ensure_projection(self._client, self._projection(generation), budget, self._project(generation, chunks))

    def rank(self, seeds: Seeds, generation: int, chunks: int, limit: int) -> Ranked:
        """Rank the ``limit`` best chunks by the PageRank of a walk that restarts at ``seeds``.

        A generation that isn't projected yet is projected first.
        """
        project, run = self._project(generation, chunks), partial(self._rank_on, seeds=seeds, limit=limit)
        budget = self._settings.projection_megabytes
        return run_on_projection(self._client, self._projection(generation), budget, project, run)

    def rank_if_projected(self, seeds: Seeds, generation: int, chunks: int, limit: int) -> Ranked | None:
        """Rank as :meth:`rank`, or return None and project the generation in the background."""
        name = self._projection(generation).name
        try:
            return self._rank_on(name, seeds, limit)
        except ClientError as error:
            if not is_missing(error):
                raise
        self._client.in_background(name, lambda: self.prepare(generation, chunks))
        return None

    def _rank_on(self, name: str, seeds: Seeds, limit: int) -> Ranked:
        rows = self._client.read(
            "walk",
            graph=name,
            chunk_seeds=_rows(seeds.chunks),
            entity_seeds=_rows(seeds.entities),
            damping=self._settings.damping,
            iterations=self._settings.iterations,
            tolerance=self._settings.gds_tolerance,
            limit=limit,
        )
        return ranked(Leg.GRAPH, dict(zip(rows[0]["ids"], rows[0]["scores"], strict=True)) if rows else {})

    def _projection(self, generation: int) -> Projection:
        return walk_projection(self._corpus.record, generation, self._settings, self._scale)

    def _project(self, generation: int, chunks: int) -> Callable[[str], object]:
        corpus = self._corpus.at(generation)

        def project(name: str) -> None:
            corpus.read("project", graph=name, chunks=chunks, **_weights(self._settings, self._scale))
            try:
                corpus.check_visible()
            except Superseded:
                # It may lack what was collected meanwhile, and nobody would drop it.
                drop_projection(self._client, name)
                raise

        return project


def walk_projection(corpus: Corpus, generation: int, settings: WalkSettings, scale: Scale = BUNDLED) -> Projection:
    """Return the projection of a generation with the edge weights of these settings."""
    return Projection(corpus.id, "walk", generation, digest(*map(str, _weights(settings, scale).values())))


def _weights(settings: WalkSettings, scale: Scale) -> dict[str, float]:
    return {
        "title": settings.title,
        "link": settings.link,
        "similar": settings.similar * scale.slope,
        "least": settings.similar * scale.offset,
        "next": settings.next,
    }


def _rows(weights: Mapping[str, float]) -> list[dict[str, Any]]:
    return [{"id": id_, "weight": weight} for id_, weight in weights.items()]
