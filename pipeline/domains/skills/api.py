"""Verbs of the domain for servers: find skills, and what to load for one."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from pipeline.api import HopRank
from pipeline.domains.skills import queries
from pipeline.domains.skills.settings import SkillSettings
from pipeline.knowledge import KnowledgeNode
from pipeline.registry import Verb

Graph = Annotated[str, Field(description="Name of the graph of skills.")]
Skill = Annotated[str, Field(min_length=1, description="Id or name of a skill.")]


def search(
    hoprank: HopRank,
    task: Annotated[str, Field(min_length=1, max_length=10_000, description="What a skill is needed for.")],
    top_k: Annotated[int, Field(ge=1, le=100, description="Number of skills.")] = 10,
    graph: Graph = "skills",
) -> dict[str, Any]:
    """Return the skills that fit a task, best first."""
    found = queries.search(hoprank.graph(graph, create=False), task, top_k)
    return {"skills": [{**_skill(ranked.node), "score": ranked.score} for ranked in found]}


def order(hoprank: HopRank, skill: Skill, graph: Graph = "skills") -> dict[str, Any]:
    """Return what to load for a skill: what it requires first, itself last; and what is missing."""
    opened = hoprank.graph(graph, create=False)
    required = queries.requires(opened, skill, transitive=True)
    return {
        "load": [_skill(node) for node in queries.order(opened, skill)],
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
    restart_prob = hoprank.settings.section(SkillSettings).restart_prob
    found = queries.related(hoprank.graph(graph, create=False), skill, top_k, restart_prob)
    return {"skills": [{**_skill(one.node), "score": one.score, "why": list(one.why)} for one in found]}


def _skill(node: KnowledgeNode) -> dict[str, Any]:
    return {"id": node.id, **{key: node.properties.get(key) for key in ("name", "description", "path")}}


VERBS = (
    Verb("search", search, "Find the skills that fit a task, by words, by meaning and by the graph."),
    Verb("order", order, "List what to load for a skill, in order: what it requires first, itself last."),
    Verb("related", related, "List the skills related to a skill, and why."),
)
