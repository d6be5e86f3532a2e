"""Read sessions, messages and benchmark sets: the formats that name speaker, text and date in plain fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pipeline.domains.memory.remember.fields import DATES, SPEAKERS, TEXTS, first_of, listed, mapping, text_in
from pipeline.domains.memory.remember.records import Message
from pipeline.errors import SourceError
from pipeline.ids import digest

_TURN = 'A turn is {"speaker": ..., "text": ..., "date": ...}.'
_SESSION = 'A session is {"session": ..., "date": ..., "turns": [...]}.'


def sessions(value: Mapping[str, Any], where: str, stem: str) -> Iterator[Message]:
    """Yield the turns of ``{"conversation", "sessions": [{"session", "date", "turns": [...]}]}`` in order.

    A turn without a date takes its session's, a session without one its conversation's. A session without a name is
    named by its place, from 1.
    """
    held = listed(value.get("sessions"), "sessions", where)
    conversation = first_of(value, ("conversation", "id", "conversation_id"))
    for number, item in enumerate(held, 1):
        at = f"{where}, session {number}"
        session = mapping(item, at, _SESSION)
        turns = listed(session.get("turns"), "turns", at)
        if conversation is None and turns:
            conversation = derived_name(stem, turns[0])
        inherited = {
            "conversation": conversation,
            "session": _or(first_of(session, ("session", "id")), number),
            "date": _or(first_of(session, DATES), first_of(value, DATES)),
            "title": _or(session.get("title"), value.get("title")),
        }
        for place, turn in enumerate(turns, 1):
            yield message(mapping(turn, f"{at}, turn {place}", _TURN), f"{at}, turn {place}", inherited, place)


def messages(value: Mapping[str, Any], where: str, stem: str) -> Iterator[Message]:
    """Yield the messages of ``{"messages": [...]}``, which may name its conversation, title and date."""
    held = listed(value.get("messages"), "messages", where)
    conversation = first_of(value, ("conversation", "conversation_id", "id"))
    inherited = {
        "conversation": derived_name(stem, held[0]) if conversation is None and held else conversation,
        "session": value.get("session"),
        "date": first_of(value, DATES),
        "title": _or(value.get("title"), value.get("name")),
    }
    for place, item in enumerate(held, 1):
        at = f"{where}, message {place}"
        yield message(mapping(item, at, _TURN), at, inherited, place)


def message(
    value: Mapping[str, Any], where: str, inherited: Mapping[str, Any] | None = None, place: int | None = None
) -> Message:
    """Return a message of plain fields; those that it lacks are its ``metadata``'s, then the ``inherited`` ones.

    ``place`` is its number if it gives none.
    """
    metadata = value.get("metadata")
    if not isinstance(metadata, Mapping | None):
        raise SourceError(f"{where}: its metadata aren't an object.", 'Give {"name": value}.')
    fields = {**(inherited or {}), **_present(metadata or {}), **_present(value)}
    text, left_out = text_in(value, TEXTS, where)
    dates = (first_of(layer, DATES) for layer in (value, metadata or {}, inherited or {}))
    return Message(
        where,
        text,
        key=first_of(value, ("id", "_id", "uuid")),
        speaker=_speaker(_or(first_of(value, SPEAKERS), first_of(metadata or {}, SPEAKERS))),
        time=next((date for date in dates if date is not None), None),
        conversation=fields.get("conversation"),
        session=fields.get("session"),
        turn=_or(fields.get("turn"), place),
        title=fields.get("title"),
        metadata=metadata,
        entities=value.get("entities"),
        facts=value.get("facts"),
        left_out=left_out,
    )


def derived_name(stem: str, first: object) -> str:
    """Return the name of a conversation that has none: the file's name, and a mark of its first message.

    The mark keeps apart conversations of files of one name. It stays while messages are appended.
    """
    held = first if isinstance(first, Mapping) else {}
    identity = (first_of(held, names) for names in (SPEAKERS, DATES, TEXTS))
    return f"{stem}-{digest('conversation', *map(ascii, identity))[:8]}"


def _present(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _or(value: Any, otherwise: Any) -> Any:
    return otherwise if value is None else value


def _speaker(value: Any) -> Any:
    """Return the name of a speaker that may be an object: ``{"role": ..., "name": ...}``."""
    return first_of(value, ("name", "role")) if isinstance(value, Mapping) else value
