"""Loading: stage what is new where no reader sees it, make it visible in one transaction, sweep what it replaced.

Everything that a corpus's generations share carries ``since`` and ``until``; generation g sees what has
``since <= g < until``. A run writes with ``since = g + 1``, retires with ``until = g + 1``, and then moves the
corpus from g to g + 1. A run that dies before that leaves the corpus at g: the next one takes up the chunks that were
staged and undoes the rest. One that dies after it leaves things to sweep, which the next one does.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from neo4j.vector import Vector as DriverVector

from pipeline.db.catalogue import Corpus
from pipeline.db.client import Client
from pipeline.db.indexes import LIVE
from pipeline.db.lease import HeldWrites
from pipeline.ids import document_id
from pipeline.ingest.embed import Prepared
from pipeline.ingest.links.edges import LinkedChunk
from pipeline.records import Chunk, Edge, EdgeKind, Entity, Vector

_NODES_AT_ONCE = 1000
_EDGES_AT_ONCE = 10_000
_SWEPT_AT_ONCE = 10_000
_TO_CHUNKS = frozenset({EdgeKind.NEXT, EdgeKind.SIMILAR, EdgeKind.CAPPED})
_TO_ENTITIES = frozenset({EdgeKind.MENTIONS})

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Moved:
    """A stored chunk as it is to be: its place or heading changed, and its vector too if it was ``embedded_anew``."""

    piece: LinkedChunk
    embedded: str
    embedded_anew: bool


class Loader:
    """Writes one new generation of a corpus, which its caller holds for writing as ``writer``.

    ``begin``, any of the stages and retirements, ``flip`` and ``sweep`` are called in this order; ``abandon`` at any
    time before ``flip``. ``edges`` counts by kind what was staged, less what was retired. Everything is written through
    ``writes``; so each of these raises Busy once somebody else has taken the corpus over.
    """

    def __init__(self, client: Client, corpus: Corpus, writer: str) -> None:
        self.writes = HeldWrites(client, corpus, writer)
        self._corpus = corpus
        self._writer = writer
        self._retired: list[Row] = []
        self._orphans: list[Row] = []
        self.edges: Counter[EdgeKind] = Counter()

    def begin(self) -> None:
        """Undo what a run that died left, or sweep what it had published, and note that a new one is under way."""
        if self._corpus.staging == self._corpus.generation:
            self._sweep_all(self._corpus.generation)
        elif self._corpus.staging is not None:
            self._undo()
        self.writes.write("begin_staging", corpus=self._corpus.id, writer=self._writer)

    def abandon(self) -> None:
        """Take back all that this run has staged and retired: the corpus is as it was before it."""
        self._undo()
        self._sweep_all(self._corpus.generation)
        self.writes.write("end_staging", corpus=self._corpus.id, writer=self._writer)

    def stage_documents(self, prepared: Sequence[Prepared]) -> None:
        """Write documents and chunks that the corpus lacks; those that it has are updated by :meth:`flip`."""
        documents = (self.document_row(one) for one in prepared)
        self.writes.write_rows("stage_documents", documents, batch=_NODES_AT_ONCE)
        self.stage_chunks(piece for one in prepared for piece in zip(one.pieces, one.embedded, strict=True))

    def stage_chunks(self, pieces: Iterable[tuple[LinkedChunk, str]]) -> None:
        """Write chunks with the hashes of what their vectors were made from; one that is there is left as it is."""
        chunks = (
            {
                "id": piece.chunk.id,
                "properties": self._staged(_chunk_row(self._corpus, piece.chunk, piece.links, embedded)),
                "vector": _packed(piece.vector),
            }
            for piece, embedded in pieces
        )
        labels = [self._corpus.label, self._corpus.embedding]
        self.writes.write_rows("stage_chunks", chunks, batch=_NODES_AT_ONCE, labels=labels)

    def stage_entities(self, entities: Iterable[Entity]) -> None:
        """Write entities that the corpus lacks; one that was staged before gets this name."""
        rows = ({"id": one.id, "key": one.key, "name": one.name} for one in entities)
        self.writes.write_rows("stage_entities", rows, batch=_EDGES_AT_ONCE, corpus=self._corpus.id)

    def stage_edges(self, edges: Iterable[Edge], done: Callable[[int], None]) -> None:
        """Write edges whose ends are there."""
        edges = list(edges)
        for query, kinds in (
            ("stage_edges_to_entities", _TO_ENTITIES),
            ("stage_edges_to_chunks", _TO_CHUNKS),
            ("stage_edges_to_documents", frozenset(EdgeKind) - _TO_ENTITIES - _TO_CHUNKS),
        ):
            for rows, count in _edge_batches(edge for edge in edges if edge.kind in kinds):
                self.writes.write(query, rows=[self._edge_row(source, group) for source, group in rows.items()])
                done(count)
        self.edges.update(edge.kind for edge in edges)

    def retire_edges(self, keys: Iterable[tuple[str, str, str]]) -> None:
        """Let edges, by kind, source and target, end with the present generation."""
        rows = [{"kind": kind, "source": source, "target": target} for kind, source, target in keys]
        generation = self._corpus.generation
        self.writes.write_rows("retire_edges", rows, batch=_EDGES_AT_ONCE, generation=generation, until=generation + 1)
        self._retired += rows
        self.edges.subtract(EdgeKind(row["kind"]) for row in rows)

    def retire_entities(self, ids: Iterable[str]) -> None:
        """Note entities that nothing will mention any more; :meth:`sweep` deletes them."""
        self._orphans += ({"id": one} for one in ids)

    def retire(self, chunks: Iterable[str], documents: Iterable[str]) -> None:
        """Let chunks and documents, by id, end with the present generation."""
        until = self._corpus.generation + 1
        self.writes.write_rows("retire_chunks", ({"id": one} for one in chunks), batch=_EDGES_AT_ONCE, until=until)
        self.writes.write_rows(
            "retire_documents", ({"id": one} for one in documents), batch=_EDGES_AT_ONCE, until=until
        )

    def flip(
        self,
        changed: Sequence[Row],
        moved: Sequence[Moved],
        spellings: Mapping[str, str],
        counts: Mapping[str, int],
    ) -> int:
        """Make the new generation visible in one transaction, and return its number.

        ``changed`` are the rows (see :meth:`document_row`) of documents that were there and are different now;
        ``moved`` are chunks that stay and have another place, heading or vector; ``spellings`` the new names of
        entities that were there, by id.
        """
        chunks = [
            {
                "id": one.piece.chunk.id,
                "properties": _chunk_row(self._corpus, one.piece.chunk, one.piece.links, one.embedded),
                "vector": _packed(one.piece.vector) if one.embedded_anew else None,
            }
            for one in moved
        ]
        rows = self.writes.write(
            "flip",
            corpus=self._corpus.id,
            writer=self._writer,
            generation=self._corpus.generation,
            documents=changed,
            chunks=chunks,
            spellings=[{"id": id_, "name": name} for id_, name in spellings.items()],
            properties=dict(counts),
        )
        if not rows:
            raise self.writes.taken_over()
        return int(rows[0]["generation"])

    def document_row(self, one: Prepared) -> Row:
        """Return what the graph is to have of a document."""
        return {"id": one.id, "properties": self._staged(_document_row(self._corpus, one))}

    def sweep(self, generation: int) -> None:
        """Delete what ``generation`` no longer sees; what a run that died had left too."""
        if self._corpus.staging is not None:
            self._sweep_all(generation)
        else:
            self.writes.write_rows("sweep_edges", self._retired, batch=_EDGES_AT_ONCE, generation=generation)
            self._sweep_nodes(generation)
            self.writes.write_rows("sweep_orphans", self._orphans, batch=_EDGES_AT_ONCE)
        self.writes.write("end_staging", corpus=self._corpus.id, writer=self._writer)

    def _sweep_all(self, generation: int) -> None:
        self._repeat("sweep_retired_edges", label=self._corpus.label, generation=generation)
        self._sweep_nodes(generation)
        self._repeat("sweep_entities", corpus=self._corpus.id)

    def _sweep_nodes(self, generation: int) -> None:
        self._repeat("sweep_nodes", corpus=self._corpus.id, label=self._corpus.label, generation=generation)

    def _undo(self) -> None:
        label, generation = self._corpus.label, self._corpus.generation
        self._repeat("undo_staged_edges", label=label, generation=generation)
        self._repeat("undo_staged_tallies", corpus=self._corpus.id, generation=generation)
        self._repeat("undo_retired_edges", label=label, generation=generation, live=LIVE)
        self._repeat("undo_retired_nodes", corpus=self._corpus.id, label=label, generation=generation, live=LIVE)

    def _edge_row(self, source: str, edges: Sequence[Edge]) -> Row:
        return {
            "source": source,
            "edges": [
                {"kind": edge.kind.value, "target": edge.target, "properties": self._staged(dict(edge.evidence))}
                for edge in edges
            ],
        }

    def _staged(self, properties: Row) -> Row:
        return {**properties, "since": self._corpus.generation + 1, "until": LIVE}

    def _repeat(self, query: str, **params: Any) -> None:
        while self.writes.write(query, limit=_SWEPT_AT_ONCE, **params)[0]["changed"]:
            pass


def _document_row(corpus: Corpus, one: Prepared) -> Row:
    return {
        **{f"metadata.{name}": value for name, value in one.document.metadata.items()},
        "id": document_id(corpus.id, one.document.key),
        "corpus": corpus.id,
        "key": one.document.key,
        "title": one.document.title,
        "path": one.document.path,
        "hash": one.hash,
        "text_hash": one.text_hash,
    }


def _chunk_row(corpus: Corpus, chunk: Chunk, links: Sequence[str], embedded: str) -> Row:
    names = ("id", "ordinal", "text", "title", "heading", "start", "end", "line_start", "line_end", "tokens")
    return {
        **{name: getattr(chunk, name) for name in names},
        "corpus": corpus.id,
        "document": chunk.document_key,
        "links": list(links),
        "embedded": embedded,
    }


def _packed(vector: Vector) -> DriverVector:
    """Wrap a vector in the driver's binary form, which halves the cost of sending it."""
    return DriverVector.from_numpy(vector)


def _edge_batches(edges: Iterable[Edge]) -> Iterator[tuple[dict[str, list[Edge]], int]]:
    """Group edges by source, about ``_EDGES_AT_ONCE`` edges a batch; yield each batch with its number of edges."""
    by_source: dict[str, list[Edge]] = defaultdict(list)
    count = 0
    for edge in edges:
        if count >= _EDGES_AT_ONCE and edge.source not in by_source:
            yield dict(by_source), count
            by_source.clear()
            count = 0
        by_source[edge.source].append(edge)
        count += 1
    if by_source:
        yield dict(by_source), count
