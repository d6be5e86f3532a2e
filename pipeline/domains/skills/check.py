"""Check a skill graph: missing dependencies, cycles, orphans and near-duplicates."""

import difflib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import networkx as nx
import numpy as np

from pipeline.domains.skills.queries import BETWEEN_SKILLS, list_skills, missing_of
from pipeline.domains.skills.references import folded
from pipeline.domains.skills.schema import SkillEdge
from pipeline.domains.skills.settings import SkillSettings
from pipeline.embedding.nearest import nearest, unit_vectors
from pipeline.knowledge import KnowledgeGraph, KnowledgeNode

_NEAR_NAME = 0.85  # least similarity (difflib) of the names of near-duplicates; chosen by hand, not measured

_SIMILAR_ID = 0.7
"""Least similarity (difflib) of the id that a missing dependency may have meant. Chosen by hand; not measured."""


@dataclass(frozen=True, slots=True)
class Missing:
    """A dependency that is neither a skill nor a package; ``nearest`` is the skill with the most similar id, if any."""

    skill: str
    dependency: str
    nearest: str | None


@dataclass(frozen=True, slots=True)
class NearDuplicate:
    """A pair of possible duplicates; ``score`` is the similarity of the names or the cosine of the descriptions."""

    one: str
    other: str
    score: float


@dataclass(frozen=True, slots=True)
class Findings:
    """The findings of a check; each list is sorted, and empty if there is nothing to report.

    ``assumed`` are dependencies taken for packages only because most dependencies of the same skill, or else of all
    skills, are packages.
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
    """Report missing dependencies, cycles of requirements, orphans and near-duplicates.

    An orphan has no edge to another skill; shared folders and packages don't count. A cycle starts with its smallest
    id. Raises GraphError if the graph holds no skills.
    """
    skills = list_skills(graph)
    ids = [skill.id for skill in skills]
    missing = [
        Missing(skill.id, text, next(iter(difflib.get_close_matches(folded(text), ids, n=1, cutoff=_SIMILAR_ID)), None))
        for skill in skills
        for text in missing_of(skill)
    ]
    edges = (edge for kind in BETWEEN_SKILLS for edge in graph.get_edges_by_type(kind))
    linked = {end for edge in edges for end in (edge.source, edge.target)}
    assumed = (edge for edge in graph.get_edges_by_type(SkillEdge.USES) if edge.properties.get("assumed"))
    return Findings(
        len(skills),
        missing,
        sorted({str(edge.properties["dependency"]) for edge in assumed}),
        sorted(_cycles(graph)),
        [skill_id for skill_id in ids if skill_id not in linked],
        _strongest_first(_near_by_name(skills)),
        _strongest_first(_near_by_meaning(skills, settings.near_meaning)),
    )


def _cycles(graph: KnowledgeGraph) -> Iterator[list[str]]:
    """Yield a shortest cycle through the smallest id of each strongly connected component of requirements."""
    required = nx.DiGraph((edge.source, edge.target) for edge in graph.get_edges_by_type(SkillEdge.REQUIRES))
    for component in nx.strongly_connected_components(required):
        first = min(component)
        if len(component) > 1:
            inside = required.subgraph(component)
            paths = (nx.shortest_path(inside, after, first) for after in sorted(inside.successors(first)))
            yield [first, *min(paths, key=len)]
        elif required.has_edge(first, first):
            yield [first, first]


def _near_by_name(skills: Sequence[KnowledgeNode]) -> Iterator[NearDuplicate]:
    names = [(skill.id, folded(str(skill.properties["name"]))) for skill in skills]
    for (id_a, a), (id_b, b) in combinations(names, 2):
        matcher = difflib.SequenceMatcher(None, a, b, autojunk=False)
        # The quick ratios are cheap upper bounds of the ratio.
        if all(bound() >= _NEAR_NAME for bound in (matcher.real_quick_ratio, matcher.quick_ratio, matcher.ratio)):
            yield NearDuplicate(id_a, id_b, round(matcher.ratio(), 2))


def _near_by_meaning(skills: Sequence[KnowledgeNode], threshold: float) -> Iterator[NearDuplicate]:
    embedded = [(skill.id, skill.embedding) for skill in skills if skill.embedding]
    if not embedded:
        return
    vectors = unit_vectors([vector for _, vector in embedded])
    listed = nearest(vectors, np.arange(len(vectors)), None, threshold)
    for row, other, score in zip(*(column.tolist() for column in listed), strict=True):
        if row < other:
            yield NearDuplicate(embedded[row][0], embedded[other][0], round(score, 2))


def _strongest_first(pairs: Iterable[NearDuplicate]) -> list[NearDuplicate]:
    return sorted(pairs, key=lambda pair: (-pair.score, pair.one, pair.other))
