"""Edges from chunks: by document structure, by names and by hyperlinks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from pipeline.ids import document_id, entity_id
from pipeline.ingest.entities.extract import ChunkNames
from pipeline.ingest.links.hyperlinks import LinkResolver
from pipeline.records import Chunk, Edge, EdgeKind, WrittenLink


def structure_edges(corpus_id: str, chunks: Iterable[Chunk]) -> Iterator[Edge]:
    """Yield the edges from chunks to their documents and to the next chunk; ``chunks`` are those of whole documents."""
    chunks = list(chunks)
    for chunk in chunks:
        yield Edge(EdgeKind.PART_OF, chunk.id, document_id(corpus_id, chunk.document_key))
    in_order = sorted(chunks, key=lambda chunk: (chunk.document_key, chunk.ordinal))
    for before, after in pairwise(in_order):
        if before.document_key == after.document_key:
            yield Edge(EdgeKind.NEXT, before.id, after.id)


def name_edges(corpus_id: str, named: Iterable[ChunkNames]) -> Iterator[Edge]:
    """Yield the edges from chunks to the entities and documents that they name."""
    for names in named:
        for mention in names.mentions:
            evidence = {"count": mention.count, "position": mention.position, "about": mention.about}
            yield Edge(EdgeKind.MENTIONS, names.chunk_id, entity_id(corpus_id, mention.key), evidence)
        for title in names.titles:
            evidence = {"count": title.count, "position": title.position}
            yield Edge(EdgeKind.REFERS_TO, names.chunk_id, document_id(corpus_id, title.document_key), evidence)


def hyperlink_edges(
    corpus_id: str, chunk: Chunk, links: Sequence[WrittenLink], resolver: LinkResolver
) -> Iterator[Edge]:
    """Yield the edges from a chunk to the targets of its ``links``, which are as written.

    An edge has the types of its links and the sentences around them, each once, in order, if there are any.
    """
    for key, resolved in resolver.resolve_all(links, chunk.document_key):
        relations = list(dict.fromkeys(link.relation for link in resolved if link.relation))
        context = "\n".join(dict.fromkeys(link.context for link in resolved if link.context))
        evidence = {
            "count": len(resolved),
            **({"relations": relations} if relations else {}),
            **({"context": context} if context else {}),
        }
        yield Edge(EdgeKind.LINKS_TO, chunk.id, document_id(corpus_id, key), evidence)
