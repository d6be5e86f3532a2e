"""Similarity links of an update: all links of a new corpus, or the links around changed vectors."""

import numpy as np

from pipeline.db.client import batches
from pipeline.edges import EdgeKind
from pipeline.ingest.embed import Done, PreparedChunk
from pipeline.ingest.links.incremental import IncrementalNeighbours
from pipeline.ingest.links.neighbours import ApproximateSearch, ExactSearch, NeighbourSearch
from pipeline.ingest.links.similar import similar_pairs
from pipeline.ingest.links.vector_file import VectorFile
from pipeline.ingest.update.diff import ChunkDiff, Position
from pipeline.ingest.update.spool import Spool
from pipeline.ingest.update.write_session import WriteSession
from pipeline.records import Edge, Vector
from pipeline.settings import LinkSettings

_BATCH = 10_000


def link_similar(
    session: WriteSession, new: Spool[PreparedChunk], diff: ChunkDiff, settings: LinkSettings, done: Done
) -> None:
    """Update the similarity links of a corpus to those of a fresh ingest.

    Stages missing links, and retires outdated ones.
    """
    if settings.similar_top_k == 0 or not (diff.vectors_added or diff.vectors_removed):
        return
    if not session.corpus.generation:
        _link_all(session, new, settings, done)
        return
    search = _neighbour_search(session, new, diff, settings)
    neighbours = IncrementalNeighbours(session.corpus, search, settings.similar_top_k, settings.similar_hub_cap)
    missing, surplus = neighbours.changes(diff.vectors_added, diff.vectors_removed)
    session.retire_edges(surplus)
    session.stage_edges(missing, done)


def _link_all(session: WriteSession, new: Spool[PreparedChunk], settings: LinkSettings, done: Done) -> None:
    ids: list[str] = []
    positions: list[Position] = []
    dimension = session.corpus.record.dimension
    with VectorFile(dimension) as written, VectorFile(dimension) as vectors:
        for chunks in new.batches():
            ids += [chunk.chunk.id for chunk in chunks]
            positions += [_position(chunk) for chunk in chunks]
            written.append([chunk.vector for chunk in chunks])
        in_order = sorted(range(len(ids)), key=lambda row: positions[row])
        for rows in batches(in_order, _BATCH):
            vectors.append(written[rows])
        pairs = similar_pairs(
            vectors,
            top_k=settings.similar_top_k,
            threshold=settings.similar_threshold,
            degree_limit=settings.similar_hub_cap,
            exact_up_to=settings.exact_up_to,
        )
        for part in batches(pairs, _BATCH):
            edges = (
                Edge(
                    EdgeKind.SIMILAR if pair.linked else EdgeKind.CAPPED,
                    ids[in_order[pair.source]],
                    ids[in_order[pair.target]],
                    {"score": pair.score, "mutual": pair.mutual},
                )
                for pair in part
            )
            session.stage_edges(edges, done)


def _neighbour_search(
    session: WriteSession, new: Spool[PreparedChunk], diff: ChunkDiff, settings: LinkSettings
) -> NeighbourSearch:
    corpus, top_k, threshold = session.corpus, settings.similar_top_k, settings.similar_threshold
    if diff.chunks_after(corpus.record.chunks, new.count) > settings.exact_up_to:
        return ApproximateSearch(corpus, top_k, threshold)
    ids: list[str] = []
    positions: list[Position] = []
    vectors: list[Vector] = []
    for row in corpus.stream("visible_vectors"):
        if row["id"] not in diff.vectors_removed:
            ids.append(row["id"])
            positions.append((row["document"], row["ordinal"]))
            vectors.append(np.asarray(row["vector"].to_numpy(), dtype=np.float32))
    for chunk in new:
        if chunk.chunk.id in diff.vectors_added:
            ids.append(chunk.chunk.id)
            positions.append(_position(chunk))
            vectors.append(chunk.vector)
    stacked = np.stack(vectors) if vectors else np.empty((0, corpus.record.dimension), dtype=np.float32)
    return ExactSearch(ids, positions, stacked, top_k, threshold)


def _position(chunk: PreparedChunk) -> Position:
    return chunk.chunk.document_key, chunk.chunk.ordinal
