"""Routes: the mode of a routed search, the evidence for projects, and the choice of those that are searched.

The evidence that a project answers a question: relations, names, domains, summaries, and its nearest passage.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any

from pipeline.domains.routing.project_graph import domain_name
from pipeline.domains.routing.schema import Project, Relation, RelationType
from pipeline.text.fold import bare

# The evidence for a project is in natural logarithms of odds. These weights and MARGIN were chosen by hand, perhaps on
# the 29 issues of the page; there the first project is right for all of them, also with _COSINE, _SUMMARY or _NAME
# halved or doubled. _RELATION, _OWN and _DOMAIN are not measured: no queryset at hand says which project asks.
_COSINE = 0.04  # difference between the best cosines of two projects' passages that counts as 1
_SUMMARY = 0.2  # difference between the cosines of two summaries that counts as 1
_RELATION = 2.0  # of a relation of weight 1 from the asking project
_OWN = 1.0  # of being the asking project
_NAME = 1.0  # of a name of the project in the question
_KNOWN = 1.0  # of knowing the names in the question best, rare ones above all
_DOMAIN = 1.0  # of a domain in the question that no other project has

COVERAGE, MOST = 0.95, 3
"""Probability that the projects that are searched hold the answer, and their number, however low that is."""

MARGIN = 0.1
"""How much nearer another project's best passage must be for that to be searched too."""

_WORD = re.compile(r"[^\W_]+")
# Projects that a project uses only through another one are rarely relevant to it. Chosen by hand; not measured.
_FURTHER = 0.5


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
    projects are searched than the evidence had chosen, empty if not. ``stands_in`` is the folder by which ``source``
    was found, empty if the caller named it.
    """

    mode: Mode
    source: str
    chosen: tuple[Evidence, ...]
    considered: tuple[Evidence, ...]
    unindexed: Mapping[str, str]
    widened: str = ""
    stands_in: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the route as plain JSON values, as the metadata of a result hold it."""
        return {
            "mode": str(self.mode),
            "from": self.source or None,
            "from_folder": self.stands_in or None,
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


@dataclass(frozen=True, slots=True)
class Lead:
    """The strongest path from the asking project to another: its last relation, its length and its weight.

    The weight is the product of the weights along the path, times ``_FURTHER`` for each edge after the first.
    """

    relation: Relation
    hops: int
    weight: float


@dataclass(frozen=True, slots=True)
class Nearness:
    """The cosines of a project's nearest passage and of its summary (0 without one) to a question.

    ``known`` is the share of the question's names in its passages, weighted by rarity; 1 for the project with most.
    """

    passage: float
    summary: float = 0.0
    known: float = 0.0


def knowledge_of_names(names: Mapping[str, Iterable[str]], corpora: int) -> dict[str, float]:
    """Return for each corpus the sum of the rarities of the question's names in it, divided by the largest sum.

    ``names`` maps each name to the corpora that hold it, out of so many ``corpora``.
    """
    known: dict[str, float] = defaultdict(float)
    for having in map(tuple, names.values()):
        for corpus in having:
            known[corpus] += _rarity(len(having), corpora)
    most = max(known.values(), default=0.0)
    return {corpus: value / most for corpus, value in known.items()} if most else {}


def leads(source: str, relations: Sequence[Relation], depth: int) -> dict[str, Lead]:
    """Return the strongest path of at most ``depth`` relations from a project to each other, by the other's id.

    Siblings and the projects of a domain lead to each other. A domain counts by its rarity: one that all projects have
    leads nowhere.
    """
    spread = Counter(relation.target for relation in relations if relation.type is RelationType.DOMAIN)
    having = len({relation.source for relation in relations if relation.type is RelationType.DOMAIN})
    onward: dict[str, list[tuple[str, Relation]]] = {}
    for relation in relations:
        if relation.type is RelationType.DOMAIN:
            relation = replace(relation, weight=relation.weight * _rarity(spread[relation.target], having))
        onward.setdefault(relation.source, []).append((relation.target, relation))
        if relation.type in (RelationType.SIBLING, RelationType.DOMAIN):
            onward.setdefault(relation.target, []).append((relation.source, relation))
    found: dict[str, Lead] = {}
    frontier = {source: 1.0}
    for hops in range(1, depth + 1):
        reached: dict[str, float] = {}
        for start, weight in frontier.items():
            for target, relation in onward.get(start, ()):
                onto = weight * relation.weight * (1.0 if hops == 1 else _FURTHER)
                known = found[target].weight if target in found else 0.0
                if target != source and onto > known:
                    reached[target] = onto
                    found[target] = Lead(relation, hops, onto)
        frontier = reached
    return found


def weigh(
    projects: Sequence[Project],
    nearness: Mapping[str, Nearness],
    question: str,
    source: str | None,
    found: Mapping[str, Lead],
) -> list[Evidence]:
    """Return the evidence for each project, the strongest first; ties by id. The shares add up to 1.

    ``source`` is the asking project, empty if none asks, and ``found`` are the :func:`leads` from it. If it is None,
    passages and the importance of projects are all the evidence.
    """
    words = _words(question)
    spread = Counter(domain.lower() for project in projects for domain in project.domains)
    weighed = []
    for project in projects:
        names = names_in(question, project)
        domains = [domain for domain in project.domains if _contains(words, domain)]
        rarity = max((_rarity(spread[domain.lower()], len(projects)) for domain in domains), default=0.0)
        lead = found.get(project.id)
        near = nearness[project.id]
        score = near.passage / _COSINE
        if source is not None:
            score += (
                near.summary / _SUMMARY
                + (_OWN if project.id == source else 0.0)
                + _RELATION * (lead.weight if lead else 0.0)
                + _NAME * bool(names)
                + _KNOWN * near.known
                + _DOMAIN * rarity
            )
        score += math.log(project.importance)
        weighed.append(
            Evidence(
                project,
                near.passage,
                relation=lead.relation if lead else None,
                hops=lead.hops if lead else 0,
                terms=tuple(dict.fromkeys([*names, *domains])),
                score=score,
            )
        )
    weighed.sort(key=lambda one: (-one.score, one.project.id))
    odds = [math.exp(one.score - weighed[0].score) for one in weighed]
    total = math.fsum(odds)
    return [replace(one, share=odd / total) for one, odd in zip(weighed, odds, strict=True)]


def names_in(question: str, project: Project) -> list[str]:
    """Return the names of a project that a question contains as whole words."""
    words = _words(question)
    return [name for name in (project.id, project.id.rpartition("/")[2], *project.aliases) if _contains(words, name)]


def _words(question: str) -> str:
    return f" {' '.join(_WORD.findall(bare(question)))} "  # spaces around, so that a name matches whole words


def _contains(words: str, name: str) -> bool:
    parts = _WORD.findall(bare(name))
    return bool(parts) and f" {' '.join(parts)} " in words


def _rarity(projects: int, of: int) -> float:
    """Return the share of the greatest inverse document frequency: 1 for one project, 0 for all."""
    return math.log(of / projects) / math.log(of) if of > 1 else 1.0


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
