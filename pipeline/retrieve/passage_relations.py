"""What ties the chunks of an answer to each other: names that both mention, links, likeness."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations, product

from pipeline.db.client import Client

_LINK = 2.0
"""What a link weighs against the rarest name, which weighs 1, and twice that where a passage is about it."""

_ABOUT = 2.0
_SAME_DOCUMENT = 0.5
_NAMES_SHOWN = 2


class TieKind(StrEnum):
    """In which way two passages hang together, as seen from the later one."""

    NAMES = "names"
    """both mention the names"""
    REFERS_TO = "refers to"
    """it mentions the title of the earlier one's document"""
    REFERRED_TO = "referred to by"
    LINKS_TO = "links to"
    """it has a hyperlink to the earlier one's document"""
    LINKED_FROM = "linked from"
    SIMILAR = "similar to"
    SAME_DOCUMENT = "same document as"


_BACK = {TieKind.REFERS_TO: TieKind.REFERRED_TO, TieKind.LINKS_TO: TieKind.LINKED_FROM}
_OF_EDGE = {"REFERS_TO": TieKind.REFERS_TO, "LINKS_TO": TieKind.LINKS_TO, "SIMILAR": TieKind.SIMILAR}


@dataclass(frozen=True, slots=True)
class Tie:
    """The strongest way in which a passage hangs together with an earlier one; ``names`` are the rarest of both."""

    kind: TieKind
    strength: float
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"shares {' and '.join(f'“{name}”' for name in self.names)} with" if self.names else str(self.kind)


@dataclass(frozen=True, slots=True)
class Ties:
    """Strengths between chunks: of each name that two share, and of each link, from its source to its target."""

    names: Mapping[frozenset[str], Mapping[str, float]]
    links: Mapping[tuple[str, str], Mapping[TieKind, float]]

    def between(self, later: Sequence[str], earlier: Sequence[str], *, same_document: bool = False) -> Tie | None:
        """Return the strongest tie of some chunks to earlier ones, or None if there is none."""
        names: dict[str, float] = defaultdict(float)
        strengths: dict[TieKind, float] = defaultdict(float)
        if same_document:
            strengths[TieKind.SAME_DOCUMENT] = _SAME_DOCUMENT
        for one, other in product(later, earlier):
            for name, strength in self.names.get(frozenset((one, other)), {}).items():
                names[name] = max(names[name], strength)
            for kind, strength in self.links.get((one, other), {}).items():
                strengths[kind] += strength
            for kind, strength in self.links.get((other, one), {}).items():
                strengths[_BACK.get(kind, kind)] += strength
        if names:
            strengths[TieKind.NAMES] = sum(names.values())
        if not strengths:
            return None
        kind = max(strengths, key=lambda kind: (strengths[kind], kind))
        rarest = sorted(names, key=lambda name: (-names[name], name))[:_NAMES_SHOWN]
        return Tie(kind, strengths[kind], tuple(rarest) if kind is TieKind.NAMES else ())


def read_ties(client: Client, chunks: Sequence[str], generation: int, total: int) -> Ties:
    """Read what ties some chunks, by id, of a corpus of ``total``."""
    names: dict[frozenset[str], dict[str, float]] = defaultdict(dict)
    links: dict[tuple[str, str], dict[TieKind, float]] = defaultdict(dict)
    rarest = math.log(1 + total / 2)
    for row in client.read("shared_names", ids=list(chunks), generation=generation):
        rarity = math.log(1 + total / row["frequency"]) / rarest
        for one, other in combinations(row["mentions"], 2):
            about = one["about"] or other["about"]
            names[frozenset((one["id"], other["id"]))][row["name"]] = rarity * (_ABOUT if about else 1.0)
    for row in client.read("links_among", ids=list(chunks), generation=generation):
        kind = _OF_EDGE[row["kind"]]
        links[row["source"], row["target"]][kind] = row["score"] if kind is TieKind.SIMILAR else _LINK
    return Ties(names, links)
