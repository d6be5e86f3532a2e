"""The edges and entities that a corpus should have, from its chunks alone: what one fresh ingest would make."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from pipeline.ids import document_id, entity_id
from pipeline.ingest.extract import ChunkNames, extract
from pipeline.ingest.link import LinkResolver, similar
from pipeline.records import Chunk, Edge, EdgeKind, Entity, Vector
from pipeline.settings import LinkSettings


@dataclass(frozen=True, slots=True)
class LinkedChunk:
    """A chunk with what its links are made from: its vector and the targets of the hyperlinks in it, as written."""

    chunk: Chunk
    vector: Vector
    links: tuple[str, ...]


def desired(
    corpus_id: str, chunks: Sequence[LinkedChunk], titles: Mapping[str, str], settings: LinkSettings
) -> tuple[list[Edge], list[Entity]]:
    """Return all edges and entities of a corpus.

    ``chunks`` are all of the corpus's, ``titles`` maps the keys of all its documents to their titles. The result
    is the same for any order of ``chunks``.
    """
    ordered = sorted(chunks, key=lambda linked: linked.chunk.id)
    plain = [linked.chunk for linked in ordered]
    names = extract(plain, settings.title_shared_by)
    edges = [
        *_structure(corpus_id, plain),
        *_names(corpus_id, names.chunks),
        *_hyperlinks(corpus_id, ordered, titles),
        *_similar(ordered, settings),
    ]
    entities = [Entity(entity_id(corpus_id, key), key, name) for key, name in sorted(names.spellings.items())]
    return edges, entities


def _structure(corpus_id: str, chunks: Sequence[Chunk]) -> Iterator[Edge]:
    for chunk in chunks:
        yield Edge(EdgeKind.PART_OF, chunk.id, document_id(corpus_id, chunk.document_key))
    in_order = sorted(chunks, key=lambda chunk: (chunk.document_key, chunk.ordinal))
    for before, after in pairwise(in_order):
        if before.document_key == after.document_key:
            yield Edge(EdgeKind.NEXT, before.id, after.id)


def _names(corpus_id: str, named: Sequence[ChunkNames]) -> Iterator[Edge]:
    for names in named:
        for mention in names.mentions:
            evidence = {"count": mention.count, "position": mention.position, "about": mention.about}
            yield Edge(EdgeKind.MENTIONS, names.chunk_id, entity_id(corpus_id, mention.key), evidence)
        for title in names.titles:
            evidence = {"count": title.count, "position": title.position}
            yield Edge(EdgeKind.REFERS_TO, names.chunk_id, document_id(corpus_id, title.document_key), evidence)


def _hyperlinks(corpus_id: str, chunks: Sequence[LinkedChunk], titles: Mapping[str, str]) -> Iterator[Edge]:
    resolver = LinkResolver(titles)
    for linked in chunks:
        for key, count in resolver.resolve_all(linked.links, linked.chunk.document_key):
            yield Edge(EdgeKind.LINKS_TO, linked.chunk.id, document_id(corpus_id, key), {"count": count})


def _similar(chunks: Sequence[LinkedChunk], settings: LinkSettings) -> Iterator[Edge]:
    if not chunks:
        return
    links = similar(
        np.stack([linked.vector for linked in chunks]),
        top_k=settings.similar_top_k,
        threshold=settings.similar_threshold,
        hub_cap=settings.similar_hub_cap,
        exact_up_to=settings.exact_up_to,
    )
    for link in links:
        first, second = chunks[link.first].chunk.id, chunks[link.second].chunk.id
        yield Edge(EdgeKind.SIMILAR, first, second, {"score": link.score})
