"""SIBLING: projects that are about the same domains, of which rare ones count more."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from pipeline.domains.routing.learn.evidence import MOST_CERTAIN
from pipeline.domains.routing.learn.records import Proposal
from pipeline.domains.routing.records import Project, Relation
from pipeline.domains.routing.schema import RelationType

_COMMON = 0.5
"""Share of the projects above which a domain says nothing of those that share it."""


def siblings(projects: Sequence[Project]) -> list[Proposal]:
    """Return a proposal for each two projects that share a domain which at most half of all projects have.

    The weight is the Jaccard index of the domains, each weighted by the logarithm of its rarity. The confidence is
    lower than that with few shared domains, which may be shared by chance.
    """
    domains = {one.id: frozenset(domain.casefold() for domain in one.domains) for one in projects}
    counts = Counter(domain for held in domains.values() for domain in held)
    rarity = {domain: math.log((len(domains) + 1) / count) for domain, count in counts.items()}
    common = {domain for domain, count in counts.items() if count > max(2, _COMMON * len(domains))}
    return list(_pairs(domains, rarity, common, counts))


def _pairs(
    domains: Mapping[str, frozenset[str]], rarity: Mapping[str, float], common: set[str], counts: Mapping[str, int]
) -> Iterator[Proposal]:
    for first, second in combinations(sorted(domains), 2):
        shared = domains[first] & domains[second]
        if shared - common:
            # sorted, so that the sums don't depend on the order of a set
            mass = math.fsum(rarity[domain] for domain in shared)
            weight = min(1.0, mass / math.fsum(rarity[domain] for domain in domains[first] | domains[second]))
            confidence = min(MOST_CERTAIN, weight * (1 - math.exp(-mass)))
            yield _proposal(first, second, weight, confidence, shared, counts, len(domains))


def _proposal(
    first: str,
    second: str,
    weight: float,
    confidence: float,
    shared: frozenset[str],
    counts: Mapping[str, int],
    projects: int,
) -> Proposal:
    rarest = sorted(shared, key=lambda domain: (counts[domain], domain))
    evidence = tuple(f"both are about {domain}, as {counts[domain]} of {projects} projects" for domain in rarest)
    relation = Relation(first, second, RelationType.SIBLING, round(weight, 3), evidence=f"both: {', '.join(rarest)}")
    return Proposal(relation, round(confidence, 3), evidence, "domains")
