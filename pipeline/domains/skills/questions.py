"""What a skill graph is asked: what is related, what is required, what to load first."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import islice, pairwise

from pipeline.domains.skills.dependencies import folded
from pipeline.domains.skills.records import FOLDER, PACKAGE, SKILL, SkillEdge
from pipeline.errors import GraphError
from pipeline.knowledge import Direction, KnowledgeEdge, KnowledgeGraph, KnowledgeNode, Mode, RankedNode

_REQUIRED = [SkillEdge.REQUIRES.value, SkillEdge.USES.value]
_BETWEEN_SKILLS = [
    kind.value for kind in (SkillEdge.REQUIRES, SkillEdge.MENTIONS, SkillEdge.SHARES_TAGS, SkillEdge.SIMILAR)
]
_ALL_BUT_FOLDERS = [kind.value for kind in SkillEdge if kind is not SkillEdge.CONTAINS]


@dataclass(frozen=True, slots=True)
class Related:
    """A skill that a walk from another visits often, and why: the edges between them, or the path."""

    node: KnowledgeNode
    score: float
    why: Sequence[str]


@dataclass(frozen=True, slots=True)
class Required:
    """What a skill needs before it: skills, and packages, each with how many steps away it is."""

    skills: Sequence[tuple[KnowledgeNode, int]]
    packages: Sequence[tuple[KnowledgeNode, int]]
    missing: Sequence[str]


def find_skill(graph: KnowledgeGraph, name: str) -> KnowledgeNode:
    """Return the skill of that id, name or folder; GraphError names the nearest, if it is none, or all, if several."""
    node = graph.get_node(name)
    if node is not None and node.type == SKILL:
        return node
    skills = graph.find_nodes_by_type(SKILL)
    found = [one for one in skills if folded(name) in (folded(one.id), folded(str(one.properties["name"])))]
    found = found or [one for one in skills if folded(name) == folded(str(one.properties["path"]).rsplit("/", 1)[-1])]
    if len(found) == 1:
        return found[0]
    if found:
        ids = ", ".join(repr(one.id) for one in found)
        raise GraphError(f"{len(found)} skills are named {name!r}.", f"Say which: {ids}.")
    near = difflib.get_close_matches(name, [one.id for one in skills], n=1, cutoff=0.4)
    known = f"Did you mean {near[0]!r}?" if near else "`hoprank skills list` shows those that there are."
    raise GraphError(f"The graph {graph.name!r} has no skill {name!r}.", known)


def list_skills(graph: KnowledgeGraph, tag: str | None = None) -> list[KnowledgeNode]:
    """Return the skills, of one tag if it is given, by id."""
    skills = graph.find_nodes_by_type(SKILL)
    if not skills:
        raise GraphError(f"The graph {graph.name!r} holds no skills.", "Build it: hoprank skills build DIR.")
    return [one for one in skills if tag is None or folded(tag) in map(folded, one.labels)]


def related(graph: KnowledgeGraph, name: str, top_k: int, restart_prob: float) -> list[Related]:
    """Return the ``top_k`` skills that a walk with restart at a skill visits most, in the limit of endless walks.

    The walk passes through folders and packages, which aren't shown. A skill that it comes to by way of a folder alone
    is left out: to lie in one place says little, and nothing in a collection whose skills all lie in one.
    """
    skill = find_skill(graph, name)
    ranked = graph.walk_from({skill.id: 1.0}, top_k=graph.size().nodes, restart_prob=restart_prob)
    others = (one for one in ranked if one.node.type == SKILL and one.node.id != skill.id)
    explained = ((one, _why(graph, skill, one.node)) for one in others)
    found = (Related(one.node, one.score, why) for one, why in explained if why)
    return list(islice(found, top_k))


def requires(graph: KnowledgeGraph, name: str, *, transitive: bool) -> Required:
    """Return what a skill requires, or, if ``transitive``, also what that requires; nearest first, then by id."""
    skill = find_skill(graph, name)
    hops = graph.size().nodes if transitive else 1
    reached = [
        (one.node, one.hops)
        for one in graph.multi_hop_retrieval(skill.id, hops, edge_types=_REQUIRED)
        if one.node.id != skill.id
    ]
    reached.sort(key=lambda pair: (pair[1], pair[0].id))
    skills = [pair for pair in reached if pair[0].type == SKILL]
    return Required(
        skills,
        [pair for pair in reached if pair[0].type == PACKAGE],
        sorted({text for node in (skill, *(one for one, _ in skills)) for text in missing_of(node)}),
    )


def order(graph: KnowledgeGraph, name: str) -> list[KnowledgeNode]:
    """Return what to load for a skill, in order: what it requires first, itself last; ties by id.

    Raises GraphError naming the cycle, if skills require each other.
    """
    skill = find_skill(graph, name)
    needed = [skill.id, *(node.id for node, _ in requires(graph, name, transitive=True).skills)]
    part = graph.get_subgraph(needed)
    sorter = TopologicalSorter({one: set[str]() for one in needed})
    for edge in part.get_edges_by_type(SkillEdge.REQUIRES):
        sorter.add(edge.source, edge.target)
    try:
        sorter.prepare()
    except CycleError as error:
        cycle = " -> ".join(reversed(error.args[1]))
        raise GraphError(f"Skills require each other: {cycle}.", "Take one of these requirements away.") from error
    ordered: list[str] = []
    while sorter.is_active():
        ready = sorted(sorter.get_ready())
        ordered += ready
        sorter.done(*ready)
    return part.get_nodes(ordered)


def path_between(graph: KnowledgeGraph, one: str, other: str) -> tuple[list[KnowledgeNode], list[list[KnowledgeEdge]]]:
    """Return the strongest way between two skills, either way along edges, and the edges of each step.

    Packages are gone through only if no skills join the two, and folders only if nothing else does.
    """
    ends = find_skill(graph, one).id, find_skill(graph, other).id
    path: list[KnowledgeNode] = []
    for types in (_BETWEEN_SKILLS, _ALL_BUT_FOLDERS, None):
        path = path or graph.find_path(*ends, by="strength", edge_types=types, direction=Direction.BOTH)
    edges = list(graph.get_subgraph([node.id for node in path]).edges())
    steps = pairwise(path)
    return path, [[edge for edge in edges if {edge.source, edge.target} == {a.id, b.id}] for a, b in steps]


def search(graph: KnowledgeGraph, text: str, top_k: int) -> list[RankedNode]:
    """Return the skills that a text finds by words, by the graph and by meaning, best first."""
    found = graph.search(text, top_k=max(50, 3 * top_k), mode=Mode.ALL, graph_hops=1)
    return [one for one in found if one.node.type == SKILL][:top_k]


def missing_of(node: KnowledgeNode) -> list[str]:
    """Return the dependencies of a skill that are neither a skill nor a package."""
    found = node.properties.get("missing")
    return [str(text) for text in found] if isinstance(found, list) else []


def said(edge: KnowledgeEdge, frm: str) -> str:
    """Return what an edge says, read from one of its ends."""
    kind = SkillEdge(edge.type)
    passive = edge.directed and edge.target == frm
    match kind:
        case SkillEdge.SHARES_TAGS:
            tags = edge.properties.get("tags")
            return f"shares {', '.join(map(str, tags))}" if isinstance(tags, list) else "shares tags"
        case SkillEdge.SIMILAR:
            return f"similar ({edge.weight:.2f})"
        case SkillEdge.MENTIONS:
            return "mentioned by it" if passive else "mentions it"
        case SkillEdge.REQUIRES:
            return "required by it" if passive else "requires it"
        case SkillEdge.CONTAINS:
            return "below it" if passive else "contains it"
        case SkillEdge.USES | SkillEdge.DOCUMENTS:
            return f"{'used' if kind is SkillEdge.USES else 'documented'} by it" if passive else f"{kind.value} it"


def _why(graph: KnowledgeGraph, skill: KnowledgeNode, other: KnowledgeNode) -> list[str]:
    """Return what joins two skills: the edges between them, else the way there; nothing, if it leads by a folder."""
    edges = sorted(graph.get_subgraph([skill.id, other.id]).edges(), key=lambda edge: (-edge.weight, edge.type))
    if edges:
        return [said(edge, skill.id) for edge in edges]
    way = graph.find_path(skill.id, other.id, by="strength", direction=Direction.BOTH)
    between = way[1:-1]
    if any(node.type == FOLDER for node in between):
        return []
    return ["by way of " + ", ".join(str(node.properties.get("name", node.id)) for node in between)]
