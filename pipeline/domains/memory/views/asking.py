"""Views of what a memory answers to questions in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.text import Text

from pipeline.domains.memory import deferred as domain
from pipeline.domains.memory.views.relating import entities_view, fact_text, related_view

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pipeline.domains.memory.recall.hybrid import Topic
    from pipeline.domains.memory.recall.records import Found, FoundEntity, FoundText, Recall

_LONGEST = 500


def recall_view(found: Recall, *, explain: bool) -> list[RenderableType]:
    """Return the items of an answer, best first, and what it was understood as."""
    parts: list[RenderableType] = []
    for period in found.periods:
        since, until = (period.start or "")[:10], (period.end or "")[:10]
        parts.append(Text(f"“{period.phrase}”: {since or 'any time'} to {until or 'now'}", style="dim"))
    for place, item in enumerate(found.items, 1):
        parts += _item(place, item, explain=explain)
    if explain:
        parts.append(Text(f"Answered by: {found.answered}.", style="dim"))
        for theme in found.themes:
            parts.append(Text(f"Theme: {', '.join(entity.name for entity in theme.entities)}", style="dim"))
    return parts


def topic_view(found: Topic) -> list[RenderableType]:
    """Return memories on a topic, the entities that they mention, and their facts."""
    parts: list[RenderableType] = []
    for place, hit in enumerate(found.memories, 1):
        parts += [
            Text(f"{place:>2}  {hit.title}  {hit.document}", style="bold"),
            Padding(_short(hit.text), (0, 0, 0, 4)),
        ]
    if found.entities:
        parts.append(entities_view(found.entities))
    if found.facts:
        parts.append(related_view(found.facts, sources=True))
    return parts


def _item(place: int, item: Found, *, explain: bool) -> list[RenderableType]:
    head, body = _text(item) if isinstance(item, domain.recalled.FoundText) else _entity(item)
    parts: list[RenderableType] = [Text(f"{place:>2}  {head}", style="bold"), Padding(body, (0, 0, 0, 4))]
    if explain:
        levels = ", ".join(f"{level} {rank.rank} ({rank.share:.0%})" for level, rank in item.levels.items())
        parts.append(Padding(Text(f"by {levels}", style="dim"), (0, 0, 0, 4)))
    return parts


def _text(item: FoundText) -> tuple[str, Text]:
    return f"{item.hit.title}  {item.key}", _short(item.hit.text)


def _entity(item: FoundEntity) -> tuple[str, Text]:
    lines = [item.entity.description] if item.entity.description else []
    lines += [fact_text(related.fact) for related in item.facts]
    return f"{item.entity.type} {item.entity.name}", Text("\n".join(lines))


def _short(text: str) -> Text:
    line = " ".join(text.split())
    return Text(line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…")
