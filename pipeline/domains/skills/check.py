"""What is wrong with a collection of skills, as far as its graph shows."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import networkx as nx
import numpy as np

from pipeline.domains.skills.dependencies import folded
from pipeline.domains.skills.questions import list_skills, missing_of
from pipeline.domains.skills.records import SkillEdge
from pipeline.knowledge import KnowledgeGraph, KnowledgeNode
from pipeline.settings import SkillSettings

_RELATING = (SkillEdge.REQUIRES, SkillEdge.MENTIONS, SkillEdge.SHARES_TAGS, SkillEdge.SIMILAR)


@dataclass(frozen=True, slots=True)
class Missing:
    """A dependency that is neither a skill nor a package, and the skill whose name is nearest, if one is near."""

    skill: str
    dependency: str
    nearest: str | None


@dataclass(frozen=True, slots=True)
class NearDuplicate:
    """Two skills that may be one; ``score`` is the likeness of the names, or the cosine of the descriptions."""

    one: str
    other: str
    score: float


@dataclass(frozen=True, slots=True)
class Findings:
    """All that a check found; each list is ordered, and empty if all is well.

    ``assumed`` are dependencies that only those beside them say to be packages.
    """

    skills: int
    missing: Sequence[Missing]
    assumed: Sequence[str]
    cycles: Sequence[Sequence[str]]
    orphans: Sequence[str]
    near_by_name: Sequence[NearDuplicate]
    near_by_meaning: Sequence[NearDuplicate]

    def __bool__(self) -> bool:
        return any((self.missing, self.cycles, self.orphans, self.near_by_name, self.near_by_meaning))


def check(graph: KnowledgeGraph, settings: SkillSettings) -> Findings:
    """Look for missing dependencies, cycles of requirements, orphans and near-duplicates.

    An orphan has no edge to any other skill but by its folder and packages. A cycle is given from its least member on.
    """
    skills = list_skills(graph)
    ids = [skill.id for skill in skills]
    near = difflib.get_close_matches
    missing = [
        Missing(skill.id, text, next(iter(near(folded(text), ids, n=1, cutoff=0.7)), None))
        for skill in skills
        for text in missing_of(skill)
    ]
    tied = {end for kind in _RELATING for edge in graph.get_edges_by_type(kind) for end in (edge.source, edge.target)}
    return Findings(
        len(skills),
        missing,
        _assumed(graph),
        _cycles(graph),
        [one for one in ids if one not in tied],
        _near_by_name(skills, settings.near_name),
        _near_by_meaning(skills, settings.near_meaning),
    )


def _assumed(graph: KnowledgeGraph) -> list[str]:
    edges = graph.get_edges_by_type(SkillEdge.USES)
    return sorted({str(edge.properties["dependency"]) for edge in edges if edge.properties.get("assumed")})


def _cycles(graph: KnowledgeGraph) -> list[list[str]]:
    """Return a shortest cycle through the least member of each group of skills that require each other."""
    required = nx.DiGraph((edge.source, edge.target) for edge in graph.get_edges_by_type(SkillEdge.REQUIRES))
    found = []
    for group in nx.strongly_connected_components(required):
        least = min(group)
        if len(group) > 1:
            inside = required.subgraph(group)
            ways = (nx.shortest_path(inside, after, least) for after in sorted(inside.successors(least)))
            found.append([least, *min(ways, key=len)])
        elif required.has_edge(least, least):
            found.append([least, least])
    return sorted(found)


def _near_by_name(skills: Sequence[KnowledgeNode], least: float) -> list[NearDuplicate]:
    names = [(skill.id, folded(str(skill.properties["name"]))) for skill in skills]
    found = []
    for (one, a), (other, b) in combinations(names, 2):
        matcher = difflib.SequenceMatcher(None, a, b, autojunk=False)
        # Both are upper bounds, and quick.
        if matcher.real_quick_ratio() >= least and matcher.quick_ratio() >= least and matcher.ratio() >= least:
            found.append(NearDuplicate(one, other, round(matcher.ratio(), 2)))
    return _strongest_first(found)


def _near_by_meaning(skills: Sequence[KnowledgeNode], least: float) -> list[NearDuplicate]:
    embedded = [skill for skill in skills if skill.embedding]
    if not embedded:
        return []
    vectors = np.array([skill.embedding for skill in embedded], dtype=np.float32)
    cosines = vectors @ vectors.T
    return _strongest_first(
        [
            NearDuplicate(embedded[one].id, embedded[other].id, round(float(cosines[one, other]), 2))
            for one, other in np.argwhere(np.triu(cosines, 1) >= least).tolist()
        ]
    )


def _strongest_first(found: list[NearDuplicate]) -> list[NearDuplicate]:
    return sorted(found, key=lambda pair: (-pair.score, pair.one, pair.other))
