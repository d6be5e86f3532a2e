"""``hoprank memory dedupe``: entities that are the same thing, merged so that it can be undone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipeline.cli.deliver import deliver
from pipeline.cli.options import Json, Set
from pipeline.cli.views.output import say, warn
from pipeline.domains.memory import deferred as domain
from pipeline.domains.memory.cli.options import Name, opened
from pipeline.domains.memory.views import merge_line, merges_view, plan_view

if TYPE_CHECKING:
    from pipeline.domains.memory.memory import AgentMemory
    from pipeline.knowledge import KnowledgeGraph

app = typer.Typer(no_args_is_help=True, help="Find entities that are the same thing, and merge them reversibly.")


@app.command()
def plan(
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the plan to FILE, for apply."),
    ] = None,
    name: Name = "memory",
    as_json: Json = False,
    settings: Set = None,
) -> None:
    """Show which entities are the same thing, and why; nothing is changed."""
    with opened(name, settings) as memory:
        made = domain.plan.plan(memory.graph(), memory.settings)
    if output:
        made.write(output)
    alike = made.groups or made.review
    deliver(made, as_json, lambda it: plan_view(it) if alike else "No two entities look like the same thing.")


@app.command()
def apply(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[PLAN]", help="A plan that was written to a file.", show_default="a new plan"),
    ] = None,
    accept: Annotated[
        list[str] | None,
        typer.Option("--accept", metavar="ID,ID", help="Merge this pair of the review; repeatable."),
    ] = None,
    name: Name = "memory",
    as_json: Json = False,
    settings: Set = None,
) -> None:
    """Merge the entities of a plan, or pairs of its review."""
    with opened(name, settings) as memory:
        graph = memory.graph()
        made = domain.plan.Plan.read(file) if file else domain.plan.plan(graph, memory.settings)
        if accept:
            made = domain.plan.accepted(made, [_pair(text) for text in accept])
        merged = domain.apply.apply(graph, _journal(memory), made)
    deliver(merged, as_json, lambda it: merge_line(it) if it else "There is nothing to merge.")


@app.command()
def undo(
    merge: Annotated[
        str | None, typer.Argument(metavar="[MERGE]", help="The id of a merge.", show_default="the last one")
    ] = None,
    name: Name = "memory",
    settings: Set = None,
) -> None:
    """Undo a merge: its entities and their facts are there again."""
    with opened(name, settings) as memory:
        undone = domain.apply.undo(memory.graph(), _journal(memory), merge)
    say(f"Undid {undone.merge.id}: {len(undone.restored)} entities are there again.")
    for note in undone.notes:
        warn(note)


@app.command("list")
def list_(name: Name = "memory", as_json: Json = False, settings: Set = None) -> None:
    """List the merges that can be undone, the newest first."""
    with opened(name, settings) as memory:
        memory.graph()
        merges = domain.apply.merges(_journal(memory))
    deliver(merges, as_json, lambda it: merges_view(it) if it else "Nothing has been merged.")


def _journal(memory: AgentMemory) -> KnowledgeGraph:
    return memory.hoprank.graph(domain.memory.journal_name(memory.name))


def _pair(text: str) -> tuple[str, str]:
    first, _, second = text.partition(",")
    return first.strip(), second.strip()
