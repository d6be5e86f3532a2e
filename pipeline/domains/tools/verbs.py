"""Verbs of the domain for servers: find the tools for a task, chain them, and tell the graph of a server's tools."""

from dataclasses import asdict
from typing import Annotated, Any

from pydantic import Field

from pipeline.api import HopRank
from pipeline.domains.tools.api import Tools
from pipeline.json_values import plain
from pipeline.registry import Verb

Task = Annotated[str, Field(min_length=1, description="What is to be done.")]
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
    return {"tools": [asdict(tool) for tool in hoprank.kept(Tools, graph).find(task, top_k)]}


def chain(
    hoprank: HopRank,
    task: Task,
    limit: Annotated[int, Field(ge=1, le=20, description="The most chains.")] = 3,
    graph: Graph = "tools",
) -> dict[str, Any]:
    """Return chains of tools for a task, in which each output fits the next input, best first."""
    return {"chains": [asdict(one) for one in hoprank.kept(Tools, graph).chains(task, limit)]}


def build(
    hoprank: HopRank,
    server: Annotated[str, Field(min_length=1, max_length=500, description="Name of the server.")],
    tools: Annotated[
        list[dict[str, Any]],
        Field(min_length=1, max_length=1_000, description="All its tools, each as tools/list has it."),
    ],
    description: Annotated[str, Field(max_length=2_000, description="What the server is for.")] = "",
    dry_run: Annotated[bool, Field(description="Only say what would change.")] = False,
    graph: Graph = "tools",
) -> dict[str, Any]:
    """Add the tools of a server, replacing those of its name; return the ids of what changed, and what was skipped."""
    changed = hoprank.kept(Tools, graph).add(server, tools, description, dry_run=dry_run)
    return {"dry_run": dry_run, **plain(changed)}


VERBS = (
    Verb("find", find, "Find the tools for a task, with those that must run before them.", names="graph"),
    Verb("chain", chain, "Plan chains of tools for a task, in which each output fits the next input.", names="graph"),
    Verb(
        "build",
        build,
        "Add a server's tools to the graph, or replace those that it has of this server; other servers' tools stay.",
        read_only=False,
        idempotent=True,
        names="graph",
    ),
)
