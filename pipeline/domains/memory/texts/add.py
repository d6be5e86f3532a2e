"""Add one text to a memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pipeline.domains.memory.memory import AgentMemory
from pipeline.domains.memory.records import Memory
from pipeline.domains.memory.remember.records import Given, Read
from pipeline.domains.memory.texts.remember import Remembered, remember
from pipeline.domains.memory.times import read_time
from pipeline.errors import InputError
from pipeline.ids import digest
from pipeline.knowledge.clock import now
from pipeline.progress import Progress


def add_text(
    memory: AgentMemory,
    text: str,
    *,
    key: str | None = None,
    date: str | None = None,
    speaker: str = "",
    session: str = "",
    scope: str | None = None,
    entities: Sequence[Mapping[str, Any]] = (),
    facts: Sequence[Mapping[str, Any]] = (),
    progress: Progress | None = None,
) -> tuple[Memory, Remembered]:
    """Remember a text, verbatim, with the entities and facts given in the form of ``hoprank memory import``.

    ``date`` is when it was said, by default now; ``key`` identifies it, by default made from its time and its text.
    Raises InputError if the text is empty, ``date`` is no time, or an entity or fact is malformed.
    """
    if not text.strip():
        raise InputError("The text is empty.", "Say what is to be remembered.")
    time = read_time(date, memory.zone, "date") if date is not None else now()
    made = Memory(
        key=key or f"note/{digest('memory', time, speaker, session, text)[:16]}",
        text=text,
        time=time,
        speaker=speaker,
        session=session,
        scope=scope or memory.settings.scope,
    )
    given = (Given(made, "the text", list(entities) or None, list(facts) or None),) if entities or facts else ()
    return made, remember(memory, Read((made,), given), progress)
