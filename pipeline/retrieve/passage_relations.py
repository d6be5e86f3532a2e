"""Relations between the passages of a result: names that both mention, links, similarity."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product

from pipeline.db.corpus import CorpusHandle
from pipeline.edges import EDGES, REFERENCES

_LINK = 2.0
"""Strength of a link. The rarest name has strength 1, and 2 where a passage is about it. All are chosen by hand."""

_ABOUT = 2.0
_SAME_DOCUMENT = 0.5
_NAMES_SHOWN = 2  # to fit a line

NAMES = "names"
"""Both passages mention the names."""
SAME_DOCUMENT = "same document as"

_BACK = dict(edge.tie for edge in EDGES.values() if edge.tie)
_OF_EDGE = {kind.value: edge.tie[0] for kind, edge in EDGES.items() if edge.tie}


@dataclass(frozen=True, slots=True)
class Relation:
    """The strongest relation of a passage to an earlier one; ``names`` are the rarest that both mention.

    ``kind`` is ``NAMES``, ``SAME_DOCUMENT``, or the ``tie`` of a type in :mod:`pipeline.edges`, from the later one.
    """

    kind: str
    strength: float
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"shares {' and '.join(f'“{name}”' for name in self.names)} with" if self.names else self.kind


@dataclass(frozen=True, slots=True)
class PassageRelations:
    """Strengths between chunks: of each name that two chunks share, and of each link, from its source to its target."""

    names: Mapping[frozenset[str], Mapping[str, float]]
    links: Mapping[tuple[str, str], Mapping[str, float]]

    def strongest(
        self, later: Sequence[str], earlier: Sequence[str], *, same_document: bool = False
    ) -> Relation | None:
        """Return the strongest relation of some chunks to earlier ones, or None if there is none."""
        names: dict[str, float] = defaultdict(float)
        strengths: dict[str, float] = defaultdict(float)
        if same_document:
            strengths[SAME_DOCUMENT] = _SAME_DOCUMENT
        for chunk, before in product(later, earlier):
            for name, strength in self.names.get(frozenset((chunk, before)), {}).items():
                names[name] = max(names[name], strength)
            for kind, strength in self.links.get((chunk, before), {}).items():
                strengths[kind] += strength
            for kind, strength in self.links.get((before, chunk), {}).items():
                strengths[_BACK.get(kind, kind)] += strength
        if names:
            strengths[NAMES] = sum(names.values())
        if not strengths:
            return None
        kind = max(strengths, key=lambda kind: (strengths[kind], kind))
        rarest = sorted(names, key=lambda name: (-names[name], name))[:_NAMES_SHOWN]
        return Relation(kind, strengths[kind], tuple(rarest) if kind == NAMES else ())


def read_relations(corpus: CorpusHandle, chunks: Sequence[str]) -> PassageRelations:
    """Read the relations between some chunks of a corpus, by id; raises Superseded if they may be gone by now."""
    names: dict[frozenset[str], dict[str, float]] = defaultdict(dict)
    links: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    shared, linked = (corpus.read(query, ids=list(chunks)) for query in ("shared_names", "links_among"))
    total = corpus.check_visible()["chunks"]
    rarest = math.log(1 + total / 2)
    for row in shared:
        rarity = math.log(1 + total / row["frequency"]) / rarest
        for first, second in combinations(row["mentions"], 2):
            about = first["about"] or second["about"]
            names[frozenset((first["id"], second["id"]))][row["name"]] = rarity * (_ABOUT if about else 1.0)
    for row in linked:
        kind = _OF_EDGE[row["kind"]]
        links[row["source"], row["target"]][kind] = _LINK if row["kind"] in REFERENCES else row["score"]
    return PassageRelations(names, links)
