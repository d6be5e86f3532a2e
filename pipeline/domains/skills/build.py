"""A folder of skills to their graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from pipeline.db.client import Client
from pipeline.domains.skills.dependencies import Names, tell
from pipeline.domains.skills.link import (
    folder_edges,
    folder_id,
    package_id,
    requirement_edges,
    similar_edges,
    tag_edges,
)
from pipeline.domains.skills.read import read_skills
from pipeline.domains.skills.records import FOLDER, PACKAGE, SKILL, Built, Requirement, Skill
from pipeline.embedding.embedder import Embedder
from pipeline.knowledge import KnowledgeEdge, KnowledgeNode
from pipeline.knowledge.load import load
from pipeline.progress import Progress
from pipeline.records import Vector
from pipeline.settings import SkillSettings


def build(
    client: Client,
    embedder: Embedder,
    folder: Path,
    graph_name: str,
    settings: SkillSettings,
    progress: Progress | None = None,
) -> Built:
    """Make the graph of that name hold the skills at and below a folder, and nothing else.

    The graph that had the name is there until the new one is whole. Raises SourceError if there is no skill.
    """
    progress = progress or Progress()
    with progress.stage("read"):
        skills, skipped = read_skills(folder)
    with progress.stage("embed", len(skills)) as done:
        vectors = embedder.encode([f"{skill.title}. {skill.description}" for skill in skills], done)
    nodes, edges = skill_graph(skills, vectors, settings)
    load(client, graph_name, (iter(nodes), iter(edges)), progress)
    types = Counter(node.type for node in nodes)
    missing = sum(len(found) for node in nodes if isinstance(found := node.properties.get("missing"), list))
    kinds = Counter(edge.type for edge in edges)
    return Built(types[SKILL], types[PACKAGE], types[FOLDER], dict(sorted(kinds.items())), missing, skipped)


def skill_graph(
    skills: Sequence[Skill], vectors: Vector, settings: SkillSettings
) -> tuple[list[KnowledgeNode], list[KnowledgeEdge]]:
    """Return the nodes and edges of skills; ``vectors`` are their descriptions', row by row."""
    names = Names(skills)
    told = tell(skills, names)
    parents = _parents(skills)
    used = sorted({one.package for found in told.values() for one in found if one.package})
    nodes = [
        *(_skill_node(skill, told[skill.id], vectors[row].tolist(), parents) for row, skill in enumerate(skills)),
        *(KnowledgeNode(package_id(name), PACKAGE, properties={"name": name}) for name in used),
        *_folder_nodes(parents),
    ]
    edges = [
        *requirement_edges(skills, told, names, settings),
        *tag_edges(skills, settings),
        *similar_edges(skills, vectors, settings),
        *folder_edges(parents, settings),
    ]
    return nodes, edges


def _skill_node(
    skill: Skill, told: Sequence[Requirement], vector: Sequence[float], parents: Mapping[str, str]
) -> KnowledgeNode:
    properties: dict[str, object] = {
        "name": skill.name,
        "title": skill.title,
        "description": skill.description,
        "version": skill.version,
        "path": skill.path,
        "dependencies": list(skill.dependencies),
        "missing": [one.text for one in told if not (one.skill or one.package)],
    }
    return KnowledgeNode(
        skill.id,
        SKILL,
        labels=[tag for tag in skill.tags if tag],
        properties={name: value for name, value in properties.items() if value},  # type: ignore[misc]  # JSON's
        embedding=vector,
        parent_id=parents.get(skill.id),
    )


def _parents(skills: Sequence[Skill]) -> dict[str, str]:
    """Return what contains each skill and each folder: a skill whose folder it is in, else the folder."""
    at = {skill.path: skill.id for skill in skills}
    parents: dict[str, str] = {}
    for skill in skills:
        child = skill.id
        for path in _above(skill.path):
            parents[child] = at.get(path, folder_id(path))
            if path in at or parents[child] in parents:
                break
            child = parents[child]
    return parents


def _above(path: str) -> Iterator[str]:
    """Yield the folders above a path, the nearest first, down to the one that was read, exclusively."""
    for parent in PurePosixPath(path).parents:
        if parent.as_posix() != ".":
            yield parent.as_posix()


def _folder_nodes(parents: Mapping[str, str]) -> Iterator[KnowledgeNode]:
    prefix = folder_id("")
    for one in sorted({*parents, *parents.values()}):
        if one.startswith(prefix):
            path = one.removeprefix(prefix)
            properties = {"name": path.rsplit("/", 1)[-1], "path": path}
            yield KnowledgeNode(one, FOLDER, properties=properties, parent_id=parents.get(one))
