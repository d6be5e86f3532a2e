"""One new generation of a corpus: stage what changed, relink the whole, flip, sweep."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

from pipeline.errors import InputError
from pipeline.graph.client import Client
from pipeline.graph.corpora import Corpus
from pipeline.ids import document_id
from pipeline.ingest.edges import LinkedChunk, desired
from pipeline.ingest.load import Loader, Moved, StoredChunk, read_chunks
from pipeline.ingest.prepare import Prepared
from pipeline.progress import Progress
from pipeline.records import Edge, EdgeKind
from pipeline.settings import LinkSettings

_WAITING = 2
"""Batches that may wait to be written while the next is embedded; more would only fill the memory."""


@dataclass(frozen=True, slots=True)
class Change:
    """What an update changes: documents by batches, and the keys of those that go.

    ``titles`` are those of the documents that are visible before it, by key.
    """

    batches: Iterable[Sequence[Prepared]]
    titles: Mapping[str, str]
    removed: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a corpus holds after an update."""

    generation: int
    documents: int
    chunks: int
    entities: int
    edges: Mapping[str, int] = field(default_factory=dict)


def update(
    client: Client, corpus: Corpus, writer: str, change: Change, settings: LinkSettings, progress: Progress
) -> Outcome:
    """Write the next generation of ``corpus``, which the caller holds as ``writer``; it is visible when this returns.

    If the input turns out to be wrong, all is taken back; if the server goes away, the next update completes it.
    """
    loader = Loader(client, corpus, writer)
    loader.begin()
    try:
        prepared = _stage(loader, change.batches, progress)
        stays, goes, moved = _settle(client, corpus, prepared, change.removed)
        titles = {key: title for key, title in change.titles.items() if key not in change.removed}
        titles |= {one.document.key: one.document.title for one in prepared}
        with progress.stage("link"):
            edges, entities = desired(corpus.id, stays, titles, settings)
        with progress.stage("load edges", len(edges)) as done:
            loader.stage_edges(edges, entities, done)
    except InputError:
        loader.abandon()
        raise
    outcome = Outcome(corpus.generation + 1, len(titles), len(stays), len(entities), _count(edges))
    with progress.stage("publish"):
        removed = [document_id(corpus.id, key) for key in change.removed]
        loader.retire(goes, [*removed, *_left_over(client, corpus, prepared)])
        # A run that died may have staged documents as they were then.
        changed = [one for one in prepared if one.document.key in change.titles or corpus.staging is not None]
        counts = {"documents": outcome.documents, "chunks": outcome.chunks, "entities": outcome.entities}
        loader.sweep(loader.flip(changed, moved, counts))
    return outcome


def _stage(loader: Loader, batches: Iterable[Sequence[Prepared]], progress: Progress) -> list[Prepared]:
    """Write each batch in the background while the next is prepared; return all of them."""
    prepared: list[Prepared] = []
    waiting: list[Future[None]] = []
    with ThreadPoolExecutor(1, "load") as pool:
        for batch in batches:
            waiting.append(pool.submit(loader.stage_documents, batch))
            prepared += batch
            while len(waiting) > _WAITING:
                waiting.pop(0).result()
        with progress.stage("load chunks"):
            for future in waiting:
                future.result()
    return prepared


def _settle(
    client: Client, corpus: Corpus, prepared: Sequence[Prepared], removed: frozenset[str]
) -> tuple[list[LinkedChunk], list[str], list[Moved]]:
    """Return the chunks that the corpus will have, the ids of stored ones that go, and stored ones that move."""
    new = {
        piece.chunk.id: (piece, embedded)
        for one in prepared
        for piece, embedded in zip(one.pieces, one.embedded, strict=True)
    }
    replaced = {one.document.key for one in prepared} | removed
    stays = [piece for piece, _ in new.values()]
    goes = []
    moved = []
    for stored in _stored(client, corpus):
        chunk = stored.linked.chunk
        if chunk.id in new:
            piece, embedded = new[chunk.id]
            if (chunk, stored.linked.links, stored.embedded) != (piece.chunk, piece.links, embedded):
                moved.append(Moved(piece, embedded, stored.embedded != embedded))
        elif stored.visible(corpus.generation) and chunk.document_key not in replaced:
            stays.append(stored.linked)
        else:
            goes.append(chunk.id)
    return stays, goes, moved


def _stored(client: Client, corpus: Corpus) -> Iterator[StoredChunk]:
    fresh = corpus.generation == 0 and corpus.staging is None
    return iter(()) if fresh else read_chunks(client, corpus)


def _left_over(client: Client, corpus: Corpus, prepared: Sequence[Prepared]) -> list[str]:
    """Return the documents that a run which died had staged and this one was not given."""
    if corpus.staging is None:
        return []
    given = {one.id for one in prepared}
    rows = client.read("staged_documents", corpus=corpus.id, generation=corpus.generation)
    return [row["id"] for row in rows if row["id"] not in given]


def _count(edges: Iterable[Edge]) -> dict[str, int]:
    counts = Counter(edge.kind.value for edge in edges)
    return {kind.value: counts[kind.value] for kind in EdgeKind}
