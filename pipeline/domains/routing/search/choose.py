"""Choosing the projects to search: as few as hold most of the evidence, and more if these answer poorly."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.domains.routing.search.records import Evidence


def choose(evidence: Sequence[Evidence], coverage: float, most: int) -> list[Evidence]:
    """Return the first projects whose shares add up to ``coverage``, at most ``most``; ``evidence`` is in order."""
    chosen: list[Evidence] = []
    for one in evidence:
        if len(chosen) == most or sum(other.share for other in chosen) >= coverage:
            break
        chosen.append(one)
    return chosen


def widen(evidence: Sequence[Evidence], chosen: Sequence[Evidence], margin: float) -> tuple[list[Evidence], str]:
    """Return the chosen projects, and one more with the reason if its passages are much nearer to the question.

    Relations and names may lead to projects that know nothing of the question. They are searched nevertheless, but the
    project with the nearest passage is searched too if its cosine exceeds theirs by more than ``margin``.
    """
    best = max(chosen, key=lambda one: one.cosine)
    nearest = max(evidence, key=lambda one: (one.cosine, one.project.id))
    if nearest.cosine <= best.cosine + margin:
        return list(chosen), ""
    names = ", ".join(one.project.id for one in chosen)
    reason = (
        f"the nearest passage of {names} has the cosine {best.cosine:.2f}, that of {nearest.project.id}"
        f" {nearest.cosine:.2f}"
    )
    return sorted([*chosen, nearest], key=evidence.index), reason
