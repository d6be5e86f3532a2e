"""Verbs of the domain for servers: search the projects of a question, list related ones, and tell what was of use."""

from dataclasses import asdict
from typing import Annotated, Any

from pydantic import Field

from pipeline.api import HopRank
from pipeline.domains.routing.api import Projects
from pipeline.registry import Verb

Graph = Annotated[str | None, Field(description="Name of the graph of projects; by default that of the settings.")]


def search(
    hoprank: HopRank,
    question: Annotated[str, Field(min_length=1, description="The question.")],
    source: Annotated[str, Field(description="The project that asks; empty if none does.")] = "",
    projects: Annotated[
        list[str] | None, Field(description="Search exactly these projects, instead of those that fit the question.")
    ] = None,
    top_k: Annotated[int, Field(ge=1, le=100, description="Number of passages.")] = 10,
    graph: Graph = None,
) -> dict[str, Any]:
    """Return the passages of several projects that answer a question best, and why these projects were searched."""
    opened = hoprank.kept(Projects, graph)
    return opened.search(question, source=source, projects=projects or (), top_k=top_k).to_json()


def related(
    hoprank: HopRank,
    project: Annotated[str, Field(min_length=1, description="Id of a project.")],
    graph: Graph = None,
) -> dict[str, Any]:
    """Return the projects to which the relations of a project lead, the strongest first."""
    found = hoprank.kept(Projects, graph).related(project)
    return {"projects": [{"project": other.id, **asdict(relation)} for other, relation in found]}


def used(
    hoprank: HopRank,
    question: Annotated[str, Field(min_length=1, description="The question that was asked.")],
    source: Annotated[str, Field(min_length=1, description="The project that asked it.")],
    project: Annotated[str, Field(min_length=1, description="The project of the passage.")],
    rank: Annotated[int, Field(ge=1, le=1_000, description="The passage's place among those found, from 1.")],
    useful: Annotated[bool, Field(description="Whether the passage was of use.")] = True,
    relation: Annotated[str | None, Field(description="The relation over which it came, all by default.")] = None,
    graph: Graph = None,
) -> dict[str, Any]:
    """Record that a passage was of use, or wasn't, and return the weights of the relations that led to it."""
    learned = hoprank.kept(Projects, graph).used(question, source, project, rank, useful=useful, type=relation)
    return {"weights": [one.to_json() for one in learned]}


VERBS = (
    Verb("search", search, "Search the few projects that a question is about, chosen by the graph of projects."),
    Verb("related", related, "List the projects that a project uses, learns from or is a sibling of."),
    Verb(
        "used",
        used,
        "Tell that a passage of another project was of use, or wasn't: later searches weigh its project by that.",
        read_only=False,
        destructive=False,
    ),
)
