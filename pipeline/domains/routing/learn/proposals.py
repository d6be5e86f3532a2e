"""Proposals of relations: detected in files, notes and domains, then accepted or rejected.

A project's node keeps the ids of its rejected proposals as the property ``rejected``.
"""

import dataclasses
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.domains.routing.learn.clues import LOG, MOST_CERTAIN, Clue, Proposal, proposals_of
from pipeline.domains.routing.learn.files import project_files
from pipeline.domains.routing.learn.learns_from import learning_clues
from pipeline.domains.routing.learn.log import Entry
from pipeline.domains.routing.learn.names import ProjectNames
from pipeline.domains.routing.learn.notes import Sources
from pipeline.domains.routing.learn.tests_with import history_clues, script_clues
from pipeline.domains.routing.learn.together import asking_clues, opening_clues
from pipeline.domains.routing.learn.uses import use_clues
from pipeline.domains.routing.project_graph import ProjectGraph
from pipeline.domains.routing.schema import EdgeKey, Project, Relation, RelationType
from pipeline.errors import InputError, did_you_mean
from pipeline.grouping import grouped
from pipeline.knowledge import KnowledgeNode
from pipeline.records import Skipped

_REJECTED = "rejected"

_COMMON = 0.5
"""Share of the projects above which a domain makes no siblings. Chosen by hand: half of all projects aren't close."""


class Decisions(NamedTuple):
    """Proposals by what became of them; ``unassigned`` are files of notes that name no project.

    ``skipped`` are files and lines of notes that can't be read.
    """

    accepted: tuple[Proposal, ...]
    rejected: tuple[Proposal, ...]
    open: tuple[Proposal, ...]
    unassigned: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()

    def to_json(self) -> list[dict[str, Any]]:
        """Return the proposals as plain JSON values, each with its state."""
        states = {"accepted": self.accepted, "rejected": self.rejected, "open": self.open}
        return [
            {
                "id": one.id,
                "state": state,
                "source": one.relation.source,
                "type": str(one.relation.type),
                "target": one.relation.target,
                "confidence": one.confidence,
                "detector": one.detector,
                "evidence": list(one.evidence),
            }
            for state, proposals in states.items()
            for one in proposals
        ]


def propose(
    graph: ProjectGraph,
    sources: Sources | None = None,
    *,
    least: float = 0.3,  # as routing.proposed
    rejected: bool = False,
    done: Callable[[int], None] = lambda _: None,
) -> list[Proposal]:
    """Return proposals of at least the confidence ``least`` that the graph lacks, in the order of :func:`detect`.

    Rejected ones are left out; with ``rejected`` they alone are returned. ``done`` is called for each project read.
    """
    known = {EdgeKey.of(relation).id for relation in graph.get_edges()}
    refused = {id_ for node in graph.graph.nodes() for id_ in _rejected_of(node)}
    found = [one for one in detect(graph.list_nodes(), sources or Sources(), done) if one.id not in known]
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
    """Accept and reject proposals by id; with ``sure`` also accept all others of at least that confidence.

    Raises InputError for an unknown id, or one in both lists; nothing is changed then.
    """
    accepting, rejecting = _chosen(proposals, accepted), _chosen(proposals, rejected)
    both = next((one for one in accepting if one in rejecting), None)
    if both:
        raise InputError(f"The proposal {both.id!r} can't be accepted and rejected.", "Give its id once.")
    if sure is not None:
        taken = (*accepting, *rejecting)
        accepting += [one for one in proposals if one.confidence >= sure and one not in taken]
    accept(graph, accepting, now)
    _remember(graph, rejecting, rejected=True)
    return Decisions(
        tuple(accepting), tuple(rejecting), tuple(one for one in proposals if one not in accepting + rejecting)
    )


def accept(graph: ProjectGraph, proposals: Iterable[Proposal], now: datetime) -> None:
    """Add the relations of some proposals to the graph, and forget that they were rejected."""
    if accepted := list(proposals):
        graph.add_edges(dataclasses.replace(one.relation, created=now.isoformat()) for one in accepted)
        _remember(graph, accepted, rejected=False)


def _chosen(proposals: Sequence[Proposal], ids: Iterable[str]) -> list[Proposal]:
    by_id = {one.id: one for one in proposals}
    ids = list(dict.fromkeys(ids))
    for id_ in ids:
        if id_ not in by_id:
            otherwise = "List the proposals with the same --notes, and give one of their ids."
            raise InputError(f"There is no proposal {id_!r}.", did_you_mean(id_, by_id, otherwise))
    return [by_id[id_] for id_ in ids]


def _remember(graph: ProjectGraph, proposals: Sequence[Proposal], *, rejected: bool) -> None:
    by_project = grouped((one.relation.source, one.id) for one in proposals)
    for node in graph.graph.get_nodes(list(by_project)):
        before, ids = _rejected_of(node), set(by_project[node.id])
        after = before | ids if rejected else before - ids
        if after != before:
            graph.graph.update_node(node.id, properties={_REJECTED: sorted(after)})


def _rejected_of(node: KnowledgeNode) -> set[str]:
    ids: Any = node.properties.get(_REJECTED, ())
    return set(ids)


def detect(
    projects: Sequence[Project], sources: Sources, done: Callable[[int], None] = lambda _: None
) -> list[Proposal]:
    """Return the proposals of all detectors, the most confident first, then by source, target and type.

    ``done`` is called for each project whose files were read. A project without files can only be a target.
    """
    names = ProjectNames(projects)
    tests = history_clues(sources.notes, names)
    log = _within(sources.log, {project.id for project in projects})
    found = _joined(siblings(projects), opening_clues(log))
    noted, asked = learning_clues(sources.notes, names), asking_clues(log)
    for source in noted.keys() | asked.keys():
        clues = [*noted.get(source, ()), *asked.get(source, ())]
        found += proposals_of(source, RelationType.LEARNS_FROM, clues, "mentions")
    for project in projects:
        files = list(project_files(Path(project.path))) if project.path else []
        found += proposals_of(project.id, RelationType.USES, use_clues(project.id, files, names), "imports")
        commands = [*script_clues(project.id, files, names), *tests.get(project.id, ())]
        found += proposals_of(project.id, RelationType.TESTS_WITH, commands, "commands")
        done(1)
    return sorted(found, key=_rank)


def _rank(proposal: Proposal) -> tuple[float, bool, str, str, str]:
    # Where the log alone is as certain as a file, the file comes first.
    one = proposal.relation
    return -proposal.confidence, proposal.detector == LOG, one.source, one.target, one.type


def _within(entries: Iterable[Entry], projects: set[str]) -> list[Entry]:
    """Return the entries without what they say of projects that are gone."""
    return [
        dataclasses.replace(
            one,
            opened=one.opened if one.opened in projects else "",
            asked=tuple(sorted(projects.intersection(one.asked))),
        )
        for one in entries
    ]


def _joined(domains: Iterable[Proposal], opened: Mapping[tuple[str, str], Clue]) -> list[Proposal]:
    """Return the siblings by their domains, by the log, and by both, which are more certain."""
    found = {(one.relation.source, one.relation.target): one for one in domains}
    for pair, clue in opened.items():
        if one := found.get(pair):
            certain = min(MOST_CERTAIN, 1 - (1 - one.confidence) * (1 - clue.strength))
            found[pair] = dataclasses.replace(one, confidence=round(certain, 3), evidence=(*one.evidence, clue.text))
        else:
            (found[pair],) = proposals_of(pair[0], RelationType.SIBLING, [clue], LOG)
    return list(found.values())


def siblings(projects: Sequence[Project]) -> list[Proposal]:
    """Return a SIBLING for each two projects that share a domain which at most ``_COMMON`` of all projects have.

    The weight is the Jaccard index of their domains, weighted by inverse document frequency. The confidence is lower
    than that if few domains are shared, which may be by chance.
    """
    domains = {one.id: frozenset(domain.casefold() for domain in one.domains) for one in projects}
    counts = Counter(domain for names in domains.values() for domain in names)
    rarity = {domain: math.log((len(domains) + 1) / count) for domain, count in counts.items()}
    common = {domain for domain, count in counts.items() if count > max(2, _COMMON * len(domains))}
    proposals = []
    for first, second in combinations(sorted(domains), 2):
        shared = sorted(domains[first] & domains[second], key=lambda domain: (counts[domain], domain))
        if not common.issuperset(shared):
            mass = math.fsum(rarity[domain] for domain in shared)
            weight = min(1.0, mass / math.fsum(rarity[domain] for domain in domains[first] | domains[second]))
            confidence = min(MOST_CERTAIN, weight * (1 - math.exp(-mass)))
            evidence = f"both: {', '.join(shared)}"
            relation = Relation(first, second, RelationType.SIBLING, round(weight, 3), evidence=evidence)
            pieces = (f"both are about {one}, as {counts[one]} of {len(domains)} projects" for one in shared)
            proposals.append(Proposal(relation, round(confidence, 3), tuple(pieces), "domains"))
    return proposals
