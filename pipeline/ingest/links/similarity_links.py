"""The cosine links of an update: all of a new corpus's, or those that follow from what changed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pipeline.db.catalogue import Corpus
from pipeline.db.client import Client, batches
from pipeline.ingest.links.incremental import NearUpdate
from pipeline.ingest.links.neighbours import Indexed, Matrix, Order, Space
from pipeline.ingest.links.similar import similar
from pipeline.ingest.links.vector_file import VectorFile
from pipeline.ingest.update.diff import Piece, Settled
from pipeline.ingest.update.load import Loader
from pipeline.ingest.update.spool import Spool
from pipeline.records import Edge, EdgeKind, Vector
from pipeline.settings import LinkSettings

_AT_ONCE = 10_000

Done = Callable[[int], None]


class Relate:
    """Brings the cosine links of a corpus to what a fresh ingest would make."""

    def __init__(self, client: Client, corpus: Corpus, loader: Loader, settings: LinkSettings) -> None:
        self._client = client
        self._corpus = corpus
        self._loader = loader
        self._settings = settings

    def run(self, new: Spool[Piece], settled: Settled, chunks: int, done: Done) -> None:
        """Stage the links that are missing and retire those that are too many; the corpus will have ``chunks``."""
        if self._settings.similar_top_k == 0 or not (settled.placed or settled.unplaced):
            return
        if not self._corpus.generation:
            self._all(new, done)
            return
        top_k, hub_cap = self._settings.similar_top_k, self._settings.similar_hub_cap
        space = self._space(new, settled, chunks)
        update = NearUpdate(self._client, self._corpus.generation, space, top_k, hub_cap)
        missing, surplus = update.changes(settled.placed, settled.unplaced)
        self._loader.retire_edges(surplus)
        self._loader.stage_edges(missing, done)

    def _all(self, new: Spool[Piece], done: Done) -> None:
        ids: list[str] = []
        orders: list[Order] = []
        with VectorFile(self._corpus.dimension) as written, VectorFile(self._corpus.dimension) as vectors:
            for pieces in new.batches():
                ids += [linked.chunk.id for linked, _ in pieces]
                orders += [(linked.chunk.document_key, linked.chunk.ordinal) for linked, _ in pieces]
                written.append([linked.vector for linked, _ in pieces])
            in_order = sorted(range(len(ids)), key=lambda row: orders[row])
            for rows in batches(in_order, _AT_ONCE):
                vectors.append(written[rows])
            near = similar(
                vectors,
                top_k=self._settings.similar_top_k,
                threshold=self._settings.similar_threshold,
                hub_cap=self._settings.similar_hub_cap,
                exact_up_to=self._settings.exact_up_to,
            )
            for part in batches(near, _AT_ONCE):
                self._loader.stage_edges(
                    (
                        Edge(
                            EdgeKind.SIMILAR if one.linked else EdgeKind.CAPPED,
                            ids[in_order[one.source]],
                            ids[in_order[one.target]],
                            {"score": one.score, "mutual": one.mutual},
                        )
                        for one in part
                    ),
                    done,
                )

    def _space(self, new: Spool[Piece], settled: Settled, chunks: int) -> Space:
        top_k, threshold = self._settings.similar_top_k, self._settings.similar_threshold
        if chunks > self._settings.exact_up_to:
            return Indexed(self._client, self._corpus, top_k, threshold)
        ids: list[str] = []
        orders: list[Order] = []
        vectors: list[Vector] = []
        rows = self._client.stream("visible_vectors", label=self._corpus.label, generation=self._corpus.generation)
        for row in rows:
            if row["id"] not in settled.unplaced:
                ids.append(row["id"])
                orders.append((row["document"], row["ordinal"]))
                vectors.append(np.asarray(row["vector"].to_numpy(), dtype=np.float32))
        for linked, _ in new:
            if linked.chunk.id in settled.placed:
                ids.append(linked.chunk.id)
                orders.append((linked.chunk.document_key, linked.chunk.ordinal))
                vectors.append(linked.vector)
        stacked = np.stack(vectors) if vectors else np.empty((0, self._corpus.dimension), dtype=np.float32)
        return Matrix(ids, orders, stacked, top_k, threshold)
