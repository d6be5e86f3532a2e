"""``hoprank memory fact``, ``invalidate``, ``supersede``, ``retract``, ``history`` and ``conflicts``: facts in time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pipeline.cli.options import Json, Set
from pipeline.cli.views.output import print_json, say, show, warn
from pipeline.domains.memory import deferred as domain
from pipeline.domains.memory.cli.options import Entity, EntityType, Name, Scope, opened, plain
from pipeline.domains.memory.views.facts import conflicts_view, history_view, revision_line

if TYPE_CHECKING:
    from pipeline.domains.memory.facts.versions import Revision
    from pipeline.domains.memory.facts.write import Triple
    from pipeline.domains.memory.memory import AgentMemory

Source = Annotated[str, typer.Argument(metavar="SOURCE", help="The name, an alias or the id of an entity.")]
Type = Annotated[str, typer.Argument(metavar="TYPE", help="The relation: depends_on, imports, fixed_by ...")]
Target = Annotated[str, typer.Argument(metavar="TARGET", help="Another entity.")]
Evidence = Annotated[str, typer.Option("--evidence", metavar="TEXT", help="Why: a sentence, a commit, a memory's key.")]
At = Annotated[str, typer.Option("--at", metavar="TIME", help="When, in the world; ISO 8601.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(fact)
    app.command()(invalidate)
    app.command()(supersede)
    app.command()(retract)
    app.command()(history)
    app.command()(conflicts)


def fact(
    source: Source,
    type_: Type,
    target: Target,
    evidence: Evidence,
    valid_at: Annotated[
        str | None,
        typer.Option("--valid-at", metavar="TIME", help="Since when it holds; “ever” for always.", show_default="now"),
    ] = None,
    invalid_at: Annotated[
        str | None, typer.Option("--invalid-at", metavar="TIME", help="Until when it held.", show_default=False)
    ] = None,
    weight: Annotated[float, typer.Option("--weight", min=0, max=1, help="How strong the relation is.")] = 0.5,
    confidence: Annotated[float, typer.Option("--confidence", min=0, max=1, help="How sure it is.")] = 0.9,
    create: Annotated[
        str | None,
        typer.Option("--create", metavar="TYPE,TYPE", help="Make missing ends of these types.", show_default=False),
    ] = None,
    scope: Scope = None,
    name: Name = "memory",
    as_json: Json = False,
    settings: Set = None,
) -> None:
    """Add a fact between two entities; others stay, also those that contradict it."""
    with opened(name, settings) as memory:
        if create:
            _make_ends(memory, source, target, create, scope)
        triple = _triple(memory, source, type_, target, scope)
        begin = None if valid_at == "ever" else _time(memory, valid_at) if valid_at else domain.clock.now()
        made = domain.records.Fact(
            *triple,
            begin,
            _time(memory, invalid_at) if invalid_at else None,
            weight,
            confidence,
            scope or memory.settings.scope,
            (evidence,),
        )
        revision = domain.write.add_facts(memory, [made])
    _deliver(revision, as_json)


def invalidate(
    source: Source,
    type_: Type,
    target: Target,
    at: At,
    evidence: Evidence,
    scope: Scope = None,
    name: Name = "memory",
    as_json: Json = False,
    settings: Set = None,
) -> None:
    """End a fact in the world: it held until then. What was believed before can still be asked for."""
    with opened(name, settings) as memory:
        triple = _triple(memory, source, type_, target, scope)
        revision = domain.write.invalidate(memory, triple, _time(memory, at), evidence)
    _deliver(revision, as_json)


def supersede(
    source: Source,
    type_: Type,
    target: Target,
    by: Annotated[str, typer.Argument(metavar="NEW", help="The entity that takes the target's place.")],
    at: At,
    evidence: Evidence,
    scope: Scope = None,
    name: Name = "memory",
    as_json: Json = False,
    settings: Set = None,
) -> None:
    """End a fact and let another hold from then on: SOURCE TYPE TARGET becomes SOURCE TYPE NEW."""
    with opened(name, settings) as memory:
        triple = _triple(memory, source, type_, target, scope)
        new = memory.resolve(by, scope=scope)
        made = domain.records.Fact(triple[0], type_, new.id, scope=scope or memory.settings.scope, confidence=0.9)
        revision = domain.write.supersede(memory, triple, made, _time(memory, at), evidence)
    _deliver(revision, as_json)


def retract(
    source: Source,
    type_: Type,
    target: Target,
    evidence: Evidence,
    version: Annotated[
        str | None, typer.Option("--version", metavar="ID", help="Only this version of it.", show_default=False)
    ] = None,
    scope: Scope = None,
    name: Name = "memory",
    as_json: Json = False,
    settings: Set = None,
) -> None:
    """Withdraw a fact that never held; its history still shows it."""
    with opened(name, settings) as memory:
        triple = _triple(memory, source, type_, target, scope)
        revision = domain.write.retract(memory, triple, evidence, version_id=version)
    _deliver(revision, as_json)


def history(
    entity: Entity,
    type_: Annotated[
        str | None, typer.Option("--type", "-t", metavar="TYPE", help="Only this relation.", show_default=False)
    ] = None,
    other: Annotated[
        str | None, typer.Option("--with", metavar="ENTITY", help="Only with this entity.", show_default=False)
    ] = None,
    entity_type: EntityType = None,
    scope: Scope = None,
    name: Name = "memory",
    as_json: Json = False,
    settings: Set = None,
) -> None:
    """List every version of the facts of an entity: when each held, when it was known, and why it ended."""
    with opened(name, settings) as memory:
        start = memory.resolve(entity, type_=entity_type, scope=scope)
        end = memory.resolve(other, scope=scope) if other else None
        found = domain.history.history(memory, start, type_, end)
    if as_json:
        print_json(plain(found))
    elif found:
        show(history_view(found))
    else:
        warn(f"Nothing was ever known of {start.name}.")


def conflicts(scope: Scope = None, name: Name = "memory", as_json: Json = False, settings: Set = None) -> None:
    """List facts that can't all be right. None of them is ended by that."""
    with opened(name, settings) as memory:
        memory.graph()
        found = domain.history.conflicts(memory, scope)
    if as_json:
        print_json(plain(found))
    elif found:
        show(conflicts_view(found))
    else:
        say("No facts contradict each other.")


def _triple(memory: AgentMemory, source: str, type_: str, target: str, scope: str | None) -> Triple:
    memory.check_relations([type_])
    return memory.resolve(source, scope=scope).id, type_, memory.resolve(target, scope=scope).id


def _make_ends(memory: AgentMemory, source: str, target: str, types: str, scope: str | None) -> None:
    kinds = types.split(",")
    kinds = kinds * 2 if len(kinds) == 1 else kinds[:2]
    ends = [
        domain.records.Entity(name, kind.strip(), scope or memory.settings.scope, mention_count=0)
        for name, kind in zip((source, target), kinds, strict=True)
    ]
    domain.entities.upsert(memory, ends)


def _time(memory: AgentMemory, text: str) -> str:
    return domain.times.read_time(text, memory.zone, "The time")


def _deliver(revision: Revision, as_json: bool) -> None:
    if as_json:
        print_json(plain(revision))
    else:
        say(revision_line(revision))
