"""The face of skill graphs, and its verbs for servers: find skills, and what to load for one."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Concatenate, ParamSpec, TypeVar

from pydantic import Field

from pipeline.api import HopRank
from pipeline.db.catalogue import get_graph
from pipeline.domains.skills import build, check, queries
from pipeline.domains.skills.check import Findings
from pipeline.domains.skills.queries import Related, Required
from pipeline.domains.skills.settings import SkillSettings
from pipeline.domains.skills.sources import Built
from pipeline.embedding.everyday import Everyday
from pipeline.knowledge import KnowledgeEdge, KnowledgeGraph, KnowledgeNode, RankedNode
from pipeline.progress import Progress
from pipeline.registry import Verb
from pipeline.retrieve.lru import SharedCache

_P = ParamSpec("_P")
_Result = TypeVar("_Result")


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
        self._whole: SharedCache[tuple[str, int], KnowledgeGraph] = SharedCache(1)

    def build(self, folder: str | Path, *, progress: Progress | None = None) -> Built:
        """Bring the graph to hold the skills below a folder, and nothing else; only differences are written.

        Raises SourceError if the folder holds no readable skill; the graph then stays as it is.
        """
        limits = self._connection.settings.sources.limits
        make = partial(self._connection.graph, self.name, kind="skills")
        return build.build(make, Path(folder).expanduser(), self._scaled, progress, limits=limits)

    def list(self, tag: str | None = None) -> Sequence[KnowledgeNode]:
        """Return the skills by id, with ``tag`` only those that have it."""
        return self._read(queries.list_skills, tag)

    def show(self, name: str) -> tuple[KnowledgeNode, Sequence[KnowledgeEdge]]:
        """Return a skill and all its edges."""
        return self._read(queries.show, name)

    def search(self, text: str, top_k: int = 10) -> Sequence[RankedNode]:
        """Return the skills that fit a text by words, by the graph and by meaning, best first."""
        return self._read(queries.search, text, top_k)

    def related(self, name: str, top_k: int = 10) -> Sequence[Related]:
        """Return the skills with the highest PageRank personalised to a skill, best first, with the reasons.

        The walk passes through folders and packages. Skills connected by a folder alone are left out: a shared folder
        says little, and nothing if all skills are in one.
        """
        return self._read(self._related, name, top_k)

    def requires(self, name: str, *, transitive: bool = False) -> Required:
        """Return the skills and packages that a skill requires, with ``transitive`` also theirs; and the missing."""
        return self._read(queries.requires, name, transitive=transitive)

    def order(self, name: str) -> Sequence[KnowledgeNode]:
        """Return what to load for a skill, in order: what it requires first, itself last; ties by id.

        Raises GraphError naming the cycle if skills require each other.
        """
        return self._read(queries.load_order, name)

    def path(self, source: str, target: str) -> tuple[Sequence[KnowledgeNode], Sequence[Sequence[KnowledgeEdge]]]:
        """Return the strongest path between two skills, and the edges of each step; nothing if nothing joins them.

        A path through skills alone is preferred, then one through packages, then one through folders.
        """
        return self._read(queries.path, source, target)

    def check(self) -> Findings:
        """Report missing dependencies, cycles of requirements, orphans and near-duplicates."""
        return self._read(check.check, self._scaled)

    def _related(self, graph: KnowledgeGraph, name: str, top_k: int) -> Sequence[Related]:
        # The walk comes to most of the graph, and each skill's evidence may be a path: it is read whole, once.
        stored = get_graph(self._connection.client, graph.name)
        whole = self._whole.get((stored.id, stored.version), graph.to_memory)
        return queries.related(whole, name, top_k, self._settings.restart_prob)

    @property
    def _scaled(self) -> SkillSettings:
        """The settings with cosines of the model at hand."""
        connection = self._connection
        scale = Everyday(connection.embedder, connection.settings.data_home).scale
        return scale.applied(self._settings, "similar", "near_meaning")

    def _read(
        self, read: Callable[Concatenate[KnowledgeGraph, _P], _Result], *args: _P.args, **kw: _P.kwargs
    ) -> _Result:
        return self._connection.read_graph(self.name, lambda graph: read(graph, *args, **kw))


Graph = Annotated[str, Field(description="Name of the graph of skills.")]
Skill = Annotated[str, Field(min_length=1, description="Id or name of a skill.")]


def search(
    hoprank: HopRank,
    task: Annotated[str, Field(min_length=1, description="What a skill is needed for.")],
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
    found = hoprank.kept(Skills, graph).related(skill, top_k)
    return {"skills": [{**_skill(one.node), "score": one.score, "why": list(one.why)} for one in found]}


def _skill(node: KnowledgeNode) -> dict[str, Any]:
    return {"id": node.id, **{key: node.properties.get(key) for key in ("name", "description", "path")}}


VERBS = (
    Verb("search", search, "Find the skills that fit a task, by words, by meaning and by the graph."),
    Verb("order", order, "List what to load for a skill, in order: what it requires first, itself last."),
    Verb("related", related, "List the skills related to a skill, and why."),
)
