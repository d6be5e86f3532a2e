"""The edges of a skill graph, from the skills alone."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from pipeline.domains.skills.dependencies import Names, folded, package_key
from pipeline.domains.skills.mentions import Mentions
from pipeline.domains.skills.records import Requirement, Skill, SkillEdge
from pipeline.ingest.links.similar import similar_pairs
from pipeline.knowledge import KnowledgeEdge, SupportedEdgeType
from pipeline.records import Vector
from pipeline.settings import SkillSettings

_DIGITS = 4
_STRUCTURAL, _SEMANTIC = SupportedEdgeType.STRUCTURAL, SupportedEdgeType.SEMANTIC


def package_id(package: str) -> str:
    """Return the id of a package's node, which no skill's name can be."""
    return f"package:{package}"


def folder_id(path: str) -> str:
    """Return the id of a folder's node."""
    return f"folder:{path}"


def requirement_edges(
    skills: Sequence[Skill], told: Mapping[str, Sequence[Requirement]], names: Names, settings: SkillSettings
) -> Iterator[KnowledgeEdge]:
    """Yield what skills require, use, document and mention.

    A dependency on a skill, and a mention on a line that says REQUIRED, are requirements. A package weighs by how few
    use it.
    """
    mentions = Mentions(names)
    users = Counter(one.package for found in told.values() for one in found if one.package)
    packages = set(users)
    for skill in skills:
        counts, demanded = mentions.of(skill)
        depends = {one.skill: one.text for one in told[skill.id] if one.skill}
        for other in sorted({*depends, *demanded} - {skill.id}):
            stated = {"dependency": depends[other]} if other in depends else {"stated": "in the text"}
            yield _edge(skill.id, other, SkillEdge.REQUIRES, _STRUCTURAL, 1.0, properties=stated)
        for other, count in counts.items():
            weight = min(1.0, settings.mention * (1 + math.log(count)))
            yield _edge(skill.id, other, SkillEdge.MENTIONS, _SEMANTIC, weight, properties={"count": count})
        for one in told[skill.id]:
            if one.package:
                rare = settings.package * math.log(1 + len(skills) / users[one.package]) / math.log(1 + len(skills))
                properties = {"dependency": one.text, **({"assumed": True} if one.assumed else {})}
                yield _edge(skill.id, package_id(one.package), SkillEdge.USES, _STRUCTURAL, rare, properties=properties)
        for name in sorted({package_key(skill.name), package_key(skill.path.rsplit("/", 1)[-1])} & packages):
            yield _edge(skill.id, package_id(name), SkillEdge.DOCUMENTS, _STRUCTURAL, 1.0)


def tag_edges(skills: Sequence[Skill], settings: SkillSettings) -> Iterator[KnowledgeEdge]:
    """Yield edges between skills that share tags: the cosine of their tags, each weighing its idf.

    Of each skill's the best are kept; a tag that all skills have says nothing.
    """
    tags = {skill.id: {folded(tag): tag for tag in skill.tags} for skill in skills}
    having: dict[str, list[str]] = defaultdict(list)
    for skill_id, own in tags.items():
        for tag in own:
            having[tag].append(skill_id)
    squares = {tag: math.log(len(skills) / len(found)) ** 2 for tag, found in having.items()}
    lengths = {skill_id: math.sqrt(sum(squares[tag] for tag in own)) for skill_id, own in tags.items()}
    products: dict[tuple[str, str], float] = defaultdict(float)
    for tag, found in having.items():
        for pair in combinations(sorted(found), 2):
            products[pair] += squares[tag]
    cosines = {pair: product / (lengths[pair[0]] * lengths[pair[1]]) for pair, product in products.items() if product}
    for one, other in sorted(_best(cosines, settings)):
        shared = sorted(tags[one][tag] for tag in tags[one].keys() & tags[other].keys())
        weight = round(cosines[one, other], _DIGITS)
        yield _edge(one, other, SkillEdge.SHARES_TAGS, _SEMANTIC, weight, directed=False, properties={"tags": shared})


def similar_edges(skills: Sequence[Skill], vectors: Vector, settings: SkillSettings) -> Iterator[KnowledgeEdge]:
    """Yield edges between skills whose descriptions are alike; ``vectors`` are these, row by row."""
    links = similar_pairs(
        np.asarray(vectors),
        top_k=settings.top_k,
        threshold=settings.similar,
        degree_limit=len(skills),
        exact_up_to=50_000,
    )
    for link in (link for link in links if link.linked):
        one, other = sorted((skills[link.source].id, skills[link.target].id))
        yield _edge(one, other, SkillEdge.SIMILAR, _SEMANTIC, link.score, directed=False)


def folder_edges(parents: Mapping[str, str], settings: SkillSettings) -> Iterator[KnowledgeEdge]:
    """Yield edges from what contains to what it contains; ``parents`` has the former by the latter."""
    for child, parent in sorted(parents.items()):
        yield _edge(parent, child, SkillEdge.CONTAINS, _STRUCTURAL, settings.folder)


def _best(cosines: Mapping[tuple[str, str], float], settings: SkillSettings) -> set[tuple[str, str]]:
    """Return the pairs that are among the best of either of the two."""
    mine: dict[str, list[tuple[float, tuple[str, str]]]] = defaultdict(list)
    for pair, cosine in cosines.items():
        if cosine >= settings.tags:
            for one in pair:
                mine[one].append((-cosine, pair))
    return {pair for found in mine.values() for _, pair in sorted(found)[: settings.top_k]}


def _edge(
    source: str,
    target: str,
    kind: SkillEdge,
    supported: SupportedEdgeType,
    weight: float,
    *,
    directed: bool = True,
    properties: Mapping[str, object] | None = None,
) -> KnowledgeEdge:
    return KnowledgeEdge(
        source,
        target,
        kind.value,
        supported_edge_type=supported,
        weight=round(weight, _DIGITS),
        directed=directed,
        properties=properties or {},  # type: ignore[arg-type]  # checked by the edge itself
    )
