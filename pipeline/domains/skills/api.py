"""The face of skill graphs, and its verbs for servers: find skills, and what to load for one."""

from collections.abc import Sequence
from functools import partial
from graphlib import CycleError, TopologicalSorter
from itertools import islice, pairwise
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from pipeline.api import HopRank
from pipeline.domains.skills import build, check, queries
from pipeline.domains.skills.check import Findings
from pipeline.domains.skills.queries import Related, Required
from pipeline.domains.skills.schema import SKILL, SkillEdge
from pipeline.domains.skills.settings import SkillSettings
from pipeline.domains.skills.sources import Built
from pipeline.errors import GraphError
from pipeline.grouping import grouped
from pipeline.knowledge import KnowledgeEdge, KnowledgeGraph, KnowledgeNode, Mode, RankedNode, explore
from pipeline.progress import Progress
from pipeline.registry import Verb


class Skills:
    """The skills of a named graph: build it from a folder, find skills, and what belongs to one. Thread-safe.

    A skill is named by its id, its name or its folder's name. Questions raise GraphError if there is no such graph or
    skill.

    Example::

        from hoprank import HopRank, Skills

        with HopRank.connect() as hoprank:
            skills = Skills(hoprank, "skills")
            skills.build("~/skills")
            for skill in skills.search("track experiments", top_k=3):
                print(skill.node.id, skill.score)
    """

    def __init__(self, connection: HopRank, name: str = "skills") -> None:
        self.name = name
        self._connection = connection
        self._settings = connection.settings.section(SkillSettings)

    def build(self, folder: str | Path, *, progress: Progress | None = None) -> Built:
        """Bring the graph to hold the skills below a folder, and nothing else; only differences are written.

        Raises SourceError if the folder holds no readable skill; the graph then stays as it is.
        """
        limits = self._connection.settings.sources.limits
        make = partial(self._connection.graph, self.name)
        return build.build(make, Path(folder).expanduser(), self._settings, progress, limits=limits)

    def list(self, tag: str | None = None) -> Sequence[KnowledgeNode]:
        """Return the skills by id, with ``tag`` only those that have it."""
        return queries.list_skills(self._graph(), tag)

    def show(self, name: str) -> tuple[KnowledgeNode, Sequence[KnowledgeEdge]]:
        """Return a skill and all its edges."""
        skill = queries.find_skill(graph := self._graph(), name)
        return skill, queries.edges_of(graph, skill)

    def search(self, text: str, top_k: int = 10) -> Sequence[RankedNode]:
        """Return the skills that fit a text by words, by the graph and by meaning, best first."""
        # More than top_k, since packages and folders rank too. Both figures were chosen by hand; they aren't measured.
        ranked = self._graph().search(text, top_k=max(50, 3 * top_k), mode=Mode.ALL, graph_hops=1)
        return [one for one in ranked if one.node.type == SKILL][:top_k]

    def related(self, name: str, top_k: int = 10) -> Sequence[Related]:
        """Return the skills with the highest PageRank personalised to a skill, best first, with the reasons.

        The walk passes through folders and packages. Skills connected by a folder alone are left out: a shared folder
        says little, and nothing if all skills are in one.
        """
        graph = self._graph()
        skill = queries.find_skill(graph, name)
        ranked = graph.walk_from({skill.id: 1.0}, graph.size().nodes, self._settings.restart_prob)
        strongest_first = sorted(queries.edges_of(graph, skill), key=lambda edge: (-edge.weight, edge.type))
        edges = grouped((edge.other(skill.id), edge) for edge in strongest_first)
        others = (one for one in ranked if one.node.type == SKILL and one.node.id != skill.id)
        explained = ((one, queries.evidence(graph, skill, one.node, edges[one.node.id])) for one in others)
        return [*islice((Related(one.node, one.score, why) for one, why in explained if why), top_k)]

    def requires(self, name: str, *, transitive: bool = False) -> Required:
        """Return the skills and packages that a skill requires, with ``transitive`` also theirs; and the missing."""
        return queries.requires(self._graph(), name, transitive=transitive)

    def order(self, name: str) -> Sequence[KnowledgeNode]:
        """Return what to load for a skill, in order: what it requires first, itself last; ties by id.

        Raises GraphError naming the cycle if skills require each other.
        """
        graph = self._graph()
        required = queries.requires(graph, name, transitive=True).skills
        ids = [queries.find_skill(graph, name).id, *(node.id for node, _ in required)]
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

    def path(self, source: str, target: str) -> tuple[Sequence[KnowledgeNode], Sequence[Sequence[KnowledgeEdge]]]:
        """Return the strongest path between two skills, and the edges of each step; nothing if nothing joins them.

        A path through skills alone is preferred, then one through packages, then one through folders.
        """
        graph = self._graph()
        ends = queries.find_skill(graph, source).id, queries.find_skill(graph, target).id
        all_but_folders = [kind.value for kind in SkillEdge if kind is not SkillEdge.CONTAINS]
        for types in (queries.BETWEEN_SKILLS, all_but_folders, None):
            found = explore.path(graph, *ends, types=types, by="strength")
            if found.nodes:
                break
        joins = [{before.id, after.id} for before, after in pairwise(found.nodes)]
        return found.nodes, [[edge for edge in found.edges if {edge.source, edge.target} == join] for join in joins]

    def check(self) -> Findings:
        """Report missing dependencies, cycles of requirements, orphans and near-duplicates."""
        return check.check(self._graph(), self._settings)

    def _graph(self) -> KnowledgeGraph:
        return self._connection.graph(self.name, create=False)


Graph = Annotated[str, Field(description="Name of the graph of skills.")]
Skill = Annotated[str, Field(min_length=1, description="Id or name of a skill.")]


def search(
    hoprank: HopRank,
    task: Annotated[str, Field(min_length=1, max_length=10_000, description="What a skill is needed for.")],
    top_k: Annotated[int, Field(ge=1, le=100, description="Number of skills.")] = 10,
    graph: Graph = "skills",
) -> dict[str, Any]:
    """Return the skills that fit a task, best first."""
    found = Skills(hoprank, graph).search(task, top_k)
    return {"skills": [{**_skill(ranked.node), "score": ranked.score} for ranked in found]}


def order(hoprank: HopRank, skill: Skill, graph: Graph = "skills") -> dict[str, Any]:
    """Return what to load for a skill: what it requires first, itself last; and what is missing."""
    skills = Skills(hoprank, graph)
    required = skills.requires(skill, transitive=True)
    return {
        "load": [_skill(node) for node in skills.order(skill)],
        "packages": [node.properties["name"] for node, _ in required.packages],
        "missing": list(required.missing),
    }


def related(
    hoprank: HopRank,
    skill: Skill,
    top_k: Annotated[int, Field(ge=1, le=100, description="Number of skills.")] = 10,
    graph: Graph = "skills",
) -> dict[str, Any]:
    """Return the skills related to a skill, best first, with the reasons."""
    found = Skills(hoprank, graph).related(skill, top_k)
    return {"skills": [{**_skill(one.node), "score": one.score, "why": list(one.why)} for one in found]}


def _skill(node: KnowledgeNode) -> dict[str, Any]:
    return {"id": node.id, **{key: node.properties.get(key) for key in ("name", "description", "path")}}


VERBS = (
    Verb("search", search, "Find the skills that fit a task, by words, by meaning and by the graph."),
    Verb("order", order, "List what to load for a skill, in order: what it requires first, itself last."),
    Verb("related", related, "List the skills related to a skill, and why."),
)
