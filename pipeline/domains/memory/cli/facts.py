"""``hoprank memory mentions``, ``fact``, ``history`` and others: facts of entities, read and changed."""

from typing import Annotated

from typer import Argument, Option

from pipeline.cli.deliver import deliver
from pipeline.cli.options import AsOf, KnownAt, Limit
from pipeline.domains.memory import deferred as domain
from pipeline.domains.memory import views
from pipeline.domains.memory.cli.options import Ask, Entity, EntityType, Reading, Scope, Scoped
from pipeline.errors import InputError

Source = Annotated[str, Argument(metavar="SOURCE", help="The name, an alias or the id of an entity.")]
Type = Annotated[str, Argument(metavar="TYPE", help="The relation: depends_on, imports, fixed_by ...")]
Target = Annotated[str, Argument(metavar="TARGET", help="Another entity.")]
Evidence = Annotated[str, Option("--evidence", metavar="TEXT", help="Why: a sentence, a commit, a memory's key.")]
At = Annotated[str, Option("--at", metavar="TIME", help="When, in the world; ISO 8601.")]


def mentions(
    entity: Annotated[
        str | None, Argument(metavar="ENTITY", help="The name, an alias or the id of an entity.", show_default=False)
    ] = None,
    text: Annotated[str | None, Option("--text", metavar="KEY", help="List what this text mentions instead.")] = None,
    entity_type: EntityType = None,
    scope: Scope = None,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    limit: Limit = 100,
    run: Reading = Ask(),
) -> None:
    """List the texts that mention an entity; with --text the entities that a text mentions."""
    if (entity is None) == (text is None):
        raise InputError("Either an entity or a text is asked for.", "Give ENTITY or --text KEY.")
    with run.opened() as memory:
        when = domain.times.when(as_of, known_at, memory.zone)
        then = " then" if any(when) else ""
        if text is not None:
            found = domain.patterns.mentioned(memory, text, when)[:limit]
            deliver(found, run.as_json, views.entities_view, f"The text {text} mentions nothing{then}.")
            return
        start = memory.resolve(entity or "", type_=entity_type, scope=scope, when=when)
        texts = domain.patterns.mentioning(memory, start, when)[:limit]
    deliver(texts, run.as_json, views.texts_view, f"No text mentions {start.name}{then}.")


def fact(
    source: Source,
    type_: Type,
    target: Target,
    evidence: Evidence,
    valid_at: Annotated[
        str | None,
        Option("--valid-at", "--since", metavar="TIME", help="Since when; “ever” for always.", show_default="now"),
    ] = None,
    invalid_at: Annotated[str | None, Option("--invalid-at", "--until", metavar="TIME", help="Until when.")] = None,
    weight: Annotated[float, Option("--weight", min=0, max=1, help="How strong the relation is.")] = 0.5,
    confidence: Annotated[float, Option("--confidence", min=0, max=1, help="How sure it is.")] = 0.9,
    create: Annotated[
        str | None, Option("--create", metavar="TYPE,TYPE", help="Make missing ends of these types.")
    ] = None,
    run: Scoped = Ask(),
) -> None:
    """Add a fact between two entities; others stay, also those that contradict it."""
    with run.opened() as memory:
        revision = memory.fact(
            source,
            type_,
            target,
            since=valid_at or None,
            until=invalid_at or None,
            evidence=evidence,
            weight=weight,
            confidence=confidence,
            create=[kind.strip() for kind in create.split(",")[:2]] if create else (),
            scope=run.scope,
        )
    deliver(revision, run.as_json, views.revision_line)


def invalidate(source: Source, type_: Type, target: Target, at: At, evidence: Evidence, run: Scoped) -> None:
    """End a fact in the world: it held until then. What was believed before can still be asked for."""
    with run.opened() as memory:
        revision = memory.end(source, type_, target, at=at, evidence=evidence, scope=run.scope)
    deliver(revision, run.as_json, views.revision_line)


def supersede(
    source: Source,
    type_: Type,
    target: Target,
    by: Annotated[str, Argument(metavar="NEW", help="The entity that takes the target's place.")],
    at: At,
    evidence: Evidence,
    run: Scoped,
) -> None:
    """End a fact and let another hold from then on: SOURCE TYPE TARGET becomes SOURCE TYPE NEW."""
    with run.opened() as memory:
        triple = memory.triple(source, type_, target, run.scope)
        new = memory.resolve(by, scope=run.scope)
        made = domain.records.Fact(triple[0], type_, new.id, scope=run.scope or memory.settings.scope, confidence=0.9)
        revision = domain.revise.supersede(memory, triple, made, memory.time(at), evidence)
    deliver(revision, run.as_json, views.revision_line)


def retract(
    source: Source,
    type_: Type,
    target: Target,
    evidence: Evidence,
    version: Annotated[str | None, Option("--version", metavar="ID", help="Only this version of it.")] = None,
    run: Scoped = Ask(),
) -> None:
    """Withdraw a fact that never held; its history still shows it."""
    with run.opened() as memory:
        triple = memory.triple(source, type_, target, run.scope)
        revision = domain.revise.retract(memory, triple, evidence, version_id=version)
    deliver(revision, run.as_json, views.revision_line)


def history(
    entity: Entity,
    type_: Annotated[str | None, Option("--type", "-t", metavar="TYPE", help="Only this relation.")] = None,
    other: Annotated[str | None, Option("--with", metavar="ENTITY", help="Only with this entity.")] = None,
    entity_type: EntityType = None,
    run: Scoped = Ask(),
) -> None:
    """List every version of the facts of an entity: when each held, when it was known, and why it ended."""
    with run.opened() as memory:
        start = memory.resolve(entity, type_=entity_type, scope=run.scope)
        end = memory.resolve(other, scope=run.scope) if other else None
        found = domain.patterns.history(memory, start, type_, end)
    deliver(found, run.as_json, views.history_view, f"Nothing was ever known of {start.name}.")


def conflicts(run: Scoped) -> None:
    """List facts that can't all be right. None of them is ended by that."""
    with run.opened() as memory:
        memory.graph()
        found = domain.patterns.conflicts(memory, run.scope)
    deliver(found, run.as_json, lambda it: views.conflicts_view(it) if it else "No facts contradict each other.")
