"""One new generation of a corpus: stage what changed, relink what it affects, flip, sweep."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pipeline.db.catalogue import Corpus
from pipeline.db.client import Client
from pipeline.errors import InputError
from pipeline.ids import document_id
from pipeline.ingest.embed import Prepared
from pipeline.ingest.links.entity_links import Relink, Titles
from pipeline.ingest.links.similarity_links import Relate
from pipeline.ingest.update.background_writer import Behind
from pipeline.ingest.update.diff import Piece, Settled, settle
from pipeline.ingest.update.load import Loader
from pipeline.ingest.update.spool import Spool
from pipeline.ingest.update.stored import StoredChunk
from pipeline.progress import Progress
from pipeline.records import EdgeKind
from pipeline.settings import LinkSettings


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


@dataclass(slots=True)
class _Staged:
    """What was staged of documents: titles by key, ids, and the rows of those that replace others."""

    titles: dict[str, str] = field(default_factory=dict)
    ids: set[str] = field(default_factory=set)
    changed: list[dict[str, Any]] = field(default_factory=list)


def update(
    client: Client, corpus: Corpus, writer: str, change: Change, settings: LinkSettings, progress: Progress
) -> Outcome:
    """Write the next generation of ``corpus``, which the caller holds as ``writer``; it is visible when this returns.

    If the input turns out to be wrong, all is taken back; if the server goes away, the next update completes it.
    """
    loader = Loader(client, corpus, writer)
    loader.begin()
    with Spool[Piece]() as new, Spool[StoredChunk]() as old:
        try:
            staged = _stage(loader, corpus, change, new, progress)
            replaced = (staged.titles.keys() & change.titles.keys()) | change.removed
            settled = settle(client, corpus, new, replaced, staged.ids, old)
            stay = {key: title for key, title in change.titles.items() if key not in change.removed}
            titles = Titles(change.titles, stay | staged.titles, replaced)
            relink = Relink(client, corpus, loader, titles, settings)
            chunks = corpus.chunks + new.count - len(settled.kept) - len(settled.vanished)
            with progress.stage("link") as done:
                relink.run(new, settled, done)
                Relate(client, corpus, loader, settings).run(new, settled, chunks, done)
        except InputError:
            loader.abandon()
            raise
    edges = {kind.value: corpus.edges[kind.value] + loader.edges[kind] for kind in EdgeKind}
    outcome = Outcome(corpus.generation + 1, len(titles.after), chunks, relink.entities, edges)
    with progress.stage("publish"):
        _publish(loader, corpus, change, staged, settled, relink.spellings, outcome)
    return outcome


def _stage(loader: Loader, corpus: Corpus, change: Change, new: Spool[Piece], progress: Progress) -> _Staged:
    """Write each batch in the background while the next is prepared."""
    staged = _Staged()
    with Behind() as behind:
        for batch in change.batches:
            behind.do(loader.stage_documents, batch)
            new.append(
                [Piece(*one) for document in batch for one in zip(document.pieces, document.embedded, strict=True)]
            )
            for one in batch:
                staged.titles[one.document.key] = one.document.title
                staged.ids.add(one.id)
                # A run that died may have staged documents as they were then.
                if one.document.key in change.titles or corpus.staging is not None:
                    staged.changed.append(loader.document_row(one))
        with progress.stage("load chunks"):
            behind.wait()
    return staged


def _publish(
    loader: Loader,
    corpus: Corpus,
    change: Change,
    staged: _Staged,
    settled: Settled,
    spellings: Mapping[str, str],
    outcome: Outcome,
) -> None:
    removed = [document_id(corpus.id, key) for key in change.removed]
    loader.retire(settled.goes, [*removed, *settled.abandoned])
    counts = {"documents": outcome.documents, "chunks": outcome.chunks, "entities": outcome.entities}
    by_kind = {f"edges.{kind}": count for kind, count in outcome.edges.items()}
    loader.sweep(loader.flip(staged.changed, settled.moved, spellings, {**counts, **by_kind}))
