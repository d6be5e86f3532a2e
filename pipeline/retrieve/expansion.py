"""The k-hop expansion: the entities and chunks linked to the seeds, and the weights of the links."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, NamedTuple, TypedDict

from pipeline.db.indexes import cosine_of
from pipeline.edges import EDGES, SYMMETRIC, EdgeKind
from pipeline.embedding.everyday import BUNDLED, Scale
from pipeline.settings import WalkSettings


@dataclass(frozen=True, slots=True)
class Mentions:
    """An entity near the seeds: its ``frequency``, the number of chunks that mention it, and some of these ``chunks``.

    A chunk is ``True`` if it is about the entity.
    """

    frequency: int
    chunks: Mapping[str, bool]


class ChunkLink(NamedTuple):
    """An edge from chunk to chunk; ``share`` is its cosine, or 1 / n for a link to a document of n chunks.

    ``meaning`` is the cosine of the question and the sentence around the link, None if the link has no sentence. Both
    cosines are as the bundled model's.
    """

    source: str
    target: str
    kind: EdgeKind
    share: float
    meaning: float | None = None


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """The part of the graph around some seeds, in a generation of ``chunks`` chunks; ``entities`` are by id."""

    chunks: int
    entities: Mapping[str, Mentions]
    links: tuple[ChunkLink, ...]

    def rarity(self, entity: str) -> float:
        """Return the inverse document frequency of an entity, log(1 + N / df)."""
        return math.log(1 + self.chunks / self.entities[entity].frequency)

    def edges(self, settings: WalkSettings) -> tuple[list[str], list[str], list[float]]:
        """Return the sources, targets and weights of the undirected edges, each once, as the projection has them."""
        sources: list[str] = []
        targets: list[str] = []
        weights: list[float] = []
        for id_, entity in self.entities.items():
            count = len(entity.chunks)
            sources += entity.chunks
            targets += [id_] * count
            weights += [self.rarity(id_)] * count
        by_kind = {kind: getattr(settings, edge.weight) for kind, edge in EDGES.items() if edge.weight}
        for link in self.links:
            sources.append(link.source)
            targets.append(link.target)
            weights.append(by_kind[link.kind] * link.share)
        known = [(place, link.meaning) for place, link in enumerate(self.links) if link.meaning is not None]
        if known:
            mean = math.fsum(meaning for _, meaning in known) / len(known)
            for place, meaning in known:
                weights[place - len(self.links)] *= math.exp(settings.meaning * (meaning - mean))
        return sources, targets, weights

    @property
    def chunk_ids(self) -> set[str]:
        """The ids of all its chunks."""
        linked = {id_ for link in self.links for id_ in (link.source, link.target)}
        return linked.union(*(entity.chunks for entity in self.entities.values()))

    def filtered(self, chunks: Container[str]) -> Neighbourhood:
        """Return the neighbourhood restricted to ``chunks``, by id: a walk doesn't pass through others either."""
        entities = {
            id_: Mentions(entity.frequency, {chunk: about for chunk, about in entity.chunks.items() if chunk in chunks})
            for id_, entity in self.entities.items()
        }
        links = tuple(link for link in self.links if link.source in chunks and link.target in chunks)
        return Neighbourhood(self.chunks, entities, links)


class ExploreRow(TypedDict):
    """The columns of the one row of the query ``explore``, as lists: maps take the driver longer to decode.

    ``near`` and ``matching`` are ids of candidates by vector and full text, best first, with a score each. ``named``
    are the entities that the question names: id, name, frequency, the chunk that mentions it, None if several do,
    about: whether a chunk is about it, and admitted: False if its only chunk is outside of the boxes. The rest is the
    expansion of the seeds, which are chunks:

    - ``mentions``: an entity, its frequency, and chunks that mention it, each with whether it is about it;
    - ``links``: a seed, the relationship type, the chunks of the document that it links to, their number with those
      outside of the boxes, and the similarity of the link's sentence to the question, None without a sentence;
    - ``backlinks``: a chunk, the relationship type, the seed whose document it links to, the number of that document's
      chunks, and the similarity as above;
    - ``beside``: a seed, a chunk, the relationship type, and the cosine, None for NEXT.
    """

    generation: int
    chunks: int
    entities: int
    near: Sequence[str]
    near_scores: Sequence[float]
    matching: Sequence[str]
    matching_scores: Sequence[float]
    named: Sequence[Mapping[str, Any]]
    mentions: Sequence[tuple[str, int, Sequence[tuple[str, bool | None]]]]
    links: Sequence[tuple[str, str, Sequence[str], int, float | None]]
    backlinks: Sequence[tuple[str, str, str, int, float | None]]
    beside: Sequence[tuple[str, str, str, float | None]]


_KINDS: Mapping[str, EdgeKind] = {kind: kind for kind in EdgeKind}


def neighbourhood(
    row: ExploreRow, chunks: Set[str], entities: Container[str], scale: Callable[[], Scale] = lambda: BUNDLED
) -> Neighbourhood:
    """Read the neighbourhood of seeds, ``chunks`` and ``entities`` by id, from a row of the query ``explore``.

    The query may have expanded more: it doesn't know which of several overlapping names the question means. ``scale``
    returns that of the cosines; it is called if there are any.
    """
    every = (
        (id_, Mentions(frequency, {chunk: bool(about) for chunk, about in mentions}))
        for id_, frequency, mentions in row["mentions"]
    )
    mentioned = {id_: entity for id_, entity in every if id_ in entities or not chunks.isdisjoint(entity.chunks)}
    linked = tuple(link for link in _links(row, scale) if link.source in chunks or link.target in chunks)
    return Neighbourhood(row["chunks"], mentioned, linked)


def _links(row: ExploreRow, scale: Callable[[], Scale]) -> Iterator[ChunkLink]:
    seen = set()
    bundled = scale().bundled if row["links"] or row["backlinks"] or row["beside"] else float
    links: list[tuple[str, str, str, float, float | None]] = [
        (source, target, kind, 1 / number, near)
        for source, kind, parts, number, near in row["links"]
        for target in parts
    ]
    links += [(source, target, kind, 1 / parts, near) for source, kind, target, parts, near in row["backlinks"]]
    links += [
        (source, target, kind, 1.0 if score is None else bundled(score), None)
        for source, target, kind, score in row["beside"]
    ]
    for source, target, kind, share, near in links:
        # An edge between two seeds comes twice. Only titles and hyperlinks have two edges, one each way.
        symmetric = kind in SYMMETRIC
        key = (kind, *(sorted((source, target)) if symmetric else (source, target)))
        if key not in seen and source != target:
            seen.add(key)
            yield ChunkLink(source, target, _KINDS[kind], share, None if near is None else bundled(cosine_of(near)))
