"""Routes: the mode of a routed search, the evidence for projects, and the choice of those that are searched."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from pipeline.domains.routing.project_graph import domain_name
from pipeline.domains.routing.schema import Project, Relation, RelationType


class Mode(StrEnum):
    """The projects that are searched: all, those named by the caller, or those that the graph chooses."""

    ALL = "all"
    ORACLE = "oracle"
    GRAPH = "graph"


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence that a project answers a question.

    ``cosine`` is that of its chunk nearest to the question, ``relation`` the strongest relation by which the asking
    project leads to it, if any, ``hops`` edges away; ``terms`` are its names and domains that the question contains.
    ``score`` is the sum of all, in natural logarithms, and ``share`` the probability that follows from it.
    """

    project: Project
    cosine: float
    relation: Relation | None = None
    hops: int = 0
    terms: tuple[str, ...] = ()
    score: float = 0.0
    share: float = 0.0

    def reasons(self) -> list[str]:
        """Return the reasons for the project, strongest first, in words."""
        reasons = []
        if (relation := self.relation) and self.hops:
            away = "" if self.hops == 1 else f", {self.hops} edges away"
            because = f": {relation.evidence}" if relation.evidence else ""
            way = f"{relation.source} {relation.type} {relation.target}{away}{because}"
            if relation.type is RelationType.DOMAIN:
                way = f"{relation.source} is about {domain_name(relation.target)} too{away}"
            reasons.append(way)
        if self.terms:
            reasons.append(f"the question names {', '.join(self.terms)}")
        return [*reasons, f"a passage has the cosine {self.cosine:.2f}"]


@dataclass(frozen=True, slots=True)
class Route:
    """The projects to search, best first, out of ``considered``; all have a corpus.

    ``unindexed`` are projects without a corpus that can be searched, each with the reason. ``widened`` says why more
    projects are searched than the evidence had chosen, empty if not.
    """

    mode: Mode
    source: str
    chosen: tuple[Evidence, ...]
    considered: tuple[Evidence, ...]
    unindexed: Mapping[str, str]
    widened: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the route as plain JSON values, as the metadata of a result hold it."""
        return {
            "mode": str(self.mode),
            "from": self.source or None,
            "searched": [
                {
                    "project": one.project.id,
                    "corpus": one.project.corpus,
                    "share": one.share,
                    "relation": asdict(one.relation) if one.relation else None,
                    "reasons": one.reasons(),
                }
                for one in self.chosen
            ],
            "passed_over": [one.project.id for one in self.considered if one not in self.chosen],
            "unindexed": dict(self.unindexed),
            "widened": self.widened or None,
        }


def choose(evidence: Sequence[Evidence], coverage: float, most: int) -> list[Evidence]:
    """Return the first projects whose shares add up to ``coverage``, at most ``most``; ``evidence`` is in order."""
    shares = [one.share for one in evidence]
    return [one for place, one in enumerate(evidence[:most]) if sum(shares[:place]) < coverage]


def widen(evidence: Sequence[Evidence], chosen: Sequence[Evidence], margin: float) -> tuple[list[Evidence], str]:
    """Add the project with the nearest passage if its cosine exceeds the others' by more than ``margin``; say why.

    Relations and names may have led to projects whose passages are off the question. The reason is empty if none is
    added.
    """
    best = max(chosen, key=lambda one: one.cosine)
    nearest = max(evidence, key=lambda one: (one.cosine, one.project.id))
    if nearest.cosine <= best.cosine + margin:
        return list(chosen), ""
    names = ", ".join(one.project.id for one in chosen)
    nearer = f"that of {nearest.project.id} {nearest.cosine:.2f}"
    reason = f"the nearest passage of {names} has the cosine {best.cosine:.2f}, {nearer}"
    return sorted([*chosen, nearest], key=evidence.index), reason
