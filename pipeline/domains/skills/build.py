"""Build a skill graph from a folder; its nodes and edges are computed from the skills alone."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from pipeline.domains.skills.queries import missing_of
from pipeline.domains.skills.references import Names, folded, mentions, package_key, resolve
from pipeline.domains.skills.schema import FOLDER, PACKAGE, SCHEMA, SKILL, SkillEdge
from pipeline.domains.skills.settings import SkillSettings
from pipeline.domains.skills.sources import Built, Requirement, Skill, read_skills
from pipeline.files import DEFAULT_LIMITS, Limits
from pipeline.grouping import grouped
from pipeline.ingest.links.similar import similar_pairs
from pipeline.knowledge import KnowledgeEdge, KnowledgeGraph, KnowledgeNode, SupportedEdgeType
from pipeline.progress import Progress
from pipeline.records import Vector, Warned

# Weights and thresholds, chosen by hand; none is measured.
_TAGS = 0.1  # least cosine of the tags of linked skills, weighted by inverse document frequency
_MENTION = 0.5  # weight of an edge to a skill that is named once; a requirement has weight 1
_PACKAGE = 0.3  # weight of an edge to a package that a single skill uses; less, the more use it
_FOLDER = 0.1  # weight of an edge from a folder to a skill or folder in it

_DIGITS = 4  # of a weight, so that rounding errors change no edge
_SEMANTIC = frozenset((SkillEdge.MENTIONS, SkillEdge.SHARES_TAGS, SkillEdge.SIMILAR))
"""The edge types that are about meaning; the others are about structure."""

_PACKAGE_ID, _FOLDER_ID = "package:", "folder:"  # prefixes of ids, which keep them apart from skills' names


def build(
    open_graph: Callable[[], KnowledgeGraph],
    folder: Path,
    settings: SkillSettings,
    progress: Progress | None = None,
    *,
    limits: Limits = DEFAULT_LIMITS,
) -> Built:
    """Bring a graph to hold the skills in a folder, at any depth, and nothing else.

    ``open_graph`` opens or makes the graph; it is called once the folder is read. Only new descriptions are embedded,
    and only differences are written; readers see the graph before or after all of them. Raises SourceError if the
    folder holds no readable skill.
    """
    progress = progress or Progress()
    with progress.stage("read"):
        skills, skipped = read_skills(folder, limits)
    graph = open_graph()
    with progress.stage("embed skills", len(skills)) as done:
        embeddings = graph.embed({skill.id: f"{skill.title}. {skill.description}" for skill in skills}, done)
    nodes, edges = _skill_graph(skills, np.array([embeddings.vectors[skill.id] for skill in skills]), settings)
    with progress.stage("write"):
        changes = graph.sync(nodes, edges, embeddings, schema=SCHEMA)
    types = Counter(node.type for node in nodes)
    return Built(
        types[SKILL],
        types[PACKAGE],
        types[FOLDER],
        dict(sorted(Counter(edge.type for edge in edges).items())),
        sum(len(missing_of(node)) for node in nodes),
        skipped,
        embeddings.encoded,
        changes.count(),
        [Warned(skill.path, warning) for skill in skills for warning in skill.warnings],
    )


def _skill_graph(
    skills: Sequence[Skill], vectors: Vector, settings: SkillSettings
) -> tuple[list[KnowledgeNode], list[KnowledgeEdge]]:
    """Return the nodes, without embeddings, and the edges of skills; ``vectors`` has a row for each description."""
    names = Names(skills)
    requirements = resolve(skills, names)
    parents = _parents(skills)
    packages = sorted({need.package for needs in requirements.values() for need in needs if need.package})
    nodes = [_skill_node(skill, requirements[skill.id], parents.get(skill.id)) for skill in skills]
    nodes += [KnowledgeNode(_PACKAGE_ID + name, PACKAGE, properties={"name": name}) for name in packages]
    for node_id in sorted({*parents, *parents.values()}):
        if node_id.startswith(_FOLDER_ID):
            path = node_id.removeprefix(_FOLDER_ID)
            properties = {"name": path.rsplit("/", 1)[-1], "path": path}
            nodes.append(KnowledgeNode(node_id, FOLDER, properties=properties, parent_id=parents.get(node_id)))
    edges = [
        *_requirement_edges(skills, requirements, names),
        *_tag_edges(skills, settings.top_k),
        *_similar_edges(skills, vectors, settings),
        *(_edge(parent, child, SkillEdge.CONTAINS, _FOLDER) for child, parent in sorted(parents.items())),
    ]
    return nodes, edges


def _skill_node(skill: Skill, requirements: Sequence[Requirement], parent: str | None) -> KnowledgeNode:
    names = ("name", "title", "description", "version", "path", "dependencies")
    properties = {name: getattr(skill, name) for name in names}
    properties["missing"] = [need.text for need in requirements if not (need.skill or need.package)]
    filled = {name: value for name, value in properties.items() if value}
    return KnowledgeNode(skill.id, SKILL, [tag for tag in skill.tags if tag], filled, parent_id=parent)


def _parents(skills: Sequence[Skill]) -> dict[str, str]:
    """Return the parent of each skill and folder, by id: the enclosing folder, or the skill in that folder."""
    skill_at = {skill.path: skill.id for skill in skills}
    parents: dict[str, str] = {}
    for skill in skills:
        child = skill.id
        for path in map(str, PurePosixPath(skill.path).parents):  # innermost first; the root, ".", is no folder
            if path == ".":
                break
            parents[child] = skill_at.get(path, _FOLDER_ID + path)
            if path in skill_at or parents[child] in parents:
                break
            child = parents[child]
    return parents


def _requirement_edges(
    skills: Sequence[Skill], requirements: Mapping[str, Sequence[Requirement]], names: Names
) -> Iterator[KnowledgeEdge]:
    """Yield the edges of the types ``requires``, ``mentions``, ``uses`` and ``documents``; ``requirements`` by skill.

    A skill is required if it is a dependency or is mentioned on a line that says REQUIRED. The weight of a used package
    is its inverse document frequency.
    """
    users = Counter(need.package for needs in requirements.values() for need in needs if need.package)
    for skill in skills:
        counts, demanded = mentions(skill, names)
        depends = {need.skill: need.text for need in requirements[skill.id] if need.skill}
        for required in sorted({*depends, *demanded} - {skill.id}):
            stated = {"dependency": depends[required]} if required in depends else {"stated": "in the text"}
            yield _edge(skill.id, required, SkillEdge.REQUIRES, 1.0, **stated)
        for mentioned, count in counts.items():
            weight = min(1.0, _MENTION * (1 + math.log(count)))
            yield _edge(skill.id, mentioned, SkillEdge.MENTIONS, weight, count=count)
        for need in requirements[skill.id]:
            if need.package:
                idf = math.log(1 + len(skills) / users[need.package]) / math.log(1 + len(skills))
                assumed = {"assumed": True} if need.assumed else {}
                target, weight = _PACKAGE_ID + need.package, _PACKAGE * idf
                yield _edge(skill.id, target, SkillEdge.USES, weight, dependency=need.text, **assumed)
        for name in sorted({package_key(skill.name), package_key(skill.path.rsplit("/", 1)[-1])} & users.keys()):
            yield _edge(skill.id, _PACKAGE_ID + name, SkillEdge.DOCUMENTS, 1.0)


def _tag_edges(skills: Sequence[Skill], top_k: int) -> Iterator[KnowledgeEdge]:
    """Yield edges between skills that share tags, weighted by the cosine of their idf-weighted tag vectors.

    A pair is linked if its cosine is above the threshold and among the ``top_k`` best of either skill. A tag that all
    skills have counts nothing.
    """
    tags = {skill.id: {folded(tag): tag for tag in skill.tags} for skill in skills}
    tagged = grouped((tag, skill_id) for skill_id, own_tags in tags.items() for tag in own_tags)
    squares = {tag: math.log(len(skills) / len(skill_ids)) ** 2 for tag, skill_ids in tagged.items()}
    lengths = {skill_id: math.sqrt(sum(squares[tag] for tag in own_tags)) for skill_id, own_tags in tags.items()}
    products: dict[tuple[str, str], float] = defaultdict(float)
    for tag, skill_ids in tagged.items():
        for pair in combinations(sorted(skill_ids), 2):
            products[pair] += squares[tag]
    cosines = {pair: product / (lengths[pair[0]] * lengths[pair[1]]) for pair, product in products.items() if product}
    above = ((pair, cosine) for pair, cosine in cosines.items() if cosine >= _TAGS)
    by_skill = grouped((skill_id, (-cosine, pair)) for pair, cosine in above for skill_id in pair)
    for a, b in sorted({pair for ranked in by_skill.values() for _, pair in sorted(ranked)[:top_k]}):
        shared = sorted(tags[a][tag] for tag in tags[a].keys() & tags[b].keys())
        yield _edge(a, b, SkillEdge.SHARES_TAGS, cosines[a, b], tags=shared)


def _similar_edges(skills: Sequence[Skill], vectors: Vector, settings: SkillSettings) -> Iterator[KnowledgeEdge]:
    """Yield edges between skills with similar descriptions, weighted by the cosine; ``vectors`` are of unit length."""
    links = similar_pairs(vectors, top_k=settings.top_k, threshold=settings.similar, degree_limit=len(skills))
    for link in (link for link in links if link.linked):
        source, target = sorted((skills[link.source].id, skills[link.target].id))
        yield _edge(source, target, SkillEdge.SIMILAR, link.score)


def _edge(source: str, target: str, kind: SkillEdge, weight: float, **properties: Any) -> KnowledgeEdge:
    return KnowledgeEdge(
        source,
        target,
        kind.value,
        supported_edge_type=SupportedEdgeType.SEMANTIC if kind in _SEMANTIC else SupportedEdgeType.STRUCTURAL,
        weight=round(weight, _DIGITS),
        directed=kind not in (SkillEdge.SHARES_TAGS, SkillEdge.SIMILAR),
        properties=properties,
    )
