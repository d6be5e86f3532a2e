"""Edges from chunks: by document structure, by names and by hyperlinks."""

import posixpath
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import PurePosixPath

from pipeline.edges import EdgeKind
from pipeline.ids import document_id, entity_id
from pipeline.ingest.entities.extract import ChunkNames
from pipeline.records import Chunk, Edge, WrittenLink
from pipeline.text.names import name_key


class LinkResolver:
    """Resolves hyperlinks and wikilinks among a corpus's documents.

    A hyperlink is a path relative to its document. A wikilink is a document's path, its file name without suffix, or
    its title. Of several documents with the same name, the nearest in the folder tree is chosen, then the first by key.
    """

    def __init__(self, titles: Mapping[str, str]) -> None:
        """``titles`` maps each document's key to its title."""
        self._keys = set(titles)
        self._by_name: dict[str, list[str]] = defaultdict(list)
        for key, title in sorted(titles.items()):
            for name in names_of_document(key, title):
                self._by_name[name].append(key)

    def resolve(self, target: str, source_key: str) -> str | None:
        """Return the key of the document that ``target`` means in ``source_key``; None if the corpus has none."""
        for candidate in paths_of_link(target, source_key):
            if candidate in self._keys:
                return candidate if candidate != source_key else None
        named = [key for key in self._by_name.get(name_key(target), ()) if key != source_key]
        return min(named, key=lambda key: (-_shared_folders(key, source_key), key), default=None)

    def resolve_all(self, links: Sequence[WrittenLink], source_key: str) -> Iterable[tuple[str, list[WrittenLink]]]:
        """Return the keys of the documents that ``links`` lead to, each with its links, ordered by key."""
        resolved: dict[str, list[WrittenLink]] = defaultdict(list)
        for link in links:
            key = self.resolve(link.target, source_key)
            if key is not None:
                resolved[key].append(link)
        return sorted(resolved.items())


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


def names_of_document(key: str, title: str) -> set[str]:
    """Return the folded names by which a wikilink may refer to a document."""
    path = PurePosixPath(key)
    # A key from a .jsonl file may be "/" or ".", which names no file.
    without_suffix = path.with_suffix("").as_posix() if path.name else key
    folded = {name_key(name) for name in (path.stem, without_suffix, title)}
    return folded - {""}


def paths_of_link(target: str, source_key: str) -> Iterator[str]:
    """Yield the keys that a link may mean as a path, first choice first."""
    relative = posixpath.normpath(posixpath.join(posixpath.dirname(source_key), target))
    for path in (relative, target.lstrip("/")):
        yield path
        yield f"{path}.md"


def _shared_folders(first: str, second: str) -> int:
    return len(posixpath.commonprefix([first.split("/")[:-1], second.split("/")[:-1]]))
