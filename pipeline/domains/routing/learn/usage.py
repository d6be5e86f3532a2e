"""Judgements on answers, kept with the edges over which they came, and the weights that follow.

An edge with judgements has three more properties: ``usage``, the newest judgements, ``base``, the weight without them,
and ``learned``, the weight by them. If the edge's weight differs from ``learned``, somebody has set it, and it becomes
the base. The stored weight is that of the last change; :func:`refresh` brings all up to date. Each change is one
transaction; of two on the same edge at a time, the later wins.

A weight is a function of its base, the judgements, and the time. A judgement is a vote for or against the edge, which
decays by half each half-life. It counts as the inverse of the probability that an answer at its rank is looked at:
people look at few answers below the first, so a pick at rank 8 says more than one at rank 1. Votes of both kinds are
corrected alike, so the share of useful answers is estimated without the bias of the position. It is the posterior mean
of a Beta distribution: 0.5 without votes, and one vote moves it little. The factor on the base is 1 at a share of 0.5,
and nears ``HIGHEST`` and ``LOWEST`` at the extremes. Nothing is normalised over edges: one that rises takes nothing
from others.
"""

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from pipeline.domains.routing.project_graph import ProjectGraph
from pipeline.domains.routing.schema import EdgeKey, RelationType
from pipeline.errors import GraphError, InputError, did_you_mean
from pipeline.knowledge import KnowledgeEdge
from pipeline.retrieve.question import check_question

# Chosen by hand; a simulation holds that routing improves with them and settles, that one judgement moves little, and
# that wrong edges sink: tests/domains/routing/test_simulation.py.
HALF_LIFE = 60.0  # days in which a judgement loses half of its mass
_PRIOR = 12.0  # judgements that the base weight counts as: more make weights move less
LOWEST, HIGHEST = 0.25, 2.0  # least and greatest factor on the base weight
_POSITION = 0.5  # how fast attention falls with the rank: rank^-position; 0 corrects nothing
_CORRECTION = 3.0  # the most that a judgement at a low rank counts
KEPT = 200  # judgements that an edge keeps, the newest ones

_LONGEST_QUERY = 500
"""Characters of a question that are kept: enough to tell questions apart, with 200 on an edge. Chosen by hand."""

_JUDGED = {str(kind): kind for kind in RelationType if kind is not RelationType.DOMAIN}
"""The types of the edges over which answers come, by name."""


@dataclass(frozen=True, slots=True, order=True)
class Judgement:
    """A judgement on an answer at ``rank``, from 1; of those of one time, the other fields decide the order."""

    time: datetime
    useful: bool
    rank: int
    query: str

    def to_json(self) -> dict[str, Any]:
        """Return the fields as plain JSON values, as the edge keeps them."""
        return {"time": self.time.isoformat(), "query": self.query, "rank": self.rank, "useful": self.useful}


@dataclass(frozen=True, slots=True)
class LearnedWeight:
    """A weight and its explanation: ``weight`` is ``base`` times ``factor``.

    ``useful`` and ``useless`` are the decayed and corrected counts of judgements, ``share`` is the estimate of the
    share of useful answers, 0.5 without judgements. ``events`` are the judgements that count, newest first.
    """

    edge: EdgeKey
    base: float
    useful: float
    useless: float
    share: float
    factor: float
    weight: float
    events: tuple[Judgement, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the weight and its explanation as plain JSON values."""
        edge = {"source": self.edge.source, "type": str(self.edge.type), "target": self.edge.target}
        names = ("base", "useful", "useless", "share", "factor", "weight")
        return {
            **edge,
            **{name: getattr(self, name) for name in names},
            "events": [one.to_json() for one in self.events],
        }


def record_use(
    graph: ProjectGraph,
    query: str,
    source: str,
    project: str,
    rank: int,
    now: datetime,
    *,
    useful: bool = True,
    type: RelationType | None = None,  # noqa: A002 - the field's name
) -> list[LearnedWeight]:
    """Record the judgement on an answer to a question of the project ``source``; return the new weights of its edges.

    It goes to the edge of its type, by default to each between the two projects. Record only what somebody judged: that
    an answer was found says nothing. Raises GraphError if it came over no edge.
    """
    for name in (source, project):
        if graph.get_node(name) is None:
            raise graph.unknown(name)
    query = check_question(query)[:_LONGEST_QUERY]
    if rank < 1:
        raise InputError(f"The rank of an answer is {rank}.", "The first answer has the rank 1.")
    edges = _edges(graph)
    wanted = {EdgeKey.make(source, project, one) for one in ([type] if type else _JUDGED.values())}
    if wanted.isdisjoint(edges):
        missing = f"{source} has no relation {type.upper() if type else ''}".rstrip()
        raise GraphError(
            f"{missing} to {project}, which could learn from this.",
            f"Add one: hoprank route link {source} {(type or RelationType.USES).upper()} {project}.",
        )
    new = Judgement(now, useful, rank, query)
    return _write(graph, edges, {key: (*_events(edge), new) for key, edge in edges.items() if key in wanted}, now)


def explain(graph: ProjectGraph, key: EdgeKey, now: datetime) -> LearnedWeight:
    """Return the weight of an edge at ``now``, and the judgements that it follows from; raises GraphError."""
    edge = _edge(_edges(graph), key)
    return learned_weight(key, _base(edge), _events(edge), now)


def forget(
    graph: ProjectGraph, now: datetime, *, key: EdgeKey | None = None, since: datetime | None = None
) -> list[LearnedWeight]:
    """Forget the judgements since a time on an edge, by default on all; return new weights of edges that had some."""
    edges = _edges(graph)
    chosen = edges if key is None else {key: _edge(edges, key)}
    before = {one: _events(edge) for one, edge in chosen.items()}
    left = {one: tuple(event for event in events if since and event.time < since) for one, events in before.items()}
    changed = {one: events for one, events in left.items() if len(events) < len(before[one])}
    return _write(graph, edges, changed, now)


def refresh(graph: ProjectGraph, now: datetime) -> list[LearnedWeight]:
    """Bring the weights of all edges with judgements up to date, since judgements decay; return those weights."""
    edges = _edges(graph)
    return _write(graph, edges, {key: _events(edge) for key, edge in edges.items() if "usage" in edge.properties}, now)


def _write(
    graph: ProjectGraph,
    edges: Mapping[EdgeKey, KnowledgeEdge],
    events: Mapping[EdgeKey, Sequence[Judgement]],
    now: datetime,
) -> list[LearnedWeight]:
    """Give edges these judgements, each once and the newest alone, and the weights that follow; return the weights."""
    weights, changed = [], []
    for key, judged in events.items():
        edge, kept = edges[key], sorted(set(judged))[-KEPT:]
        learned = learned_weight(key, _base(edge), kept, now)
        weights.append(learned)
        ours = ("base", "usage", "learned")
        properties = {name: value for name, value in edge.properties.items() if name not in ours}
        if kept:
            usage = [event.to_json() for event in kept]
            properties |= {"base": learned.base, "usage": usage, "learned": learned.weight}
        after = dataclasses.replace(edge, weight=learned.weight, properties=properties)
        if after != edge:
            changed.append(after)
    if changed:
        graph.graph.add_edges(changed, replace=True)
    return weights


def _base(edge: KnowledgeEdge) -> float:
    base, learned = edge.properties.get("base"), edge.properties.get("learned")
    return float(base) if isinstance(base, int | float) and learned == edge.weight else edge.weight


def _events(edge: KnowledgeEdge) -> tuple[Judgement, ...]:
    usage: Any = edge.properties.get("usage", ())
    return tuple(Judgement(**{**one, "time": datetime.fromisoformat(one["time"])}) for one in usage)


def _edges(graph: ProjectGraph) -> dict[EdgeKey, KnowledgeEdge]:
    """Return the edges between projects, in order of their ids."""
    found = sorted((edge for edge in graph.graph.edges() if edge.type in _JUDGED), key=lambda edge: edge.id)
    return {EdgeKey.make(edge.source, edge.target, _JUDGED[edge.type]): edge for edge in found}


def _edge(edges: Mapping[EdgeKey, KnowledgeEdge], key: EdgeKey) -> KnowledgeEdge:
    if key not in edges:
        fix = did_you_mean(str(key), map(str, edges), "`hoprank graph edges GRAPH` lists the relations.")
        raise GraphError(f"There is no relation {key}.", fix)
    return edges[key]


def learned_weight(edge: EdgeKey, base: float, events: Iterable[Judgement], now: datetime) -> LearnedWeight:
    """Return the weight of an edge at ``now``, explained; the order of ``events`` doesn't matter.

    A question that was judged repeatedly counts once, by its newest judgement: repeating it strengthens nothing.
    """
    newest = {event.query: event for event in sorted(events)}
    counted = tuple(sorted(newest.values(), reverse=True))
    useful, useless = (
        math.fsum(_mass(event, now) for event in counted if event.useful is wanted) for wanted in (True, False)
    )
    share = (_PRIOR / 2 + useful) / (_PRIOR + useful + useless)
    # 1 at a share of 0.5, ``HIGHEST`` at 1, ``LOWEST`` at 0.
    factor = float((HIGHEST if share >= 0.5 else 1 / LOWEST) ** (2 * share - 1))
    return LearnedWeight(edge, base, useful, useless, share, factor, base * factor, counted)


def _mass(event: Judgement, now: datetime) -> float:
    """Return how much a judgement counts at ``now``; one from the future counts as one of now."""
    age = max(0.0, (now - event.time) / timedelta(days=1))
    return float(min(event.rank**_POSITION, _CORRECTION) * 0.5 ** (age / HALF_LIFE))
