"""Verbs of the domain for servers: what an agent asks of its memory, and what it tells it.

What is told is kept as :class:`pipeline.domains.memory.api.Memory` keeps it: nothing is overwritten but by ``forget``.
"""

from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import Field

from pipeline.api import HopRank
from pipeline.domains.memory.api import Memory
from pipeline.domains.memory.traces import KIND, TRACE, Step
from pipeline.domains.memory.versions import Revision
from pipeline.json_values import plain
from pipeline.registry import Verb

Name = Annotated[str, Field(description="Name of the memory.")]
Scope = Annotated[str | None, Field(description="Only memories and entities of this scope, such as a project.")]
OwnScope = Annotated[str | None, Field(max_length=200, description="The scope that it belongs to, such as a project.")]
End = Annotated[str, Field(min_length=1, max_length=200, description="Name, alias or id of an entity.")]
Relation = Annotated[str, Field(min_length=1, max_length=100, description="The type of the fact, such as depends_on.")]
Evidence = Annotated[str, Field(max_length=2_000, description="Why it is believed, in a sentence.")]
Time = Annotated[str | None, Field(description="A time of the world, ISO 8601; now by default.")]
Missing = Annotated[
    tuple[str, ...],
    Field(max_length=2, description="Types for entities that are missing: of source and target, or one for both."),
]


def recall(
    hoprank: HopRank,
    question: Annotated[str, Field(min_length=1, description="What to remember.")],
    top_k: Annotated[int, Field(ge=1, le=100, description="Number of memories and entities.")] = 10,
    as_of: Annotated[
        str | None, Field(description="What held at this time of the world, ISO 8601; now by default.")
    ] = None,
    known_at: Annotated[str | None, Field(description="As far as it was known at this time, ISO 8601.")] = None,
    scope: Scope = None,
    traces: Annotated[
        bool, Field(description="Only traces of tasks: the question is a task, and they say how similar ones went.")
    ] = False,
    memory: Name = "memory",
) -> dict[str, Any]:
    """Return the memories and entities that answer a question best."""
    opened = hoprank.kept(Memory, memory)
    only: dict[str, Any] = {"filters": {f"metadata.{KIND}": TRACE}, "levels": ["texts"]} if traces else {}
    found: dict[str, Any] = plain(opened.search(question, top_k, as_of=as_of, known_at=known_at, scope=scope, **only))
    return found


def history(
    hoprank: HopRank,
    entity: Annotated[str, Field(min_length=1, description="Name, alias or id of an entity.")],
    relation: Annotated[str | None, Field(description="Only facts of this type.")] = None,
    scope: Scope = None,
    memory: Name = "memory",
) -> dict[str, Any]:
    """Return every version of the facts of an entity."""
    return {"facts": plain(hoprank.kept(Memory, memory).history(entity, relation, scope=scope))}


def mentions(
    hoprank: HopRank,
    what: Annotated[str, Field(min_length=1, description="Name, alias or id of an entity; or the key of a text.")],
    kind: Annotated[
        Literal["entity", "text"], Field(description="entity: the texts that mention it; text: what it mentions.")
    ] = "entity",
    as_of: Annotated[str | None, Field(description="Only texts said by this time, ISO 8601.")] = None,
    known_at: Annotated[str | None, Field(description="As far as it was known at this time, ISO 8601.")] = None,
    scope: Scope = None,
    memory: Name = "memory",
) -> dict[str, Any]:
    """Return the texts that mention an entity, or the entities that a text mentions."""
    opened = hoprank.kept(Memory, memory)
    if kind == "text":
        return {"entities": plain(opened.mentions(text=what, as_of=as_of, known_at=known_at))}
    return {"texts": plain(opened.texts(opened.mentions(what, as_of=as_of, known_at=known_at, scope=scope)))}


def remember(
    hoprank: HopRank,
    text: Annotated[str, Field(min_length=1, max_length=20_000, description="What to remember, kept as it is.")],
    date: Annotated[str | None, Field(description="When it was said, ISO 8601; now by default.")] = None,
    speaker: Annotated[str, Field(max_length=200, description="Who said it.")] = "",
    session: Annotated[str, Field(max_length=200, description="The conversation that it belongs to.")] = "",
    key: Annotated[
        str | None, Field(max_length=200, description="Its key: a text of this key is replaced. Made by default.")
    ] = None,
    steps: Annotated[
        tuple[Step, ...],
        Field(max_length=100, description="For a trace: the steps taken for a task, which is the text."),
    ] = (),
    outcome: Annotated[str, Field(max_length=2_000, description="For a trace: what came of it.")] = "",
    scope: OwnScope = None,
    memory: Name = "memory",
) -> dict[str, Any]:
    """Remember a text, and return its key and time, and how many facts and concepts it brought."""
    opened = hoprank.kept(Memory, memory)
    named: dict[str, Any] = {"key": key, "date": date, "speaker": speaker, "session": session, "scope": scope}
    traced = bool(steps or outcome)
    made, told = opened.trace(text, steps, outcome, **named) if traced else opened.add(text, **named)
    return {"key": made.key, "time": made.time, "facts": told.facts, "concepts": told.concepts}


def fact(
    hoprank: HopRank,
    source: End,
    relation: Relation,
    target: End,
    since: Annotated[str | None, Field(description="Since when it holds, ISO 8601 or `ever`; now by default.")] = None,
    until: Annotated[str | None, Field(description="Until when it held, ISO 8601; it holds still by default.")] = None,
    evidence: Evidence = "",
    create: Missing = (),
    scope: OwnScope = None,
    memory: Name = "memory",
) -> dict[str, Any]:
    """State a fact between two entities; other facts stay, also those that contradict it."""
    opened = hoprank.kept(Memory, memory)
    revision = opened.fact(
        source, relation, target, since=since, until=until, evidence=evidence, create=create, scope=scope
    )
    return _revised(revision)


def supersede(
    hoprank: HopRank,
    source: End,
    relation: Relation,
    target: End,
    evidence: Annotated[str, Field(min_length=1, max_length=2_000, description="Why it holds no more, in a sentence.")],
    by: Annotated[
        str | None, Field(min_length=1, description="What took the target's place, if something did.")
    ] = None,
    at: Time = None,
    create: Missing = (),
    scope: OwnScope = None,
    memory: Name = "memory",
) -> dict[str, Any]:
    """End a fact in the world, and state the one that took its place; its history can still be asked for."""
    opened = hoprank.kept(Memory, memory)
    ended = opened.end(source, relation, target, evidence=evidence, at=at, scope=scope)
    stated = Revision()
    if by is not None:
        stated = opened.fact(source, relation, by, since=at, evidence=evidence, create=create, scope=scope)
    return _revised(Revision((*ended.expired, *stated.expired), (*ended.added, *stated.added)))


def forget(
    hoprank: HopRank,
    entity: Annotated[str | None, Field(description="Texts that mention this entity, and the entity itself.")] = None,
    topic: Annotated[str | None, Field(description="Texts with these words.")] = None,
    since: Annotated[str | None, Field(description="Texts said at this time or later, ISO 8601.")] = None,
    until: Annotated[str | None, Field(description="Texts said before this time, ISO 8601.")] = None,
    session: Annotated[str | None, Field(description="Texts of this conversation.")] = None,
    scope: Scope = None,
    dry_run: Annotated[bool, Field(description="Only say what would be deleted; false deletes it for good.")] = True,
    memory: Name = "memory",
) -> dict[str, Any]:
    """Delete the texts that meet all conditions, and what is known from them alone, or say what would be deleted."""
    opened = hoprank.kept(Memory, memory)
    gone = opened.forget(entity, topic=topic, since=since, until=until, session=session, scope=scope, dry_run=dry_run)
    return {"dry_run": dry_run, **plain(gone)}


def _revised(revision: Revision) -> dict[str, Any]:
    return {"expired": plain(revision.expired), "added": plain(revision.added)}


def _verb(function: Callable[..., dict[str, Any]], help_: str, **how: bool) -> Verb:
    return Verb(function.__name__, function, help_, names="memory", **how)


VERBS = (
    _verb(recall, "Recall the memories and entities that answer a question, now or as of an earlier time."),
    _verb(history, "List every version of the facts of an entity: when each held, and when it was known."),
    _verb(mentions, "List the texts that mention an entity, or the entities that a text mentions."),
    _verb(
        remember,
        "Remember a text verbatim: a decision, a preference, or a task with its steps and outcome. Facts in it are"
        " read by themselves.",
        read_only=False,
        destructive=False,
    ),
    _verb(
        fact,
        "State a fact between two entities, with the time since which it holds. Nothing else changes.",
        read_only=False,
        destructive=False,
    ),
    _verb(
        supersede,
        "Say that a fact holds no more, why, and what took its place. Its history stays.",
        read_only=False,
        destructive=False,
    ),
    _verb(
        forget,
        "Delete memories for good, with what is known from them alone. By default only says what would go (dry_run).",
        read_only=False,
        idempotent=True,
    ),
)
