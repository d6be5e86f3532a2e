"""Proposals of relations: those that a graph lacks, to accept or to reject. Rejected ones are remembered.

A project's node keeps the ids of its rejected proposals as the property ``rejected``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from pipeline.domains.routing.graph import ProjectGraph
from pipeline.domains.routing.learn.detect import detect
from pipeline.domains.routing.learn.notes import Sources
from pipeline.domains.routing.learn.records import EdgeKey, Proposal
from pipeline.errors import InputError, did_you_mean

_REJECTED = "rejected"
_NO_SOURCES = Sources()


class Decisions(NamedTuple):
    """Proposals by what became of them."""

    accepted: tuple[Proposal, ...]
    rejected: tuple[Proposal, ...]
    open: tuple[Proposal, ...]


def propose(
    graph: ProjectGraph,
    sources: Sources = _NO_SOURCES,
    *,
    least: float = 0.3,
    rejected: bool = False,
    done: Callable[[int], None] = lambda _: None,
) -> list[Proposal]:
    """Return the relations that files speak for with at least the confidence ``least``, and that the graph lacks.

    The most probable comes first. Those that were rejected are left out, or returned alone with ``rejected``. ``done``
    is called for each project whose files were read.
    """
    known = {EdgeKey.of(relation).id for relation in graph.get_edges()}
    refused = rejected_ids(graph)
    found = [one for one in detect(graph.list_nodes(), sources, done) if one.id not in known]
    return [one for one in found if one.confidence >= least and (one.id in refused) is rejected]


def decide(
    graph: ProjectGraph,
    proposals: Sequence[Proposal],
    now: datetime,
    *,
    accepted: Iterable[str] = (),
    rejected: Iterable[str] = (),
    sure: float | None = None,
) -> Decisions:
    """Accept and reject the proposals with some ids; with ``sure`` also accept all others of at least that confidence.

    Raises InputError, before anything is changed, naming an id that no proposal has or that is in both lists.
    """
    accepting, rejecting = _chosen(proposals, accepted), _chosen(proposals, rejected)
    both = next((one for one in accepting if one in rejecting), None)
    if both:
        raise InputError(f"The proposal {both.id!r} can't be accepted and rejected.", "Give its id once.")
    if sure is not None:
        taken = (*accepting, *rejecting)
        accepting += [one for one in proposals if one.confidence >= sure and one not in taken]
    accept(graph, accepting, now)
    reject(graph, rejecting)
    return Decisions(
        tuple(accepting), tuple(rejecting), tuple(one for one in proposals if one not in accepting + rejecting)
    )


def accept(graph: ProjectGraph, proposals: Iterable[Proposal], now: datetime) -> None:
    """Add the relations of some proposals to the graph, and forget that they were rejected."""
    accepted = list(proposals)
    for one in accepted:
        graph.add_edge(dataclasses.replace(one.relation, created=now.isoformat()))
    _remember(graph, accepted, rejected=False)


def reject(graph: ProjectGraph, proposals: Iterable[Proposal]) -> None:
    """Remember that some proposals are wrong, so that they are not made again."""
    _remember(graph, list(proposals), rejected=True)


def rejected_ids(graph: ProjectGraph) -> set[str]:
    """Return the ids of the proposals that were rejected."""
    return {id_ for project in graph.list_nodes() for id_ in _rejected_of(graph, project.id)}


def _chosen(proposals: Sequence[Proposal], ids: Iterable[str]) -> list[Proposal]:
    by_id = {one.id: one for one in proposals}
    ids = list(dict.fromkeys(ids))
    for id_ in ids:
        if id_ not in by_id:
            otherwise = "List the proposals with the same --notes, and give one of their ids."
            raise InputError(f"There is no proposal {id_!r}.", did_you_mean(id_, by_id, otherwise))
    return [by_id[id_] for id_ in ids]


def _remember(graph: ProjectGraph, proposals: Sequence[Proposal], *, rejected: bool) -> None:
    by_project: dict[str, set[str]] = {}
    for one in proposals:
        by_project.setdefault(one.relation.source, set()).add(one.id)
    for project, ids in by_project.items():
        before = _rejected_of(graph, project)
        after = before | ids if rejected else before - ids
        if after != before:
            graph.graph.update_node(project, properties={_REJECTED: sorted(after)})


def _rejected_of(graph: ProjectGraph, project: str) -> set[str]:
    node = graph.graph.get_node(project)
    ids: Any = node.properties.get(_REJECTED, ()) if node else ()
    return set(ids)
