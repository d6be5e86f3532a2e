"""Verbs of the domain for servers: find the tools for a task, and chains of them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from pydantic import Field

from pipeline.api import HopRank
from pipeline.domains.tools.queries import ToolSearch
from pipeline.registry import Verb

Task = Annotated[str, Field(min_length=1, max_length=10_000, description="What is to be done.")]
Graph = Annotated[str, Field(description="Name of the graph of tools.")]


def find(
    hoprank: HopRank,
    task: Task,
    top_k: Annotated[
        int | None, Field(ge=1, le=100, description="Number of tools; by default as many as the task needs.")
    ] = None,
    graph: Graph = "tools",
) -> dict[str, Any]:
    """Return the tools for a task with what they need, best first."""
    return {"tools": [asdict(tool) for tool in ToolSearch.open(hoprank, graph).find(task, top_k)]}


def chain(
    hoprank: HopRank,
    task: Task,
    limit: Annotated[int, Field(ge=1, le=20, description="The most chains.")] = 3,
    graph: Graph = "tools",
) -> dict[str, Any]:
    """Return chains of tools for a task, in which each output fits the next input, best first."""
    return {"chains": [asdict(one) for one in ToolSearch.open(hoprank, graph).chains(task, limit)]}


VERBS = (
    Verb("find", find, "Find the tools for a task, with those that must run before them."),
    Verb("chain", chain, "Plan chains of tools for a task, in which each output fits the next input."),
)
