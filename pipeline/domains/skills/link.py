"""The edges of a skill graph, computed from the skills alone."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from pipeline.domains.skills.references import Mentions, Names, folded, package_key
from pipeline.domains.skills.schema import SkillEdge
from pipeline.domains.skills.settings import SkillSettings
from pipeline.domains.skills.sources import Requirement, Skill
from pipeline.ingest.links.similar import similar_pairs
from pipeline.knowledge import KnowledgeEdge, SupportedEdgeType
from pipeline.records import Vector

_DIGITS = 4
"""Digits of a weight, so that rounding errors change no edge."""

_SEMANTIC = frozenset((SkillEdge.MENTIONS, SkillEdge.SHARES_TAGS, SkillEdge.SIMILAR))
"""The edge types that are about meaning; the others are about structure."""


def package_id(package: str) -> str:
    """Return the id of a package's node; the prefix keeps it apart from skills' names."""
    return f"package:{package}"


def folder_id(path: str) -> str:
    """Return the id of a folder's node."""
    return f"folder:{path}"


def requirement_edges(
    skills: Sequence[Skill], requirements: Mapping[str, Sequence[Requirement]], names: Names, settings: SkillSettings
) -> Iterator[KnowledgeEdge]:
    """Yield the edges of the types ``requires``, ``mentions``, ``uses`` and ``documents``; ``requirements`` by skill.

    A skill is required if it is a dependency or is mentioned on a line that says REQUIRED. The weight of a used package
    is its inverse document frequency.
    """
    mentions = Mentions(names)
    users = Counter(need.package for needs in requirements.values() for need in needs if need.package)
    packages = set(users)
    for skill in skills:
        counts, demanded = mentions.of(skill)
        depends = {need.skill: need.text for need in requirements[skill.id] if need.skill}
        for required in sorted({*depends, *demanded} - {skill.id}):
            stated = {"dependency": depends[required]} if required in depends else {"stated": "in the text"}
            yield _edge(skill.id, required, SkillEdge.REQUIRES, 1.0, properties=stated)
        for mentioned, count in counts.items():
            weight = min(1.0, settings.mention * (1 + math.log(count)))
            yield _edge(skill.id, mentioned, SkillEdge.MENTIONS, weight, properties={"count": count})
        for need in requirements[skill.id]:
            if need.package:
                idf = math.log(1 + len(skills) / users[need.package]) / math.log(1 + len(skills))
                properties = {"dependency": need.text, **({"assumed": True} if need.assumed else {})}
                target, weight = package_id(need.package), settings.package * idf
                yield _edge(skill.id, target, SkillEdge.USES, weight, properties=properties)
        for name in sorted({package_key(skill.name), package_key(skill.path.rsplit("/", 1)[-1])} & packages):
            yield _edge(skill.id, package_id(name), SkillEdge.DOCUMENTS, 1.0)


def tag_edges(skills: Sequence[Skill], settings: SkillSettings) -> Iterator[KnowledgeEdge]:
    """Yield edges between skills that share tags, weighted by the cosine of their idf-weighted tag vectors.

    Each skill keeps its best edges. A tag that all skills have counts nothing.
    """
    tags = {skill.id: {folded(tag): tag for tag in skill.tags} for skill in skills}
    tagged: dict[str, list[str]] = defaultdict(list)
    for skill_id, own_tags in tags.items():
        for tag in own_tags:
            tagged[tag].append(skill_id)
    squares = {tag: math.log(len(skills) / len(skill_ids)) ** 2 for tag, skill_ids in tagged.items()}
    lengths = {skill_id: math.sqrt(sum(squares[tag] for tag in own_tags)) for skill_id, own_tags in tags.items()}
    products: dict[tuple[str, str], float] = defaultdict(float)
    for tag, skill_ids in tagged.items():
        for pair in combinations(sorted(skill_ids), 2):
            products[pair] += squares[tag]
    cosines = {pair: product / (lengths[pair[0]] * lengths[pair[1]]) for pair, product in products.items() if product}
    for a, b in sorted(_best_pairs(cosines, settings)):
        shared = sorted(tags[a][tag] for tag in tags[a].keys() & tags[b].keys())
        weight = round(cosines[a, b], _DIGITS)
        yield _edge(a, b, SkillEdge.SHARES_TAGS, weight, directed=False, properties={"tags": shared})


def similar_edges(skills: Sequence[Skill], vectors: Vector, settings: SkillSettings) -> Iterator[KnowledgeEdge]:
    """Yield edges between skills with similar descriptions, weighted by the cosine.

    ``vectors`` has the embedding of each skill's description, row by row, of unit length.
    """
    links = similar_pairs(
        np.asarray(vectors),
        top_k=settings.top_k,
        threshold=settings.similar,
        degree_limit=len(skills),
        exact_up_to=50_000,
    )
    for link in (link for link in links if link.linked):
        source, target = sorted((skills[link.source].id, skills[link.target].id))
        yield _edge(source, target, SkillEdge.SIMILAR, link.score, directed=False)


def folder_edges(parents: Mapping[str, str], settings: SkillSettings) -> Iterator[KnowledgeEdge]:
    """Yield an edge from each parent to each of its children; ``parents`` maps a child to its parent."""
    for child, parent in sorted(parents.items()):
        yield _edge(parent, child, SkillEdge.CONTAINS, settings.folder)


def _best_pairs(cosines: Mapping[tuple[str, str], float], settings: SkillSettings) -> set[tuple[str, str]]:
    """Return the pairs above the threshold that are among the ``top_k`` of either skill."""
    by_skill: dict[str, list[tuple[float, tuple[str, str]]]] = defaultdict(list)
    for pair, cosine in cosines.items():
        if cosine >= settings.tags:
            for skill_id in pair:
                by_skill[skill_id].append((-cosine, pair))
    return {pair for ranked in by_skill.values() for _, pair in sorted(ranked)[: settings.top_k]}


def _edge(
    source: str,
    target: str,
    kind: SkillEdge,
    weight: float,
    *,
    directed: bool = True,
    properties: Mapping[str, object] | None = None,
) -> KnowledgeEdge:
    return KnowledgeEdge(
        source,
        target,
        kind.value,
        supported_edge_type=SupportedEdgeType.SEMANTIC if kind in _SEMANTIC else SupportedEdgeType.STRUCTURAL,
        weight=round(weight, _DIGITS),
        directed=directed,
        properties=properties or {},  # type: ignore[arg-type]  # KnowledgeEdge checks the values
    )
