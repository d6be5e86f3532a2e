"""The write session: stages the next generation of a corpus, publishes it, and collects the garbage.

Nodes and edges carry ``since`` and ``until``; generation g sees those with ``since <= g < until``. A run writes with
``since = g + 1``, retires with ``until = g + 1``, and then moves the corpus from g to g + 1. A run that crashes before
this move leaves the corpus at g: the next run reuses the staged chunks and undoes the rest. A run that crashes after it
leaves garbage, which the next run collects.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from pipeline.db.background_writer import BackgroundWriter
from pipeline.db.catalogue import drop_corpus
from pipeline.db.corpus import CorpusHandle
from pipeline.db.filterable import chunk_properties
from pipeline.db.indexes import LIVE, check_runs, ensure_schema, runs_analyzer
from pipeline.db.lease import LeasedWrites, lease
from pipeline.db.slots import CHUNK_FIELDS, take_slot
from pipeline.db.vectors import packed, to_bytes
from pipeline.edges import EDGES, EdgeKind, Target
from pipeline.errors import Busy, InputError, ServerLost
from pipeline.ids import digest, document_id
from pipeline.ingest.embed import PreparedChunk, PreparedDocument, centroid_of
from pipeline.ingest.update.changes import document_hash
from pipeline.ingest.update.stored import ChangedChunk, Spool
from pipeline.progress import Progress
from pipeline.records import Edge, Entity, Vector, as_properties
from pipeline.text.index_words import index_words
from pipeline.text.languages import AUTO, STANDARD, analyzer_for

_NODE_BATCH = 1000  # rows of a query, with texts or vectors; these four are chosen by hand, not measured
_EDGE_BATCH = 10_000  # rows without them
_COUNT_BATCH = 256  # shards, of many counts each
_GARBAGE_BATCH = 10_000  # nodes or edges in a transaction
_CHUNK_PROPERTIES = ("id", "ordinal", "text", "title", "heading", "start", "end", "line_start", "line_end", "tokens")
Row = dict[str, Any]
CountsByKey = Mapping[str, Mapping[str, int]]


@contextmanager
def writing(corpus: CorpusHandle, wait: float = 0.0) -> Iterator[WriteSession]:
    """Lease a corpus for writing, waiting up to ``wait`` seconds; yield the session.

    On wrong input everything staged is undone, and a corpus that was never published is dropped, unless an interrupted
    run has left something to go on from. After an interruption or a fault it is dropped if nothing is staged yet. If
    the server goes away, the next session completes or undoes the work. Raises Busy.
    """
    with lease(corpus, wait) as (leased, writer):
        session = WriteSession(leased, writer)
        try:
            yield session
        except InputError:
            if session.begun:
                session.abandon()
            if leased.generation == 0 and (session.begun or leased.record.staging is None):
                drop_corpus(leased.client, leased.record)
            raise
        except (ServerLost, Busy):
            raise  # nothing can be written now: the server is gone, or another run has the corpus
        except BaseException:
            if leased.generation == 0 and leased.record.staging is None and not session.has_staged:
                drop_corpus(leased.client, leased.record)
            raise


class WriteSession:
    """Writes the next generation of a corpus, which the caller has leased as ``writer``.

    Call ``begin``, then any of the stage and retire methods, then ``publish``, then ``collect_garbage``; ``abandon`` at
    any time before ``publish``. ``edges`` holds, by kind, the staged edges less the retired ones; ``stages_contexts``
    is true once a staged link has a sentence. Every write raises Busy once another writer has taken over the lease.
    """

    def __init__(self, corpus: CorpusHandle, writer: str) -> None:
        self.corpus = corpus
        self.writer = writer
        self.edges: Counter[EdgeKind] = Counter()
        self.stages_contexts = False
        self._writes = LeasedWrites(corpus, writer)
        self.begun = False
        self.has_staged = False
        self._chunk_batches = 0
        self._retired: list[Row] = []
        self._orphans: list[Row] = []

    def choose_analyzer(self, texts: Iterable[str]) -> None:
        """Give a corpus that has no full-text analyser yet the one for the language of its first ``texts``.

        Where the server's Java can't run that, it is the one for any language.
        """
        if self.corpus.record.analyzer == AUTO:
            analyzer = analyzer_for(texts)
            if not runs_analyzer(self.corpus.client, analyzer):
                analyzer = STANDARD
            self._writes.write("set_analyzer", analyzer=analyzer)
            self.corpus = replace(self.corpus, record=replace(self.corpus.record, analyzer=analyzer))

    def begin(self) -> None:
        """Create missing indexes, give the corpus a slot, clean up after a crashed run, and record that this run began.

        Raises ConfigurationError if the server lacks the corpus's analyser.
        """
        corpus = self.corpus.record
        self.begun = True
        ensure_schema(self.corpus.client, corpus.fingerprint, corpus.dimension)
        # Also where it has a slot: since it was given, the server may have got another Java.
        check_runs(self.corpus.client, corpus.analyzer)
        if corpus.slot is None:
            slot = take_slot(self.corpus.client, corpus.id, corpus.analyzer)
            self.corpus = replace(self.corpus, record=replace(corpus, slot=slot))
        if corpus.staging == corpus.generation:
            self._collect_all(corpus.generation)
        elif corpus.staging is not None:
            self._undo()
        self._writes.write("begin_staging")

    def abandon(self) -> None:
        """Undo everything that this session has staged and retired."""
        self._undo()
        self._collect_all(self.corpus.generation)
        self._writes.write("end_staging")

    def stage_documents(self, documents: Iterable[PreparedDocument]) -> None:
        """Write documents that the corpus lacks; :meth:`publish` updates existing ones."""
        self.stage_document_rows(map(self.document_row, documents))

    def stage_document_rows(self, rows: Iterable[Row]) -> None:
        """Write documents, given as node properties."""
        self.has_staged = True
        nodes = ({"id": row["id"], "properties": self._staged(row)} for row in rows)
        self._writes.write_rows("stage_documents", nodes, batch=_NODE_BATCH)

    def stage_chunks(self, chunks: Iterable[PreparedChunk]) -> None:
        """Write chunks with their vectors; existing chunks stay unchanged."""
        rows = (
            {"id": chunk.chunk.id, "properties": self._staged(self._chunk_row(chunk)), "vector": packed(chunk.vector)}
            for chunk in chunks
        )
        self._chunk_batches += 1
        self._writes.write_rows("stage_chunks", rows, batch=_NODE_BATCH, labels=self._labels(), copies=self._copies())

    def stage_centroids(self, centroids: Iterable[tuple[str, Vector]]) -> None:
        """Give staged documents, by id, their centroids."""
        rows = ({"id": id_, "centroid": to_bytes(centroid)} for id_, centroid in centroids)
        self._writes.write_rows("stage_centroids", rows, batch=_NODE_BATCH)

    def stage_entities(self, entities: Iterable[Entity]) -> None:
        """Write entities; one that was staged before gets the new name."""
        rows = ({"id": entity.id, "key": entity.key, "name": entity.name} for entity in entities)
        self._writes.write_rows("stage_entities", rows, batch=_EDGE_BATCH)

    def stage_edges(self, edges: Iterable[Edge], done: Callable[[int], None]) -> None:
        """Write edges between existing nodes."""
        edges = list(edges)
        for query, target in (
            ("stage_edges_to_entities", Target.ENTITY),
            ("stage_edges_to_chunks", Target.CHUNK),
            ("stage_edges_to_documents", Target.DOCUMENT),
        ):
            for rows, count in _edge_batches(edge for edge in edges if EDGES[edge.kind].target is target):
                self._writes.write(query, rows=[self._edge_row(source, group) for source, group in rows.items()])
                done(count)
        self.edges.update(edge.kind for edge in edges)
        self.stages_contexts |= any("context" in edge.evidence for edge in edges)

    def set_link_vectors(self, rows: Iterable[Row]) -> None:
        """Give staged links the vectors of their sentences: rows of {id, hash, vector}."""
        self._writes.write_rows("set_link_vectors", rows, batch=_NODE_BATCH)

    def stage_counts(self, kind: str, shards: Iterable[tuple[int, CountsByKey]]) -> None:
        """Write shards of counts of one kind, and retire the visible shards that they replace."""
        until = self.corpus.generation + 1

        def rows() -> Iterator[Row]:
            for shard, counts in shards:
                stored = json.dumps(counts, ensure_ascii=False, sort_keys=True)
                properties = {"corpus": self.corpus.id, "kind": kind, "shard": shard, "counts": stored}
                id_ = f"{self.corpus.id}/{kind}/{shard}/{until}"
                yield {"id": id_, "shard": shard, "properties": self._staged(properties)}

        self._writes.write_rows("stage_counts", rows(), batch=_COUNT_BATCH, kind=kind, until=until)

    def retire_edges(self, keys: Iterable[tuple[str, str, str]]) -> None:
        """Retire edges, given by kind, source and target: the visible generation is their last."""
        rows = [{"kind": kind, "source": source, "target": target} for kind, source, target in keys]
        self._writes.write_rows("retire_edges", rows, batch=_EDGE_BATCH, until=self.corpus.generation + 1)
        self._retired += rows
        self.edges.subtract(EdgeKind(row["kind"]) for row in rows)

    def retire_entities(self, ids: Iterable[str]) -> None:
        """Record entities that lose their last mention; :meth:`collect_garbage` deletes them."""
        self._orphans += ({"id": id_} for id_ in ids)

    def retire(self, chunks: Iterable[str], documents: Iterable[str]) -> None:
        """Retire chunks and documents, given by id: the visible generation is their last."""
        until = self.corpus.generation + 1
        for query, ids in (("retire_chunks", chunks), ("retire_documents", documents)):
            self._writes.write_rows(query, ({"id": id_} for id_ in ids), batch=_EDGE_BATCH, until=until)

    def publish(
        self,
        documents: Iterable[Row] = (),
        chunks: Iterable[ChangedChunk] = (),
        spellings: Mapping[str, str] | None = None,
        *,
        counts: Mapping[str, int],
    ) -> int:
        """Make the new generation visible in a single transaction, and return its number.

        ``documents`` (see :meth:`document_row`) are existing documents with changes, ``chunks`` existing chunks with
        another place, heading, metadata or vector, ``spellings`` the new names of existing entities by id. ``counts``
        holds the new numbers of documents, chunks and entities; edges are counted here.
        """
        by_kind = {f"edges.{kind.value}": count for kind, count in self.edge_counts().items()}
        rows = self._writes.write(
            "publish_generation",
            documents=[{"id": row["id"], "properties": self._staged(row)} for row in documents],
            chunks=[
                {
                    "id": changed.chunk.chunk.id,
                    "properties": self._chunk_row(changed.chunk),
                    "vector": packed(changed.chunk.vector) if changed.reembedded else None,
                }
                for changed in chunks
            ],
            copies=self._copies(),
            spellings=[{"id": id_, "name": name} for id_, name in (spellings or {}).items()],
            properties={**counts, **by_kind},
        )
        if not rows:
            raise self._writes.taken_over()
        return int(rows[0]["generation"])

    def edge_counts(self) -> dict[EdgeKind, int]:
        """Return the number of edges of each kind in the new generation."""
        return {kind: self.corpus.record.edges[kind.value] + self.edges[kind] for kind in EdgeKind}

    def collect_garbage(self, generation: int) -> None:
        """Delete nodes and edges that are invisible from ``generation`` on, including leftovers of a crashed run."""
        if self.corpus.record.staging is not None:
            self._collect_all(generation)
        else:
            self._writes.write_rows("delete_retired_edges", self._retired, batch=_EDGE_BATCH, generation=generation)
            self._repeat("collect_nodes", generation=generation)
            self._writes.write_rows("delete_orphans", self._orphans, batch=_EDGE_BATCH)
        if self._chunk_batches > 1:  # after one there is nothing to merge
            self._writes.write("refresh_vector_index")
        self._writes.write("end_staging")

    def move_documents(self, paths: Mapping[str, str], generation: int) -> None:
        """Record the new paths of documents, by key. This needs no new generation: search doesn't depend on paths."""
        rows = ({"key": key, "path": path} for key, path in paths.items())
        self._writes.write_rows("move_documents", rows, batch=_EDGE_BATCH, generation=generation)

    def _collect_all(self, generation: int) -> None:
        self._repeat("collect_retired_edges", generation=generation)
        self._repeat("collect_nodes", generation=generation)
        self._repeat("collect_entities")

    def _undo(self) -> None:
        self._repeat("undo_staged_edges")
        self._repeat("undo_staged_counts")
        self._repeat("undo_retired_edges", live=LIVE)
        self._repeat("undo_retired_nodes", live=LIVE)

    def _repeat(self, query: str, **params: Any) -> None:
        while self._writes.write(query, limit=_GARBAGE_BATCH, **params)[0]["changed"] == _GARBAGE_BATCH:
            pass

    def _labels(self) -> list[str]:
        """Return the labels of the corpus's chunks besides that of all chunks."""
        corpus = self.corpus.record
        return [corpus.label, corpus.vector_index, *([corpus.slot.texts] if corpus.slot else [])]

    def _copies(self) -> list[list[str]]:
        slot = self.corpus.record.slot
        return slot.pairs(CHUNK_FIELDS) if slot else []

    def _staged(self, properties: Row) -> Row:
        return {**properties, "since": self.corpus.generation + 1, "until": LIVE}

    def _edge_row(self, source: str, edges: Sequence[Edge]) -> Row:
        rows = [
            {"kind": edge.kind.value, "target": edge.target, "properties": self._staged(dict(edge.evidence))}
            for edge in edges
        ]
        return {"source": source, "edges": rows}

    def document_row(self, prepared: PreparedDocument) -> Row:
        """Return the properties of a document's node."""
        document, centroid = prepared.document, centroid_of([chunk.vector for chunk in prepared.chunks])
        return {
            **as_properties(document.metadata),
            "id": document_id(self.corpus.id, document.key),
            "corpus": self.corpus.id,
            "key": document.key,
            "title": document.title,
            "path": document.path,
            **{name: value for name in ("modified", "original") if (value := getattr(document, name))},
            "hash": document_hash(document),
            "text_hash": digest(document.text),
            **({} if centroid is None else {"centroid": to_bytes(centroid)}),
        }

    def _chunk_row(self, prepared: PreparedChunk) -> Row:
        chunk = prepared.chunk
        targets, relations, contexts = ([link[column] for link in prepared.links] for column in range(3))
        return {
            **as_properties(chunk.metadata),
            **(chunk_properties(fields, prepared.declared) if (fields := self.corpus.record.filterable) else {}),
            **{name: getattr(chunk, name) for name in _CHUNK_PROPERTIES},
            "corpus": self.corpus.id,
            "document": chunk.document_key,
            # None, which Neo4j leaves out, if no word or link has the value
            "folded": index_words(chunk.title, chunk.heading, chunk.text) or None,
            "links": targets,
            "link_relations": relations if any(relations) else None,
            "link_contexts": contexts if any(contexts) else None,
            "embedded": prepared.content_hash,
            **({"imported": True} if prepared.imported else {}),
        }


def _edge_batches(edges: Iterable[Edge]) -> Iterator[tuple[dict[str, list[Edge]], int]]:
    """Group edges by source in batches of about ``_EDGE_BATCH``; yield each batch with its number of edges."""
    by_source: dict[str, list[Edge]] = defaultdict(list)
    count = 0
    for edge in edges:
        if count >= _EDGE_BATCH and edge.source not in by_source:
            yield dict(by_source), count
            by_source.clear()
            count = 0
        by_source[edge.source].append(edge)
        count += 1
    if by_source:
        yield dict(by_source), count


@dataclass(frozen=True, slots=True)
class StagedDocuments:
    """Staged documents: all titles by key, and the node properties of documents that replace stored ones."""

    titles: dict[str, str]
    replacing: list[dict[str, Any]]


def stage(
    session: WriteSession,
    batches: Iterable[Sequence[PreparedDocument]],
    stored: Collection[str],
    chunks: Spool[PreparedChunk],
    progress: Progress,
) -> StagedDocuments:
    """Write each batch in the background while the next is prepared; append the chunks to ``chunks``.

    ``stored`` holds the keys of the corpus's documents.
    """
    staged = StagedDocuments({}, [])
    with BackgroundWriter() as background:
        for batch in batches:
            in_batch = [chunk for prepared in batch for chunk in prepared.chunks]
            background.submit(session.stage_documents, batch)
            background.submit(session.stage_chunks, in_batch)
            chunks.append(in_batch)
            for prepared in batch:
                document = prepared.document
                staged.titles[document.key] = document.title
                # A crashed run may have staged an earlier version of the document.
                if document.key in stored or session.corpus.record.staging is not None:
                    staged.replacing.append(session.document_row(prepared))
        with progress.stage("load chunks"):
            background.wait()
    return staged
