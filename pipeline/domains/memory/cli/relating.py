"""``hoprank memory direct``, ``reverse``, ``hops``, ``subgraph``, ``path``, ``by-type`` and ``most-connected``."""

from __future__ import annotations

from typing import Annotated

import typer

from pipeline.cli.options import Json, Set
from pipeline.cli.views.output import print_json, show, warn
from pipeline.domains.memory import deferred as domain
from pipeline.domains.memory.cli.options import (
    AsOf,
    Depth,
    Entity,
    EntityType,
    KnownAt,
    Limit,
    Name,
    Scope,
    Types,
    opened,
    plain,
    when_of,
)
from pipeline.domains.memory.views.relating import (
    connected_view,
    entities_view,
    near_view,
    path_view,
    related_view,
    subgraph_view,
)

BothWays = Annotated[bool, typer.Option("--both", help="Follow facts against their direction, too.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(direct)
    app.command()(reverse)
    app.command()(hops)
    app.command()(subgraph)
    app.command()(path)
    app.command("by-type")(by_type)
    app.command("most-connected")(most_connected)


def direct(
    entity: Entity,
    types: Types = None,
    entity_type: EntityType = None,
    scope: Scope = None,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    limit: Limit = 100,
    name: Name = "memory",
    as_json: Json = False,
    settings: Set = None,
) -> None:
    """List what an entity relates to: what it imports, contains, calls, depends on."""
    with opened(name, settings) as memory:
        when = when_of(memory, as_of, known_at)
        start = memory.resolve(entity, type_=entity_type, scope=scope, when=when)
        found = domain.patterns.direct(memory, start, types, when, limit)
    if as_json:
        print_json(plain(found))
    elif found:
        show(related_view(found))
    else:
        warn(f"{start.name} relates to nothing then.")


def reverse(
    entity: Entity,
    types: Types = None,
    entity_type: EntityType = None,
    scope: Scope = None,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    limit: Limit = 100,
    name: Name = "memory",
    as_json: Json = False,
    settings: Set = None,
) -> None:
    """List what relates to an entity: what imports it, calls it, depends on it."""
    with opened(name, settings) as memory:
        when = when_of(memory, as_of, known_at)
        start = memory.resolve(entity, type_=entity_type, scope=scope, when=when)
        found = domain.patterns.reverse(memory, start, types, when, limit)
    if as_json:
        print_json(plain(found))
    elif found:
        show(related_view(found))
    else:
        warn(f"Nothing relates to {start.name} then.")


def hops(
    entity: Entity,
    depth: Depth = 2,
    types: Types = None,
    both: BothWays = False,
    entity_type: EntityType = None,
    scope: Scope = None,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    limit: Limit = 100,
    name: Name = "memory",
    as_json: Json = False,
    settings: Set = None,
) -> None:
    """List the entities within one, two or three facts of an entity, nearest first."""
    with opened(name, settings) as memory:
        when = when_of(memory, as_of, known_at)
        start = memory.resolve(entity, type_=entity_type, scope=scope, when=when)
        direction = domain.knowledge.Direction.BOTH if both else domain.knowledge.Direction.OUT
        found = domain.patterns.hops(memory, start, depth, types, when, direction=direction, limit=limit)
    if as_json:
        print_json(plain(found))
    elif found:
        show(near_view(found))
    else:
        warn(f"No fact leads on from {start.name} then.")


def subgraph(
    entity: Entity,
    depth: Depth = 1,
    types: Types = None,
    entity_type: EntityType = None,
    scope: Scope = None,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    limit: Limit = 100,
    name: Name = "memory",
    as_json: Json = False,
    settings: Set = None,
) -> None:
    """Show an entity, the entities around it, and all facts among them."""
    with opened(name, settings) as memory:
        when = when_of(memory, as_of, known_at)
        start = memory.resolve(entity, type_=entity_type, scope=scope, when=when)
        found = domain.patterns.subgraph(memory, start, depth, types, when, limit)
    if as_json:
        print_json(plain(found))
    else:
        show(*subgraph_view(found))


def path(
    source: Annotated[str, typer.Argument(metavar="FROM", help="The name, an alias or the id of an entity.")],
    target: Annotated[str, typer.Argument(metavar="TO", help="Another one.")],
    depth: Depth = 3,
    types: Types = None,
    both: BothWays = False,
    scope: Scope = None,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    name: Name = "memory",
    as_json: Json = False,
    settings: Set = None,
) -> None:
    """Print a shortest path of facts between two entities."""
    with opened(name, settings) as memory:
        when = when_of(memory, as_of, known_at)
        start = memory.resolve(source, scope=scope, when=when)
        goal = memory.resolve(target, scope=scope, when=when)
        direction = domain.knowledge.Direction.BOTH if both else domain.knowledge.Direction.OUT
        found = domain.patterns.path(memory, start, goal, depth, types, when, direction=direction)
    if as_json:
        print_json(plain(found))
    elif found:
        show(path_view(start, found))
    else:
        warn(f"No path of {depth} facts leads from {start.name} to {goal.name} then.")


def by_type(
    type_: Annotated[str, typer.Argument(metavar="TYPE", help="file, function, library, person, concept ...")],
    scope: Scope = None,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    limit: Limit = 50,
    name: Name = "memory",
    as_json: Json = False,
    settings: Set = None,
) -> None:
    """List the entities of a type, those with the most mentions first."""
    with opened(name, settings) as memory:
        memory.graph()
        found = domain.patterns.by_type(memory, type_, scope, when_of(memory, as_of, known_at), limit)
    if as_json:
        print_json(plain(found))
    elif found:
        show(entities_view(found))
    else:
        warn(f"There is no {type_} then.")


def most_connected(
    entity_type: EntityType = None,
    scope: Scope = None,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    limit: Limit = 10,
    name: Name = "memory",
    as_json: Json = False,
    settings: Set = None,
) -> None:
    """List the entities with the most facts."""
    with opened(name, settings) as memory:
        memory.graph()
        found = domain.patterns.most_connected(memory, entity_type, scope, when_of(memory, as_of, known_at), limit)
    if as_json:
        print_json(plain(found))
    elif found:
        show(connected_view(found))
    else:
        warn("There are no facts then.")
