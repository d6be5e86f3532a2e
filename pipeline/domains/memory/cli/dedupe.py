"""``hoprank memory dedupe``: entities that are the same thing, merged so that it can be undone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from pipeline.cli.deliver import deliver
from pipeline.cli.groups import Commands
from pipeline.cli.views.output import say, warn
from pipeline.domains.memory import deferred as domain
from pipeline.domains.memory.cli.options import Ask, Reading
from pipeline.domains.memory.views import merge_line, merges_view, plan_view
from pipeline.text.prose import counted

app = Commands(no_args_is_help=True, help="Find entities that are the same thing, and merge them reversibly.")


@app.command()
def plan(
    output: Annotated[
        Path | None, Option("--output", "-o", metavar="FILE", help="Write the plan to FILE, for apply.")
    ] = None,
    run: Reading = Ask(),
) -> None:
    """Show which entities are the same thing, and why; nothing is changed."""
    with run.opened() as memory:
        made = domain.plan.plan(memory.graph(), memory.settings, memory.scale)
    if output:
        made.write(output)
    alike = made.groups or made.review
    deliver(made, run.as_json, lambda it: plan_view(it) if alike else "No two entities look like the same thing.")


@app.command()
def apply(
    file: Annotated[
        Path | None, Argument(metavar="PLAN", help="A plan that was written to a file.", show_default="a new plan")
    ] = None,
    accept: Annotated[
        list[str] | None, Option("--accept", metavar="ID,ID", help="Merge this pair of the review; repeatable.")
    ] = None,
    run: Reading = Ask(),
) -> None:
    """Merge the entities of a plan, or pairs of its review."""
    with run.opened() as memory:
        graph = memory.graph()
        made = domain.plan.Plan.read(file) if file else domain.plan.plan(graph, memory.settings, memory.scale)
        if accept:
            made = domain.plan.accepted(made, [_pair(text) for text in accept])
        merged = domain.apply.apply(graph, memory.made_journal(), made)
    deliver(merged, run.as_json, lambda it: merge_line(it) if it else "There is nothing to merge.")


@app.command()
def undo(
    merge: Annotated[
        str | None, Argument(metavar="MERGE", help="The id of a merge.", show_default="the last one")
    ] = None,
    run: Annotated[Ask, "name", "settings"] = Ask(),
) -> None:
    """Undo a merge: its entities and their facts are restored."""
    with run.opened() as memory:
        undone = domain.apply.undo(memory.graph(), memory.made_journal(), merge)
    restored = counted(len(undone.restored), "entity is", "entities are")
    say(f"Undid {undone.merge.id}: {restored} there again.")
    for note in undone.notes:
        warn(note)


@app.command("list")
def list_(run: Reading) -> None:
    """List the merges that can be undone, the newest first."""
    with run.opened() as memory:
        memory.graph()
        merges = domain.apply.merges(memory.made_journal())
    deliver(merges, run.as_json, lambda it: merges_view(it) if it else "Nothing has been merged.")


def _pair(text: str) -> tuple[str, str]:
    first, _, second = text.partition(",")
    return first.strip(), second.strip()
