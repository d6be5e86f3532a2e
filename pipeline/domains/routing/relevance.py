"""The evidence that projects answer a question: relations, names and domains, summaries, and a first look."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pipeline.domains.routing.route import Evidence
from pipeline.domains.routing.schema import Project, Relation, RelationType
from pipeline.domains.routing.settings import RoutingSettings

_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Lead:
    """The strongest path of relations from the asking project to another: its last relation, and its weight.

    The weight is the product of the weights along the path, halved for each edge after the first.
    """

    relation: Relation
    hops: int
    weight: float


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of evidence, in natural logarithms of odds.

    ``cosine`` is the difference of passages' cosines that counts as 1, ``summary`` that of summaries. ``relation``
    counts for an edge of weight 1, ``own`` for the asking project itself, ``name`` for a name of the project in the
    question, ``known`` for knowing the names in the question best, and ``domain`` for a domain that no other project
    has.
    """

    cosine: float
    summary: float
    relation: float
    own: float
    name: float
    known: float
    domain: float

    @classmethod
    def of(cls, settings: RoutingSettings) -> Weights:
        """Return the weights of the settings."""
        return cls(**{name: getattr(settings, name) for name in cls.__slots__})

    def without_graph(self) -> Weights:
        """Return the weights that count passages alone."""
        return Weights(self.cosine, math.inf, 0.0, 0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Nearness:
    """The nearness of a project to a question.

    ``passage`` is the cosine of its nearest passage, ``summary`` that of its summary, 0 without one. ``known`` says how
    far its passages know the names in the question, from 0 to 1 for the project that knows them best.
    """

    passage: float
    summary: float = 0.0
    known: float = 0.0


def knowledge_of_names(names: Mapping[str, Iterable[str]], corpora: int) -> dict[str, float]:
    """Return how far each corpus knows the names of a question, from 0 to 1 for the one that knows them best.

    ``names`` holds the corpora that know each name, out of so many ``corpora``. A name counts by its rarity among them.
    """
    known: dict[str, float] = defaultdict(float)
    for having in map(tuple, names.values()):
        for corpus in having:
            known[corpus] += _rarity(len(having), corpora)
    most = max(known.values(), default=0.0)
    return {corpus: value / most for corpus, value in known.items()} if most else {}


def leads(source: str, relations: Sequence[Relation], depth: int) -> dict[str, Lead]:
    """Return the strongest path of at most ``depth`` relations from a project to each other, by the other's id.

    Relations lead from their source to their target; siblings and the projects of a domain lead to each other. A domain
    counts by its rarity: one that all projects have leads nowhere.
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
                onto = weight * relation.weight * (1.0 if hops == 1 else 0.5)
                if target != source and onto > max(reached.get(target, 0.0), _weight(found.get(target))):
                    reached[target] = onto
                    found[target] = Lead(relation, hops, onto)
        frontier = reached
    return found


def _weight(lead: Lead | None) -> float:
    return lead.weight if lead else 0.0


def weigh(
    projects: Sequence[Project],
    nearness: Mapping[str, Nearness],
    question: str,
    source: str,
    found: Mapping[str, Lead],
    weights: Weights,
) -> list[Evidence]:
    """Return the evidence for each project, the strongest first; ties by id.

    ``nearness`` holds the cosines of each project. The shares add up to 1.
    """
    words = f" {' '.join(_WORD.findall(question.lower()))} "
    spread = Counter(domain.lower() for project in projects for domain in project.domains)
    weighed = []
    for project in projects:
        names = [name for name in _names(project) if _contains(words, name)]
        domains = [domain for domain in project.domains if _contains(words, domain)]
        rarity = max((_rarity(spread[domain.lower()], len(projects)) for domain in domains), default=0.0)
        lead = found.get(project.id)
        near = nearness[project.id]
        score = (
            near.passage / weights.cosine
            + near.summary / weights.summary
            + (weights.own if project.id == source else 0.0)
            + weights.relation * _weight(lead)
            + weights.name * bool(names)
            + weights.known * near.known
            + weights.domain * rarity
            + math.log(project.importance)
        )
        weighed.append(
            Evidence(
                project,
                near.passage,
                lead.relation if lead else None,
                lead.hops if lead else 0,
                tuple(dict.fromkeys((*names, *domains))),
                score,
            )
        )
    return _with_shares(sorted(weighed, key=lambda one: (-one.score, one.project.id)))


def _names(project: Project) -> list[str]:
    return list(dict.fromkeys([project.id, project.id.rpartition("/")[2], *project.aliases]))


def _contains(words: str, name: str) -> bool:
    """Return whether a name is among the ``words`` of a question, in lower case with spaces between and around."""
    parts = _WORD.findall(name.lower())
    return bool(parts) and f" {' '.join(parts)} " in words


def _rarity(projects: int, of: int) -> float:
    """Return 1 for a domain of a single project, 0 for one that all projects have."""
    return math.log(of / projects) / math.log(of) if of > 1 else 1.0


def _with_shares(evidence: Sequence[Evidence]) -> list[Evidence]:
    if not evidence:
        return []
    odds = [math.exp(one.score - evidence[0].score) for one in evidence]
    total = math.fsum(odds)
    return [replace(one, share=odd / total) for one, odd in zip(evidence, odds, strict=True)]
