"""Restore a corpus from its parts: an equal corpus under an unused name, visible once it is complete."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np

from pipeline.db.catalogue import SCHEMA_VERSION, Corpus, create_corpus, drop_corpus, find_corpus, get_corpus
from pipeline.db.client import Client, batches
from pipeline.db.corpus import CorpusHandle
from pipeline.db.filterable import check_filterable, declared_values
from pipeline.db.lease import lease
from pipeline.edges import EDGES, EdgeKind, Target
from pipeline.errors import CorpusError
from pipeline.ids import digest, document_id, entity_id
from pipeline.ingest.chunking.chunk import chunk_id
from pipeline.ingest.embed import PreparedChunk, centroid_of, embedded_text, supplied_hash
from pipeline.ingest.links.entity_links import TitleChanges, embed_contexts, link_entities
from pipeline.ingest.links.similarity_links import link_similar
from pipeline.ingest.update.stored import ChunkDiff, Spool, StoredChunk, stored_links
from pipeline.ingest.update.write_session import WriteSession, writing
from pipeline.records import Chunk, Edge, Entity, Metadata, Vector, metadata_of
from pipeline.settings import LinkSettings
from pipeline.transfer.formats import Part
from pipeline.transfer.portable import FORMAT

_UNIT_TOLERANCE = 1e-3
"""Most by which the length of a vector of 32-bit numbers, or of fewer bits, may differ from 1. Chosen by hand."""

_BATCH = 1000  # rows of a query; as in an ingest, chosen by hand, not measured
_EDGE_BATCH = 10_000

Embed = Callable[[str, Mapping[str, str]], Mapping[str, Vector]]
"""Maps a fingerprint and texts, by content hash, to the texts' vectors of that fingerprint, by content hash."""


@dataclass(frozen=True, slots=True)
class RestoreOptions:
    """Options of a restoration. ``embed`` makes missing vectors; ``done`` receives the number of parts written.

    ``relink`` expects parts that are only documents and chunks, and links them as an ingest with these settings would.
    ``file`` is the file that the parts are from, which anybody may have written: no other corpus reuses their vectors.
    """

    embed: Embed
    done: Callable[[int], None]
    relink: LinkSettings | None = None
    file: str = ""


def restore(client: Client, parts: Iterable[Part], name: str | None, options: RestoreOptions) -> Corpus:
    """Create a corpus from ``parts``, under ``name`` or their own name; return it.

    A later call completes an interrupted restoration.

    Raises CorpusError if a corpus of that name exists or the parts are of another schema version. Errors of
    ``parts`` are passed on; on an InputError the new corpus is dropped.
    """
    remaining = iter(parts)
    head, what = next(remaining, Part("", {})), options.file or "The copy"
    if head.kind != "corpus" or head.value.get("format") != FORMAT:
        raise CorpusError(
            f"{what} doesn't begin with a corpus.",
            "Give a file that `hoprank corpus export` wrote.",
        )
    if head.value["schema"] != SCHEMA_VERSION:
        raise CorpusError(
            f"{what} is of schema version {head.value['schema']}, not {SCHEMA_VERSION}.",
            "Import it with the HopRank that exported it, or ingest its documents anew.",
        )
    name = name or str(head.value["name"])
    made_by = {key: head.value[key] for key in ("fingerprint", "dimension", "chunker", "extractor", "analyzer")}
    made_by["kind"] = str(head.value.get("kind", ""))
    made_by["links"] = head.value.get("links", {})
    fields = head.value.get("filterable", [])
    made_by["filterable"] = check_filterable(fields if isinstance(fields, list | tuple) else [fields])
    corpus = _unfinished(client, name, made_by) or create_corpus(client, name, **made_by)
    with writing(CorpusHandle(client, corpus)) as session:
        if session.corpus.generation or session.corpus.record.fingerprint != head.value["fingerprint"]:
            raise CorpusError(f"There is a corpus {name!r} already.", "Give another name (--as), or drop that one.")
        session.begin()
        with Spool[PreparedChunk]() as spool:
            try:
                counts = _Restore(session, options, spool).write(remaining)
            except CorpusError as error:
                raise CorpusError(f"{what}: {error.message}", error.fix) from error
            embed_contexts(session, lambda texts: options.embed(session.corpus.record.fingerprint, texts))
        session.collect_garbage(session.publish(counts=counts))
    return get_corpus(client, name)


def _unfinished(client: Client, name: str, made_by: Mapping[str, Any]) -> Corpus | None:
    """Return the corpus of that name, or None; drop what an interrupted restoration of other settings left."""
    corpus = find_corpus(client, name)
    if corpus is None or corpus.generation or all(getattr(corpus, key) == value for key, value in made_by.items()):
        return corpus
    with lease(CorpusHandle(client, corpus)):
        drop_corpus(client, corpus)
    return None


class _Restore:
    """Writes the parts of one corpus in batches of one kind."""

    def __init__(self, session: WriteSession, options: RestoreOptions, spool: Spool[PreparedChunk]) -> None:
        self._session = session
        self._corpus = session.corpus
        self._options = options
        self._spool = spool
        self._titles: dict[str, str] = {}
        self._declared: dict[str, Metadata] = {}
        self._chunks: dict[tuple[str, int], str] = {}
        self._occurrences: Counter[tuple[str, str]] = Counter()
        self._vectors: dict[str, list[Vector]] = {}
        self._whole: set[str] = set()
        self._entities_by_key: set[str] = set()

    def write(self, parts: Iterator[Part]) -> dict[str, int]:
        """Write ``parts``, which are ordered by kind; return the numbers of documents, chunks and entities."""
        write = {
            "document": self._documents,
            "chunk": self._add_chunks,
            "entity": self._entities,
            "counts": self._counts,
            "edge": self._edges,
        }
        for kind, group in groupby(parts, key=lambda part: part.kind):
            for values in batches((part.value for part in group), _EDGE_BATCH if kind == "edge" else _BATCH):
                write[kind](values)
                self._options.done(len(values))
        self._stage_centroids(list(self._vectors))
        entities = len(self._entities_by_key)
        if (settings := self._options.relink) is not None:
            with Spool[StoredChunk]() as no_chunks:
                diff, titles, done = ChunkDiff(no_chunks, {}), TitleChanges({}, self._titles, ()), self._options.done
                entities = link_entities(self._session, self._spool, diff, titles, settings, done).entities
                link_similar(self._session, self._spool, diff, settings, done)
        return {"documents": len(self._titles), "chunks": len(self._chunks), "entities": entities}

    def _documents(self, values: list[dict[str, Any]]) -> None:
        self._titles.update((value["key"], value["title"]) for value in values)
        if fields := self._corpus.record.filterable:
            found = ((value["key"], declared_values(fields, metadata_of(value), {})) for value in values)
            self._declared.update((key, declared) for key, declared in found if declared)
        corpus = self._corpus.id
        rows = [{**value, "id": document_id(corpus, value["key"]), "corpus": corpus} for value in values]
        self._session.stage_document_rows(rows)

    def _add_chunks(self, values: list[dict[str, Any]]) -> None:
        chunks = [self._chunk(value) for value in values]
        texts = {chunk.content_hash: embedded_text(chunk.chunk) for chunk in chunks if not len(chunk.vector)}
        vectors = self._options.embed(self._corpus.record.fingerprint, texts) if texts else {}
        embedded = [replace(chunk, vector=vectors.get(chunk.content_hash, chunk.vector)) for chunk in chunks]
        self._session.stage_chunks(embedded)
        for chunk in embedded:
            self._vectors.setdefault(chunk.chunk.document_key, []).append(chunk.vector)
        # The last document may go on in the next batch.
        self._stage_centroids(list(self._vectors)[:-1])
        if self._options.relink:
            self._spool.append(embedded)

    def _stage_centroids(self, documents: Sequence[str]) -> None:
        """Write the centroids of documents, by key, whose chunks are all read."""
        centroids = ((key, centroid_of(self._vectors.pop(key))) for key in documents)
        self._session.stage_centroids(
            (document_id(self._corpus.id, key), centroid) for key, centroid in centroids if centroid is not None
        )
        self._whole.update(documents)

    def _chunk(self, value: dict[str, Any]) -> PreparedChunk:
        names = ("ordinal", "text", "title", "heading", "start", "end", "line_start", "line_end", "tokens")
        document, text = value["document"], (value["document"], value["text"])
        if document not in self._titles:
            raise _dangling(f"A chunk is of the document {document!r}")
        if document in self._whole:
            raise CorpusError(f"The chunks of the document {document!r} aren't together.", "Export the corpus again.")
        id_ = chunk_id(self._corpus.id, *text, self._occurrences[text])
        self._occurrences[text] += 1
        self._chunks[document, value["ordinal"]] = id_
        fields = [*(value[name] for name in names), metadata_of(value)]
        chunk = Chunk(id_, document, *fields)
        vector: Vector = np.asarray(value.get("embedding", ()), dtype=np.float32)
        dimension, length = self._corpus.record.dimension, float(np.linalg.norm(vector))
        if len(vector) and (len(vector) != dimension or not abs(length - 1) <= _UNIT_TOLERANCE):
            raise CorpusError(
                f"The chunk {chunk.ordinal} of {chunk.document_key!r} has a vector of {len(vector)} numbers and length"
                f" {length:.4g}.",
                f"Vectors of this corpus have {dimension} numbers and length 1. Export it again.",
            )
        imported = bool(len(vector) and (self._options.file or value.get("imported")))
        content_hash = value["embedded"]
        # A vector that is kept keeps the hash of the text that it was made from, unless a file says so: then it is that
        # of the text, or that of the vector if this was supplied.
        if not len(vector) or self._options.file:
            own = digest(embedded_text(chunk))
            content_hash = own if content_hash == own or not len(vector) else supplied_hash(vector)
        filterable = self._corpus.record.filterable
        declared = declared_values(filterable, self._declared.get(document, {}), chunk.metadata)
        return PreparedChunk(chunk, vector, stored_links(value), content_hash, imported, declared)

    def _entities(self, values: list[dict[str, Any]]) -> None:
        self._entities_by_key.update(value["key"] for value in values)
        self._session.stage_entities(
            Entity(entity_id(self._corpus.id, value["key"]), value["key"], value["name"]) for value in values
        )

    def _counts(self, values: list[dict[str, Any]]) -> None:
        for kind, group in groupby(values, key=lambda value: value["kind"]):
            self._session.stage_counts(kind, ((value["shard"], value["counts"]) for value in group))

    def _edges(self, values: list[dict[str, Any]]) -> None:
        self._session.stage_edges(map(self._edge, values), lambda _: None)

    def _edge(self, value: dict[str, Any]) -> Edge:
        kind, target = EdgeKind(value["kind"]), value["target"]
        to = EDGES[kind].target
        if to is Target.CHUNK:
            target_id = self._existing_chunk(kind, target)
        elif target in (self._entities_by_key if to is Target.ENTITY else self._titles):
            target_id = (entity_id if to is Target.ENTITY else document_id)(self._corpus.id, target)
        else:
            raise _dangling(f"An edge {kind} leads to {target!r}")
        evidence = {name: field for name, field in value.items() if name not in ("kind", "source", "target")}
        return Edge(kind, self._existing_chunk(kind, value["source"]), target_id, evidence)

    def _existing_chunk(self, kind: EdgeKind, place: Sequence[Any]) -> str:
        id_ = self._chunks.get((place[0], place[1])) if len(place) == 2 else None
        if id_ is None:
            raise _dangling(f"An edge {kind} names the chunk {place!r}")
        return id_


def _dangling(what: str) -> CorpusError:
    return CorpusError(f"{what}, which the export lacks.", "Export the corpus again.")
