"""``hoprank memory search`` and ``hybrid``: questions in words."""

from __future__ import annotations

from typing import Annotated

import typer

from pipeline.cli.options import Filters, Json, Model, Set, read_filter
from pipeline.cli.views.output import print_json, show, spinner, warn
from pipeline.domains.memory import deferred as domain
from pipeline.domains.memory.cli.options import AsOf, KnownAt, Name, Scope, opened, plain, when_of
from pipeline.domains.memory.views.asking import recall_view, topic_view


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(search)
    app.command()(hybrid)


def search(
    question: Annotated[str, typer.Argument(metavar="QUESTION")],
    top_k: Annotated[int, typer.Option("--top-k", "-k", min=1, max=1000, help="How many items.")] = 10,
    level: Annotated[
        list[str] | None,
        typer.Option("--level", help="texts, low (entities) or high (themes); repeatable.", show_default="all"),
    ] = None,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    now: Annotated[
        str | None,
        typer.Option("--now", metavar="TIME", help="What “last May” is relative to.", show_default="--as-of, or now"),
    ] = None,
    scope: Scope = None,
    filters: Filters = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say which level found each item, and the themes.")
    ] = False,
    name: Name = "memory",
    as_json: Json = False,
    model: Model = None,
    settings: Set = None,
) -> None:
    """Print the memories and entities that answer a question, best first."""
    conditions, levels = read_filter(filters), domain.recall.levels_named(level)
    with opened(name, settings, model) as memory, spinner("Searching"):
        found = domain.recall.recall(
            memory,
            question,
            top_k,
            when_of(memory, as_of, known_at),
            scope=scope,
            filters=conditions,
            now=domain.recall.present(memory, now) if now else None,
            levels=levels,
        )
    if as_json:
        print_json(plain(found))
    elif found.items:
        show(*recall_view(found, explain=explain))
    else:
        warn("Nothing that is remembered fits this.")


def hybrid(
    topic: Annotated[str, typer.Argument(metavar="TOPIC")],
    top_k: Annotated[int, typer.Option("--top-k", "-k", min=1, max=1000, help="How many memories.")] = 5,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    scope: Scope = None,
    name: Name = "memory",
    as_json: Json = False,
    settings: Set = None,
) -> None:
    """Print the memories on a topic, the entities that they mention, and what these relate to."""
    with opened(name, settings) as memory:
        found = domain.hybrid.hybrid(memory, topic, top_k, when_of(memory, as_of, known_at), scope=scope)
    if as_json:
        print_json(plain(found))
    elif found.memories:
        show(*topic_view(found))
    else:
        warn("No memory has these words.")
