"""De-duplication of a memory: plan, apply and undo on entities with embeddings, of which some are duplicates.

    uv run python tests/benchmarks/bench_memory_dedupe.py --entities 10000 --facts 30000

One entity in twenty is a variant of another: in other case, with other separators or with words such as "npm package",
and with a vector near the other's. Further ones differ from another by a number or a word only. Facts join random
entities; some have ended, some have expired. The graph before is compared with the one after, node by node and edge by
edge, with all embeddings.
"""

from __future__ import annotations

import argparse
import random
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from pipeline import HopRank, KnowledgeEdge, KnowledgeGraph, KnowledgeNode
from pipeline.domains.memory.dedupe.apply import apply, undo
from pipeline.domains.memory.dedupe.plan import Plan, plan
from pipeline.domains.memory.memory import journal_name
from pipeline.domains.memory.records import Entity, Fact
from pipeline.domains.memory.settings import MemorySettings
from pipeline.knowledge.exchange import read_graph

_WORDS = (
    "memory graph search index vector token cache query parser stream worker queue batch retry lease schema column "
    "driver session planner filter ranking cluster fusion storage journal snapshot merge branch commit deploy metric"
).split()
_TIMES = tuple(f"2026-{month:02}-01T00:00:00+00:00" for month in range(1, 11))
_DIMENSION = 384
_SHARE = 0.05

Contents = tuple[dict[str, KnowledgeNode], dict[str, KnowledgeEdge]]


def main() -> None:
    """Make a graph, merge its duplicates, undo it, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entities", type=int, default=10_000)
    parser.add_argument("--facts", type=int, default=30_000)
    given = parser.parse_args()
    table = Table(title=f"{given.entities:,} entities, {given.facts:,} facts")
    for column in ("what", "seconds", "found"):
        table.add_column(column, justify="left" if column == "what" else "right")
    with HopRank.connect() as hoprank, _graphs(hoprank) as (graph, journal):
        nodes, truth = _entities(given.entities)
        graph.add_nodes(nodes)
        graph.add_edges(_facts([node.id for node in nodes], given.facts))
        _measure(graph, journal, hoprank.settings.section(MemorySettings), truth, table)
    Console().print(table)


def _measure(
    graph: KnowledgeGraph, journal: KnowledgeGraph, settings: MemorySettings, truth: set[frozenset[str]], table: Table
) -> None:
    before = _contents(graph)
    seconds, made = _timed(lambda: plan(graph, settings))
    table.add_row("plan", f"{seconds:.1f}", f"{len(made.groups):,} groups, {len(made.review):,} for review")
    applied, done = _timed(lambda: apply(graph, journal, made))
    assert done
    table.add_row("apply", f"{applied:.1f}", f"{done.moved:,} edges moved, {done.folded:,} folded")
    table.add_row("plan and apply", f"{seconds + applied:.1f}", _quality(made, truth))
    table.add_row("a second plan", f"{_timed(lambda: plan(graph, settings))[0]:.1f}", "")
    undoing, undone = _timed(lambda: undo(graph, journal))
    equal = _contents(graph) == before
    table.add_row("undo", f"{undoing:.1f}", f"{len(undone.restored):,} restored; equal: {equal}")


def _quality(made: Plan, truth: set[frozenset[str]]) -> str:
    found = {frozenset((group.survivor, loser)) for group in made.groups for loser in group.losers}
    right = len(found & truth)
    return f"precision {right / max(1, len(found)):.3f}, recall {right / len(truth):.3f}"


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


@contextmanager
def _graphs(hoprank: HopRank) -> Iterator[tuple[KnowledgeGraph, KnowledgeGraph]]:
    name = f"bench-{uuid.uuid4().hex[:8]}"
    graphs = hoprank.graph(name), hoprank.graph(journal_name(name))
    try:
        yield graphs
    finally:
        for graph in graphs:
            graph.drop()


def _contents(graph: KnowledgeGraph) -> Contents:
    with TemporaryDirectory() as folder:
        path = Path(folder, "graph.jsonl")
        graph.export(path)
        nodes, edges = read_graph(path, None)
        return {node.id: node for node in nodes}, {edge.id: edge for edge in edges}


def _entities(count: int) -> tuple[list[KnowledgeNode], set[frozenset[str]]]:
    """Return the nodes of entities, and the pairs that are the same thing."""
    draw, vectors = random.Random(0), np.random.default_rng(0)  # noqa: S311  # no secret
    duplicates = int(count * _SHARE)
    kinds = ("library", "concept", "convention")
    entities: dict[str, Entity] = {}
    while len(entities) < count - 2 * duplicates:
        name = " ".join(draw.sample(_WORDS, 3)) + f" {draw.randrange(10_000)}"
        entity = Entity(name, draw.choice(kinds), mention_count=draw.randint(3, 9), created_at=draw.choice(_TIMES))
        entities[entity.id] = entity
    embeddings = {id_: vectors.standard_normal(_DIMENSION) for id_ in entities}
    truth = set()
    for number, original in enumerate(draw.sample(list(entities.values()), 2 * duplicates)):
        same = number < duplicates
        name = _variant(original, draw) if same else f"{original.name} {draw.randrange(10)}"
        other = Entity(name, original.type, created_at=draw.choice(_TIMES))
        entities[other.id] = other
        noise = 0.2 * vectors.standard_normal(_DIMENSION)
        embeddings[other.id] = embeddings[original.id] + noise
        if same:
            truth.add(frozenset((original.id, other.id)))
    return [entity.to_node(embeddings[id_].tolist()) for id_, entity in entities.items()], truth


def _variant(entity: Entity, draw: random.Random) -> str:
    ways: list[Callable[[str], str]] = [
        lambda name: name.title(),
        lambda name: name.replace(" ", "-"),
        lambda name: name.replace(" ", "_").upper(),
    ]
    if entity.type == "library":
        ways.append(lambda name: f"{name} npm package")
    return draw.choice(ways)(entity.name)


def _facts(ids: list[str], count: int) -> list[KnowledgeEdge]:
    draw = random.Random(1)  # noqa: S311  # no secret
    edges: dict[str, KnowledgeEdge] = {}
    while len(edges) < count:
        source, target = draw.sample(ids, 2)
        ended = draw.choice((None, None, _TIMES[4]))
        fact = Fact(
            source,
            "depends_on",
            target,
            valid_at=draw.choice((None, _TIMES[0])),
            invalid_at=ended,
            evidence=(f"text {len(edges)}",),
            created_at=draw.choice(_TIMES),
            expired_at=draw.choice((None, None, None, _TIMES[9])),
        )
        edges[fact.id] = fact.to_edge()
    return list(edges.values())


if __name__ == "__main__":
    main()
