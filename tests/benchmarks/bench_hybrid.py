"""What the graph adds to full text: ``hybrid`` by the hops that it follows, in graphs of skills and in a vault.

    uv run python tests/benchmarks/bench_hybrid.py DATA_DIR

Each folder in ``DATA_DIR/skills`` becomes a graph of skills, each in ``DATA_DIR/vault`` a namespace of artifacts. A
question is the description of a node, A; the answer depends on its kind:

- *own*: A itself, so that the graph must not push aside what the words name;
- *hidden link*: a node that A's text links to, or that links to A, while the graph lacks all edges between the two;
- *two hops*: a C of A -> B -> C that no edge joins with A, and that shares fewer words with A than either with B.

As in the evaluation of link prediction (Bordes and others, 2013), A and its known neighbours aren't ranked for the last
two kinds: they are right answers as well. The weight for a collection is the one that serves the other collections best
and loses none of their questions of the first kind. A draw with a fixed seed takes ``--most`` questions of a kind.
"""

from __future__ import annotations

import argparse
import random
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from pipeline import HopRank, Skills
from pipeline.grouping import grouped
from pipeline.knowledge import Knowledge, KnowledgeEdge, KnowledgeGraph, KnowledgeNode, Mode, search
from pipeline.knowledge.search import GraphRankings
from pipeline.knowledge.store.memory import MemoryStore

HOPS = (0, 1, 2)
KINDS = ("own", "hidden link", "two hops")
WEIGHTS = (0.25, 0.5, 0.75, 1.0)
"""Weights of the graph beside full text that are tried."""
_WRITTEN = frozenset(("requires", "mentions", "links_to"))  # the edges that an author made
_ASKED = frozenset(("skill", "artifact"))
_WORD = re.compile(r"[^\W\d_]{4,}")
_DEPTH = 50


@dataclass(frozen=True, slots=True)
class Question:
    """The description of ``asked``, the node that answers, and those that aren't ranked; with a hidden link if so."""

    kind: str
    asked: str
    answer: str
    unranked: frozenset[str] = frozenset()
    hidden: bool = False


class _Store(MemoryStore):
    """A graph in memory with the full text of the server."""

    def __init__(self, of: Collection, edges: Sequence[KnowledgeEdge]) -> None:
        super().__init__(of.name, of.nodes.values(), edges)
        self._of = of

    def matching(self, text: str, limit: int) -> Mapping[str, float]:
        """Return the server's scores, which edges don't change; each text is asked once."""
        if text not in self._of.matches:
            self._of.matches[text] = self._of.graph._store.matching(text, limit)
        return self._of.matches[text]


class _Ranked(GraphRankings):
    def __init__(self, store: _Store) -> None:
        self._store, self._configured_embedder = store, None


@dataclass
class Collection:
    """A graph, its questions, and the reciprocal ranks of their answers by kind, weight and hops."""

    name: str
    graph: KnowledgeGraph
    most: int
    matches: dict[str, Mapping[str, float]] = field(default_factory=dict)

    @cached_property
    def nodes(self) -> Mapping[str, KnowledgeNode]:
        return {node.id: node for node in self.graph.nodes()}

    @cached_property
    def edges(self) -> Sequence[KnowledgeEdge]:
        return list(self.graph.edges())

    @cached_property
    def texts(self) -> Mapping[str, str]:
        described = ((id_, node.properties.get("description")) for id_, node in sorted(self.nodes.items()))
        return {id_: text for id_, text in described if isinstance(text, str) and self.nodes[id_].type in _ASKED}

    @cached_property
    def questions(self) -> Mapping[str, Sequence[Question]]:
        every = grouped((question.kind, question) for question in self._questions())
        draw = random.Random(0)  # noqa: S311  # no secret
        return {kind: draw.sample(asked, min(self.most, len(asked))) for kind, asked in every.items()}

    def _questions(self) -> Iterator[Question]:
        words = {id_: set(_WORD.findall(text.lower())) for id_, text in self.texts.items()}
        joined = grouped((end, edge.other(end)) for edge in self.edges for end in (edge.source, edge.target))
        known = {id_: frozenset(joined[id_]) | {id_} for id_ in words}
        ends = sorted({(edge.source, edge.target) for edge in self.edges if edge.type in _WRITTEN})
        links = [(one, other) for one, other in ends if one in words and other in words]
        yield from (Question("own", id_, id_) for id_ in words)
        for one, other in sorted({*links, *((other, one) for one, other in links)}):
            yield Question("hidden link", one, other, known[one] - {other}, hidden=True)
        onward = grouped(links)
        shared = {(one, other): len(words[one] & words[other]) for one, other in product(words, repeat=2)}
        twice = sorted({(one, middle, end) for one, middle in links for end in onward[middle] if end not in known[one]})
        apart = (pair for pair in twice if shared[pair[0], pair[2]] < min(shared[pair[:2]], shared[pair[1:]]))
        for one, end in sorted({(one, end) for one, _, end in apart}):
            yield Question("two hops", one, end, known[one])

    @cached_property
    def ranks(self) -> Mapping[tuple[str, float, int], Sequence[float]]:
        """The reciprocal ranks, 0 beyond the first 50 results."""
        return grouped(
            item for asked in self.questions.values() for question in asked for item in self._asked(question)
        )

    def _asked(self, question: Question) -> Iterator[tuple[tuple[str, float, int], float]]:
        apart = {question.asked, question.answer} if question.hidden else set()
        store = _Store(self, [edge for edge in self.edges if not apart or {edge.source, edge.target} != apart])
        for weight, hops in product(WEIGHTS, HOPS):
            search.WEIGHT = weight
            found = _Ranked(store).search(self.texts[question.asked], _DEPTH, mode=Mode.HYBRID, graph_hops=hops)
            ranked = [one.node.id for one in found if one.node.type in _ASKED and one.node.id not in question.unranked]
            rank = ranked.index(question.answer) + 1 if question.answer in ranked else None
            yield (question.kind, weight, hops), 1 / rank if rank else 0.0

    def mrr(self, kind: str, weight: float, hops: int) -> float:
        """Return the mean reciprocal rank."""
        return float(np.mean(self.ranks.get((kind, weight, hops), [0.0])))

    def recall(self, kind: str, weight: float, hops: int) -> float:
        """Return the share of answers among the first five."""
        return float(np.mean([rank >= 1 / 5 for rank in self.ranks.get((kind, weight, hops), [0.0])]))


def main() -> None:
    """Build the graphs, ask each with the weight chosen on the others, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--most", type=int, default=60, help="questions of a kind in a collection")
    given = parser.parse_args()
    name = f"bench-{uuid.uuid4().hex[:8]}"
    with HopRank.connect() as hoprank, Knowledge(name, client=hoprank.client) as knowledge:
        collections: list[Collection] = []
        try:
            for folder in sorted(path for path in given.data.glob("skills/*") if path.is_dir()):
                Skills(hoprank, f"{name}-{folder.name}").build(folder)
                collections.append(Collection(folder.name, hoprank.graph(f"{name}-{folder.name}"), given.most))
            for folder in sorted(path for path in given.data.glob("vault/*") if path.is_dir()):
                knowledge.add(folder.name, paths=[str(folder)])
                collections.append(Collection(folder.name, knowledge.graph(folder.name), given.most))
            table = _table(collections)
        finally:
            for graph in (collection.graph for collection in collections):
                graph.drop()
    Console(width=120).print(table)


def chosen(collections: Sequence[Collection]) -> float:
    """Return the weight with the best mean on these collections, of those that lose none of the kind ``own``."""
    harmless = [
        weight
        for weight in WEIGHTS
        if all(one.mrr("own", weight, hops) >= one.mrr("own", weight, 0) for one in collections for hops in HOPS)
    ]
    asked = [
        (one, kind, hops) for one in collections for kind in KINDS[1:] for hops in HOPS[1:] if kind in one.questions
    ]
    return max(harmless, key=lambda weight: sum(one.mrr(kind, weight, hops) for one, kind, hops in asked))


def _table(collections: Sequence[Collection]) -> Table:
    table = Table(title="hybrid: MRR and recall@5")
    for column in ("collection", "questions", "", "0 hops", "1 hop", "2 hops", "weight"):
        table.add_column(column)
    for one in collections:
        weight = chosen([other for other in collections if other is not one])
        for kind in (kind for kind in KINDS if kind in one.questions):
            figures = (f"{one.mrr(kind, weight, hops):.3f} {one.recall(kind, weight, hops):.3f}" for hops in HOPS)
            table.add_row(one.name, kind, str(len(one.questions[kind])), *figures, f"{weight}")
    table.caption = f"Chosen on all collections: weight {chosen(collections)}"
    return table


if __name__ == "__main__":
    main()
