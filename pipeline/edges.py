"""The relationship types of a corpus, a row each: what one leads to, its words, and how it counts.

A new type gets a row here and its literals in ``cypher/`` (a test holds both), a stage in ``pipeline/ingest/links``
that makes its edges and, if the walk is to weigh it, a setting of ``walk``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

MOST_HOPS = 20
"""The farthest that commands and tools look, in edges: chosen by hand, to bound what one question reads."""


class EdgeKind(StrEnum):
    """Relationship types of a corpus; all begin at a chunk."""

    PART_OF = "PART_OF"
    """to its document"""
    NEXT = "NEXT"
    """to the document's next chunk"""
    MENTIONS = "MENTIONS"
    """to an entity, with ``count``, ``position`` and ``about``"""
    REFERS_TO = "REFERS_TO"
    """to a document whose title it names, with ``count`` and ``position``"""
    LINKS_TO = "LINKS_TO"
    """to a hyperlinked document, with ``count``; in a vault also ``relations``, ``context`` and its ``embedding``"""
    SIMILAR = "SIMILAR"
    """to one of the nearest chunks by cosine, which is ``score``; stored once per pair, ``mutual`` if each chunk is
    among the other's nearest"""
    CAPPED = "CAPPED"
    """as SIMILAR, but over the degree limit of an endpoint; only the next update reads it"""


class Target(StrEnum):
    """The kind of node that a type leads to."""

    CHUNK = "chunk"
    DOCUMENT = "document"
    ENTITY = "entity"


@dataclass(frozen=True, slots=True)
class EdgeType:
    """A relationship type: its target, and the words for a step along it and against it.

    ``directed`` and ``category`` (a :class:`pipeline.knowledge.SupportedEdgeType`, or none) are those of the corpus
    read as a knowledge graph. ``weight`` is the setting of ``walk`` that weighs the type, "" if none does. ``tie`` is
    how a passage of a result is related to an earlier one, along the edge and against it; None if it isn't by this.
    """

    target: Target
    along: str
    against: str
    category: str = ""
    directed: bool = True
    weight: str = ""
    tie: tuple[str, str] | None = None

    @property
    def symmetric(self) -> bool:
        """True if the type reads the same both ways."""
        return self.along == self.against


EDGES: Mapping[EdgeKind, EdgeType] = {
    EdgeKind.PART_OF: EdgeType(Target.DOCUMENT, "is part of", "holds", "structural"),
    EdgeKind.NEXT: EdgeType(Target.CHUNK, "stands beside", "stands beside", "structural", weight="next"),
    EdgeKind.MENTIONS: EdgeType(Target.ENTITY, "mentions", "is mentioned in", "semantic", directed=False),
    EdgeKind.REFERS_TO: EdgeType(
        Target.DOCUMENT, "names", "is named in", "semantic", weight="title", tie=("refers to", "referred to by")
    ),
    EdgeKind.LINKS_TO: EdgeType(
        Target.DOCUMENT, "links to", "is linked from", "structural", weight="link", tie=("links to", "linked from")
    ),
    EdgeKind.SIMILAR: EdgeType(
        Target.CHUNK,
        "resembles",
        "resembles",
        "semantic",
        directed=False,
        weight="similar",
        tie=("similar to", "similar to"),
    ),
    EdgeKind.CAPPED: EdgeType(Target.CHUNK, "resembles", "resembles"),
}

REFERENCES = frozenset(kind for kind, edge in EDGES.items() if edge.target is Target.DOCUMENT and edge.weight)
"""Types by which the walk passes from a chunk to all chunks of a document, by its title or a hyperlink."""

SYMMETRIC = frozenset(kind for kind, edge in EDGES.items() if edge.symmetric)
"""Types that read the same both ways."""


def words(kind: str, *, along: bool) -> str:
    """Return the words for a step along a type or against it; its name, if a corpus has no such type."""
    if kind not in EDGES:
        return kind
    edge = EDGES[EdgeKind(kind)]
    return edge.along if along else edge.against


Step = Mapping[str, str]
"""A node of a path: its ``kind``, its ``name``, and ``by``, the type of the relationship that leads to it."""


def evidence_line(steps: Sequence[Step]) -> str:
    """Return a hit's ``evidence`` as ``A —mentions→ B —is mentioned in→ C``; entities in quotes.

    Steps within one document are left out: between it and its own chunk, and through an entity from chunk to chunk. To
    a reader these are one place.
    """
    if not steps:
        return "no path from a seed"
    if steps[0]["kind"] == "Seed":
        return f"found by {steps[0]['name']}"
    shown = _without_loops(steps)
    line = _quoted(shown[0])
    for before, after in pairwise(shown):
        if not (after["by"] == EdgeKind.PART_OF and after["name"] == before["name"]):
            # Every relationship starts at a chunk; those that also end at one read the same both ways.
            line += f" —{words(after['by'], along=before['kind'] == 'Chunk')}→ {_quoted(after)}"
    return line


def _without_loops(steps: Sequence[Step]) -> list[Step]:
    """Return a path without the entities, and the chunks after them, that lead from a chunk to one of its document."""
    shown: list[Step] = []
    for step in steps:
        if [one["kind"] for one in shown[-2:]] == ["Chunk", "Entity"] and step["name"] == shown[-2]["name"]:
            shown.pop()
        else:
            shown.append(step)
    return shown


def _quoted(step: Step) -> str:
    return f"“{step['name']}”" if step["kind"] == "Entity" else step["name"]
