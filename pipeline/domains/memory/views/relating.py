"""Views of entities and of what relates them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from pipeline.cli.views.tables import plain_table

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pipeline.domains.memory.patterns import Around, Connected, Near, Related
    from pipeline.domains.memory.records import Entity, Fact

_LONGEST = 60


def related_view(related: Sequence[Related], *, sources: bool = False) -> Table:
    """Return a row a fact: its other end, its strength, and since when it holds; with ``sources`` both ends."""
    table = plain_table(*(["from"] if sources else []), "relation", "entity", "type", "weight", "since", "evidence")
    for one in related:
        fact = one.fact
        begin = [Text(name_of(fact.source))] if sources else []
        evidence = Text(_short(fact.evidence[0]) if fact.evidence else "")
        since = (fact.valid_at or "")[:10]
        table.add_row(*begin, fact.type, Text(one.entity.name), one.entity.type, f"{fact.weight:.2f}", since, evidence)
    return table


def near_view(near: Sequence[Near]) -> Table:
    """Return a row an entity, with its distance."""
    table = plain_table("hops", "entity", "type", "score")
    for one in near:
        table.add_row(str(one.hops), Text(one.entity.name), one.entity.type, f"{one.score:.3f}")
    return table


def subgraph_view(found: Around) -> list[RenderableType]:
    """Return the entities of a neighbourhood and the facts among them."""
    parts: list[RenderableType] = [entities_view(found.entities)]
    if found.facts:
        parts.append(Text("\n".join(fact_text(fact) for fact in found.facts)))
    return parts


def path_view(start: Entity, steps: Sequence[Related]) -> Text:
    """Return the steps of a path, one below the other."""
    lines = [start.name]
    for step in steps:
        arrow = f"<-{step.fact.type}-" if step.fact.source == step.entity.id else f"-{step.fact.type}->"
        lines.append(f"  {arrow} {step.entity.name}")
    return Text("\n".join(lines))


def entities_view(entities: Sequence[Entity]) -> Table:
    """Return a row an entity."""
    table = plain_table("entity", "type", "mentions", "scope", "description")
    for entity in entities:
        table.add_row(
            Text(entity.name, style="bold"),
            entity.type,
            str(entity.mention_count),
            Text(entity.scope),
            Text(_short(entity.description)),
        )
    return table


def connected_view(connected: Sequence[Connected]) -> Table:
    """Return a row an entity, with its numbers of facts."""
    table = plain_table("entity", "type", "out", "in", "facts")
    for one in connected:
        total = one.outgoing + one.incoming
        table.add_row(Text(one.entity.name), one.entity.type, str(one.outgoing), str(one.incoming), str(total))
    return table


def fact_text(fact: Fact) -> str:
    """Return a fact as a line: its ends, and when it holds."""
    since, until = (fact.valid_at or "")[:10], (fact.invalid_at or "")[:10]
    period = f" ({since or 'ever'} to {until or 'now'})" if since or until else ""
    return f"{name_of(fact.source)} {fact.type} {name_of(fact.target)}{period}"


def name_of(id_: str) -> str:
    """Return the name in the id of an entity."""
    return id_.split("|", 2)[-1]


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
