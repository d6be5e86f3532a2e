"""Build a skill graph from a folder."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

import numpy as np

from pipeline.domains.skills.link import (
    folder_edges,
    folder_id,
    package_id,
    requirement_edges,
    similar_edges,
    tag_edges,
)
from pipeline.domains.skills.queries import missing_of
from pipeline.domains.skills.references import Names, resolve
from pipeline.domains.skills.schema import FOLDER, PACKAGE, SCHEMA, SKILL
from pipeline.domains.skills.settings import SkillSettings
from pipeline.domains.skills.sources import Built, Requirement, Skill, read_skills
from pipeline.files import DEFAULT_LIMITS, Limits
from pipeline.knowledge import KnowledgeEdge, KnowledgeGraph, KnowledgeNode
from pipeline.progress import Progress
from pipeline.records import Vector


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
    with progress.stage("embed", len(skills)) as done:
        embeddings = graph.embed({skill.id: f"{skill.title}. {skill.description}" for skill in skills}, done)
    nodes, edges = skill_graph(skills, np.array([embeddings.vectors[skill.id] for skill in skills]), settings)
    SCHEMA.check(nodes, edges)
    with progress.stage("write"):
        changes = graph.sync(nodes, edges, embeddings)
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
    )


def skill_graph(
    skills: Sequence[Skill], vectors: Vector, settings: SkillSettings
) -> tuple[list[KnowledgeNode], list[KnowledgeEdge]]:
    """Return the nodes and edges of skills; ``vectors`` has the embedding of each skill's description, row by row.

    The nodes are without embeddings.
    """
    names = Names(skills)
    requirements = resolve(skills, names)
    parents = _parents(skills)
    packages = sorted({need.package for needs in requirements.values() for need in needs if need.package})
    nodes = [
        *(_skill_node(skill, requirements[skill.id], parents) for skill in skills),
        *(KnowledgeNode(package_id(name), PACKAGE, properties={"name": name}) for name in packages),
        *_folder_nodes(parents),
    ]
    edges = [
        *requirement_edges(skills, requirements, names, settings),
        *tag_edges(skills, settings),
        *similar_edges(skills, vectors, settings),
        *folder_edges(parents, settings),
    ]
    return nodes, edges


def _skill_node(skill: Skill, requirements: Sequence[Requirement], parents: Mapping[str, str]) -> KnowledgeNode:
    properties: dict[str, object] = {
        "name": skill.name,
        "title": skill.title,
        "description": skill.description,
        "version": skill.version,
        "path": skill.path,
        "dependencies": list(skill.dependencies),
        "missing": [need.text for need in requirements if not (need.skill or need.package)],
    }
    return KnowledgeNode(
        skill.id,
        SKILL,
        labels=[tag for tag in skill.tags if tag],
        properties={name: value for name, value in properties.items() if value},  # type: ignore[misc]  # JSON values
        parent_id=parents.get(skill.id),
    )


def _parents(skills: Sequence[Skill]) -> dict[str, str]:
    """Return the parent of each skill and folder, by id: the enclosing folder, or the skill in that folder."""
    skill_at = {skill.path: skill.id for skill in skills}
    parents: dict[str, str] = {}
    for skill in skills:
        child = skill.id
        for path in _enclosing_folders(skill.path):
            parents[child] = skill_at.get(path, folder_id(path))
            if path in skill_at or parents[child] in parents:
                break
            child = parents[child]
    return parents


def _enclosing_folders(path: str) -> Iterator[str]:
    """Yield the folders that enclose a relative path, innermost first, without the root."""
    for parent in PurePosixPath(path).parents:
        if parent.as_posix() != ".":
            yield parent.as_posix()


def _folder_nodes(parents: Mapping[str, str]) -> Iterator[KnowledgeNode]:
    prefix = folder_id("")
    for node_id in sorted({*parents, *parents.values()}):
        if node_id.startswith(prefix):
            path = node_id.removeprefix(prefix)
            properties = {"name": path.rsplit("/", 1)[-1], "path": path}
            yield KnowledgeNode(node_id, FOLDER, properties=properties, parent_id=parents.get(node_id))
