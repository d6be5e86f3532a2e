"""Groups: entities that become one, the transitive closure of automatic candidates without contradictions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace

from pipeline.domains.memory.dedupe.candidates import Candidate

Contradicts = Callable[[str, str], str]
"""A function that returns why two entities, given by id, can't be the same thing; "" if they can."""


def group_candidates(
    candidates: Sequence[Candidate], contradicts: Contradicts
) -> tuple[list[tuple[str, ...]], list[Candidate]]:
    """Return the groups, each by the ids of its members in order, and the candidates that are left for review.

    An automatic candidate is left if one of its two has another candidate that contradicts the other: J. Doe may be
    John or Jane. The others are joined, the strongest first, unless any two members would contradict.
    """
    near: dict[str, set[str]] = defaultdict(set)
    for candidate in candidates:
        if candidate.automatic:
            near[candidate.first].add(candidate.second)
            near[candidate.second].add(candidate.first)
    group_of: dict[str, frozenset[str]] = {id_: frozenset((id_,)) for id_ in near}
    review = []
    for candidate in sorted(candidates, key=_strongest_first):
        if not candidate.automatic:
            review.append(candidate)
            continue
        first, second = candidate.pair
        if against := _ambiguity(first, second, near, contradicts) or _conflict(
            group_of[first], group_of[second], contradicts
        ):
            review.append(replace(candidate, against=(*candidate.against, against), automatic=False))
            continue
        joined = group_of[first] | group_of[second]
        group_of.update(dict.fromkeys(joined, joined))
    groups = sorted({tuple(sorted(group)) for group in group_of.values() if len(group) > 1})
    return groups, review


def _strongest_first(candidate: Candidate) -> tuple[float, float, str, str]:
    return -candidate.strength, -(candidate.cosine or 0.0), candidate.first, candidate.second


def _ambiguity(first: str, second: str, near: dict[str, set[str]], contradicts: Contradicts) -> str:
    for one, other in ((first, second), (second, first)):
        for third in sorted(near[one] - {other}):
            if contradicts(other, third):
                return f"{one} may be {third} instead"
    return ""


def _conflict(group: frozenset[str], other: frozenset[str], contradicts: Contradicts) -> str:
    if group == other:
        return ""
    for one in sorted(group):
        for two in sorted(other):
            if reason := contradicts(one, two):
                return f"it would join {one} with {two}: {reason}"
    return ""
