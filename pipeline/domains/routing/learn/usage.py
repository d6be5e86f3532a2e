"""Judgements on answers, kept with the edges over which they came, and the weights that follow.

An edge with judgements has three more properties: ``usage``, the newest judgements (``routing.kept``), ``base``, the
weight without them, and ``learned``, the weight by them. If the edge's weight differs from ``learned``, somebody has
set it, and it becomes the base. The stored weight is that of the last change; :func:`refresh` brings all up to date.
Each change is one transaction; of two on the same edge at a time, the later wins.

A weight is a function of its base, the judgements, and the time. A judgement is a vote for or against the edge, which
decays by half each half-life. It counts as the inverse of the probability that an answer at its rank is looked at:
people look at few answers below the first, so a pick at rank 8 says more than one at rank 1. Votes of both kinds are
corrected alike, so the share of useful answers is estimated without the bias of the position. It is the posterior mean
of a Beta distribution: 0.5 without votes, and one vote moves it little. The factor on the base is 1 at a share of 0.5,
and nears ``highest`` and ``lowest`` at the extremes. Nothing is normalised over edges: one that rises takes nothing
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
from pipeline.domains.routing.settings import RoutingSettings
from pipeline.errors import GraphError, InputError, did_you_mean
from pipeline.knowledge import KnowledgeEdge
from pipeline.retrieve.question import check_question

_LONGEST_QUERY = 500
"""Characters of a question that are kept: enough to tell questions apart, with 200 on an edge. Chosen by hand."""


@dataclass(frozen=True, slots=True)
class EdgeUsage:
    """A judgement on an answer that came over an edge; ``rank`` is that of the answer, from 1."""

    edge: EdgeKey
    query: str
    rank: int
    useful: bool
    time: datetime


@dataclass(frozen=True, slots=True)
class UsedAnswer:
    """A judged answer: its project, its rank, and the type of the edge that led there, None for any."""

    project: str
    rank: int
    useful: bool = True
    type: RelationType | None = None


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
    events: tuple[EdgeUsage, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the weight and its explanation as plain JSON values."""
        edge = {"source": self.edge.source, "type": str(self.edge.type), "target": self.edge.target}
        names = ("base", "useful", "useless", "share", "factor", "weight")
        return {**edge, **{name: getattr(self, name) for name in names}, "events": list(map(_stored, self.events))}


def record_use(
    graph: ProjectGraph, query: str, source: str, answer: UsedAnswer, settings: RoutingSettings, now: datetime
) -> list[LearnedWeight]:
    """Record the judgement on an answer to a question of the project ``source``; return the new weights of its edges.

    It goes to the edge of its type, by default to each between the two projects. Record only what somebody judged: that
    an answer was found says nothing. Raises GraphError if it came over no edge.
    """
    for project in (source, answer.project):
        if graph.get_node(project) is None:
            known = [one.id for one in graph.list_nodes()]
            raise GraphError(
                f"There is no project {project!r}.", did_you_mean(project, known, "Add it to the registry.")
            )
    query = check_question(query)[:_LONGEST_QUERY]
    if answer.rank < 1:
        raise InputError(f"The rank of an answer is {answer.rank}.", "The first answer has the rank 1.")
    edges = _edges(graph)
    types = [answer.type] if answer.type else [one for one in RelationType if one is not RelationType.DOMAIN]
    wanted = {EdgeKey.make(source, answer.project, one) for one in types}
    if wanted.isdisjoint(edges):
        missing = f"{source} has no relation {answer.type.upper() if answer.type else ''}".rstrip()
        raise GraphError(
            f"{missing} to {answer.project}, which could learn from this.",
            f"Add one: hoprank route link {source} {(answer.type or RelationType.USES).upper()} {answer.project}.",
        )
    events = {
        key: (*_events(edge, key), EdgeUsage(key, query, answer.rank, answer.useful, now))
        for key, edge in edges.items()
        if key in wanted
    }
    return _write(graph, edges, events, settings, now)


def explain(graph: ProjectGraph, key: EdgeKey, settings: RoutingSettings, now: datetime) -> LearnedWeight:
    """Return the weight of an edge at ``now``, and the judgements that it follows from; raises GraphError."""
    edge = _edge(_edges(graph), key)
    return learned_weight(key, _base(edge), _events(edge, key), now, settings)


def forget(
    graph: ProjectGraph,
    settings: RoutingSettings,
    now: datetime,
    *,
    key: EdgeKey | None = None,
    since: datetime | None = None,
) -> list[LearnedWeight]:
    """Forget the judgements since a time on an edge, by default on all; return new weights of edges that had some."""
    edges = _edges(graph)
    chosen = edges if key is None else {key: _edge(edges, key)}
    before = {one: _events(edge, one) for one, edge in chosen.items()}
    left = {one: tuple(event for event in events if since and event.time < since) for one, events in before.items()}
    changed = {one: events for one, events in left.items() if len(events) < len(before[one])}
    return _write(graph, edges, changed, settings, now)


def refresh(graph: ProjectGraph, settings: RoutingSettings, now: datetime) -> list[LearnedWeight]:
    """Bring the weights of all edges with judgements up to date, since judgements decay; return those weights."""
    edges = _edges(graph)
    judged = {key: _events(edge, key) for key, edge in edges.items() if "usage" in edge.properties}
    return _write(graph, edges, judged, settings, now)


def _write(
    graph: ProjectGraph,
    edges: Mapping[EdgeKey, KnowledgeEdge],
    events: Mapping[EdgeKey, Sequence[EdgeUsage]],
    settings: RoutingSettings,
    now: datetime,
) -> list[LearnedWeight]:
    """Give edges these judgements, each once and the newest alone, and the weights that follow; return the weights."""
    weights, changed = [], []
    for key, judged in events.items():
        edge = edges[key]
        in_time = sorted(set(judged), key=lambda event: (event.time, event.query, event.rank, event.useful))
        kept = in_time[-settings.kept :]
        learned = learned_weight(key, _base(edge), kept, now, settings)
        weights.append(learned)
        ours = ("base", "usage", "learned")
        properties = {name: value for name, value in edge.properties.items() if name not in ours}
        if kept:
            usage = [_stored(event) for event in kept]
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


def _events(edge: KnowledgeEdge, key: EdgeKey) -> tuple[EdgeUsage, ...]:
    usage: Any = edge.properties.get("usage", ())
    return tuple(
        EdgeUsage(key, one["query"], one["rank"], one["useful"], datetime.fromisoformat(one["time"])) for one in usage
    )


def _stored(event: EdgeUsage) -> dict[str, Any]:
    return {"time": event.time.isoformat(), "query": event.query, "rank": event.rank, "useful": event.useful}


def _edges(graph: ProjectGraph) -> dict[EdgeKey, KnowledgeEdge]:
    """Return the edges between projects, in order of their ids."""
    types = {str(one): one for one in RelationType if one is not RelationType.DOMAIN}
    found = sorted((edge for edge in graph.graph.edges() if edge.type in types), key=lambda edge: edge.id)
    return {EdgeKey.make(edge.source, edge.target, types[edge.type]): edge for edge in found}


def _edge(edges: Mapping[EdgeKey, KnowledgeEdge], key: EdgeKey) -> KnowledgeEdge:
    if key not in edges:
        fix = did_you_mean(str(key), map(str, edges), "`hoprank graph edges GRAPH` lists the relations.")
        raise GraphError(f"There is no relation {key}.", fix)
    return edges[key]


def learned_weight(
    edge: EdgeKey, base: float, events: Iterable[EdgeUsage], now: datetime, settings: RoutingSettings
) -> LearnedWeight:
    """Return the weight of an edge at ``now``, explained; the order of ``events`` doesn't matter.

    A question that was judged repeatedly counts once, by its newest judgement: repeating it strengthens nothing.
    """
    newest = {event.query: event for event in sorted(events, key=_order)}
    counted = tuple(sorted(newest.values(), key=_order, reverse=True))
    useful, useless = (
        math.fsum(vote(event, now, settings) for event in counted if event.useful is wanted) for wanted in (True, False)
    )
    share = (settings.prior / 2 + useful) / (settings.prior + useful + useless)
    # 1 at a share of 0.5, ``highest`` at 1, ``lowest`` at 0.
    bound = settings.highest if share >= 0.5 else 1 / settings.lowest
    factor = float(bound ** (2 * share - 1))
    return LearnedWeight(edge, base, useful, useless, share, factor, base * factor, counted)


def vote(event: EdgeUsage, now: datetime, settings: RoutingSettings) -> float:
    """Return the mass of a judgement at ``now``; one from the future counts as one of now."""
    age = max(0.0, (now - event.time) / timedelta(days=1))
    correction = min(event.rank**settings.position, settings.correction)
    return float(correction * 0.5 ** (age / settings.half_life))


def _order(event: EdgeUsage) -> tuple[datetime, bool, int, str]:
    # Two judgements may have the same time: the other fields order them, whatever order they come in.
    return event.time, event.useful, event.rank, event.query
