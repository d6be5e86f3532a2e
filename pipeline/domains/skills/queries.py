"""Queries of a skill graph: find, list, search, related skills, requirements, load order and paths."""

from collections.abc import Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import islice, pairwise
from typing import Any

from pipeline.domains.skills.references import folded
from pipeline.domains.skills.schema import FOLDER, PACKAGE, SKILL, SkillEdge
from pipeline.errors import GraphError, did_you_mean
from pipeline.grouping import grouped
from pipeline.knowledge import Direction, KnowledgeEdge, KnowledgeGraph, KnowledgeNode, Mode, RankedNode, explore

BETWEEN_SKILLS = [
    kind.value for kind in (SkillEdge.REQUIRES, SkillEdge.MENTIONS, SkillEdge.SHARES_TAGS, SkillEdge.SIMILAR)
]
"""Types of the edges that join two skills directly."""


@dataclass(frozen=True, slots=True)
class Related:
    """A related skill, its share of a random walk, and the evidence: the edges between the skills, or the path."""

    node: KnowledgeNode
    score: float
    why: Sequence[str]

    def to_json(self) -> dict[str, Any]:
        """Return the skill's id, its score and the evidence."""
        return {"id": self.node.id, "score": self.score, "why": list(self.why)}


@dataclass(frozen=True, slots=True)
class Required:
    """The required skills and packages of a skill, each with its distance in edges, and the missing dependencies."""

    skills: Sequence[tuple[KnowledgeNode, int]]
    packages: Sequence[tuple[KnowledgeNode, int]]
    missing: Sequence[str]

    def to_json(self) -> dict[str, Any]:
        """Return the required skills and packages, each with the number of steps to it, and the missing ones."""
        return {
            "skills": [{"id": node.id, "steps": hops} for node, hops in self.skills],
            "packages": [{"name": node.properties.get("name", node.id), "steps": hops} for node, hops in self.packages],
            "missing": list(self.missing),
        }


def find_skill(graph: KnowledgeGraph, name: str) -> KnowledgeNode:
    """Return the skill with that id, name or folder name, in this order of preference.

    Raises GraphError with the closest id if there is none, and with all ids if several skills match.
    """
    wanted = folded(name)
    stored = {node.id: node for node in graph.get_nodes([name, wanted]) if node.type == SKILL}
    if skill := stored.get(name) or stored.get(wanted):
        return skill
    matches, skills = [node for node in graph.filter_nodes_by_property("name", name) if node.type == SKILL], []
    if not matches:  # in another spelling, or by its folder
        skills = graph.find_nodes_by_type(SKILL)
        matches = [skill for skill in skills if wanted in (folded(skill.id), folded(str(skill.properties["name"])))]
    if not matches:
        matches = [skill for skill in skills if wanted == folded(str(skill.properties["path"]).rsplit("/", 1)[-1])]
    if len(matches) == 1:
        return matches[0]
    if matches:
        ids = ", ".join(repr(skill.id) for skill in matches)
        raise GraphError(f"{len(matches)} skills are named {name!r}.", f"Say which: {ids}.")
    known = [skill.id for skill in skills]
    listing = f"`hoprank graph list {graph.name} --type {SKILL}` lists them."
    fix = did_you_mean(name, known, listing, cutoff=0.4)  # chosen by hand
    raise GraphError(f"The graph {graph.name!r} has no skill {name!r}.", fix)


def edges_of(graph: KnowledgeGraph, skill: KnowledgeNode) -> list[KnowledgeEdge]:
    """Return all edges of a skill."""
    return graph.get_edges_of_node(skill.id, direction=Direction.BOTH)


def list_skills(graph: KnowledgeGraph, tag: str | None = None) -> list[KnowledgeNode]:
    """Return the skills, with ``tag`` only those that have it, ordered by id; raises GraphError if there are none."""
    skills = graph.find_nodes_by_type(SKILL)
    if not skills:
        raise GraphError(f"The graph {graph.name!r} holds no skills.", "Build it: hoprank skills build DIR.")
    return [skill for skill in skills if tag is None or folded(tag) in map(folded, skill.labels)]


def show(graph: KnowledgeGraph, name: str) -> tuple[KnowledgeNode, list[KnowledgeEdge]]:
    """Return a skill and all its edges."""
    skill = find_skill(graph, name)
    return skill, edges_of(graph, skill)


def search(graph: KnowledgeGraph, text: str, top_k: int) -> list[RankedNode]:
    """Return the skills that fit a text by words, by the graph and by meaning, best first."""
    # More than top_k, since packages and folders rank too. Both figures were chosen by hand; they aren't measured.
    ranked = graph.search(text, top_k=max(50, 3 * top_k), mode=Mode.ALL, graph_hops=1)
    return [one for one in ranked if one.node.type == SKILL][:top_k]


def related(graph: KnowledgeGraph, name: str, top_k: int, restart_prob: float) -> list[Related]:
    """Return the skills with the highest PageRank personalised to a skill, without those that only a folder joins.

    The graph is best in memory: there may be a look-up for each skill.
    """
    skill = find_skill(graph, name)
    ranked = graph.walk_from({skill.id: 1.0}, graph.size().nodes, restart_prob)
    strongest_first = sorted(edges_of(graph, skill), key=lambda edge: (-edge.weight, edge.type))
    edges = grouped((edge.other(skill.id), edge) for edge in strongest_first)
    others = (one for one in ranked if one.node.type == SKILL and one.node.id != skill.id)
    explained = ((one, evidence(graph, skill, one.node, edges[one.node.id])) for one in others)
    return [*islice((Related(one.node, one.score, why) for one, why in explained if why), top_k)]


def requires(graph: KnowledgeGraph, name: str, *, transitive: bool) -> Required:
    """Return the requirements of a skill, with ``transitive`` also theirs; nearest first, ties by id."""
    skill = find_skill(graph, name)
    hops = graph.size().nodes if transitive else 1
    followed = [SkillEdge.REQUIRES.value, SkillEdge.USES.value]
    entries = graph.multi_hop_retrieval(skill.id, hops, edge_types=followed)
    reached = [(entry.node, entry.hops) for entry in entries if entry.node.id != skill.id]
    reached.sort(key=lambda pair: (pair[1], pair[0].id))
    skills = [pair for pair in reached if pair[0].type == SKILL]
    return Required(
        skills,
        [pair for pair in reached if pair[0].type == PACKAGE],
        sorted({text for node in (skill, *(required for required, _ in skills)) for text in missing_of(node)}),
    )


def load_order(graph: KnowledgeGraph, name: str) -> list[KnowledgeNode]:
    """Return what to load for a skill, in order; raises GraphError naming the cycle if skills require each other."""
    required = requires(graph, name, transitive=True).skills
    ids = [find_skill(graph, name).id, *(node.id for node, _ in required)]
    subgraph = graph.get_subgraph(ids)
    sorter = TopologicalSorter({id_: set[str]() for id_ in ids})
    for edge in subgraph.get_edges_by_type(SkillEdge.REQUIRES):
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
    return subgraph.get_nodes(ordered)


def path(graph: KnowledgeGraph, source: str, target: str) -> tuple[list[KnowledgeNode], list[list[KnowledgeEdge]]]:
    """Return the strongest path between two skills, by way of skills, else packages, else folders; and its edges."""
    ends = find_skill(graph, source).id, find_skill(graph, target).id
    all_but_folders = [kind.value for kind in SkillEdge if kind is not SkillEdge.CONTAINS]
    for types in (BETWEEN_SKILLS, all_but_folders, None):
        found = explore.path(graph, *ends, types=types, by="strength")
        if found.nodes:
            break
    joins = [{before.id, after.id} for before, after in pairwise(found.nodes)]
    return list(found.nodes), [[edge for edge in found.edges if {edge.source, edge.target} == join] for join in joins]


def missing_of(node: KnowledgeNode) -> list[str]:
    """Return the missing dependencies of a skill: neither a skill nor a package."""
    missing = node.properties.get("missing")
    return [str(text) for text in missing] if isinstance(missing, list) else []


def describe_edge(edge: KnowledgeEdge, node_id: str) -> str:
    """Return an edge in words, as seen from the endpoint ``node_id``."""
    kind = SkillEdge(edge.type)
    passive = edge.directed and edge.target == node_id
    match kind:
        case SkillEdge.SHARES_TAGS:
            tags = edge.properties.get("tags")
            return f"shares {', '.join(map(str, tags))}" if isinstance(tags, list) else "shares tags"
        case SkillEdge.SIMILAR:
            return f"similar ({edge.weight:.2f})"
        case SkillEdge.CONTAINS:
            return "below it" if passive else "contains it"
    passives = {
        SkillEdge.MENTIONS: "mentioned",
        SkillEdge.REQUIRES: "required",
        SkillEdge.USES: "used",
        SkillEdge.DOCUMENTS: "documented",
    }
    return f"{passives[kind]} by it" if passive else f"{kind.value} it"


def evidence(
    graph: KnowledgeGraph, skill: KnowledgeNode, other: KnowledgeNode, edges: Sequence[KnowledgeEdge]
) -> list[str]:
    """Return the edges between two skills in words, else the strongest path; nothing if it passes a folder."""
    if edges:
        return [describe_edge(edge, skill.id) for edge in edges]
    between = graph.find_path(skill.id, other.id, by="strength", direction=Direction.BOTH)[1:-1]
    if any(node.type == FOLDER for node in between):
        return []
    return ["by way of " + ", ".join(str(node.properties.get("name", node.id)) for node in between)]
