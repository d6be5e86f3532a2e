"""Read the fields of a message: its text and parts, names and numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pipeline.errors import SourceError

SPEAKERS = ("speaker", "author", "name", "sender", "from", "role")
TEXTS = ("text", "content")
DATES = ("date", "time", "timestamp", "created_at", "create_time", "datetime")
LONGEST_NAME = 500
"""Longest key or name, in characters: an entry of the graph's index can have 8 kB."""


def first_of(value: Mapping[str, Any], names: Sequence[str]) -> Any:
    """Return the first field of ``names`` that is there and isn't null, else None."""
    return next((found for name in names if (found := value.get(name)) is not None), None)


def text_in(value: Mapping[str, Any], names: Sequence[str], where: str) -> tuple[str, tuple[str, ...]]:
    """Return the text of the first field of ``names`` that has one, verbatim, and why parts are left out.

    A field is a text, or a list of parts: texts, or ``{"type": "text", "text": ...}``; the texts are joined by line
    ends. Raises SourceError for another type.
    """
    left_out: tuple[str, ...] = ()
    for name in names:
        held = value.get(name)
        if held is None:
            continue
        if not isinstance(held, str | list):
            raise SourceError(f"{where}: its {name} is {_shown(held)}.", "Give a text, or a list of parts with texts.")
        text, left_out = (held, ()) if isinstance(held, str) else _joined(held, f"{where}: its {name}")
        if text.strip():
            return text, left_out
    return "", left_out


def _joined(parts: Sequence[Any], what: str) -> tuple[str, tuple[str, ...]]:
    read = list(_parts(parts, what))
    reasons = tuple(f"a part of type {kind} has no text" for kind, text in read if not text)
    return "\n".join(text for _, text in read if text), reasons


def _parts(parts: Sequence[Any], what: str) -> Iterator[tuple[str, str]]:
    for number, part in enumerate(parts, 1):
        if isinstance(part, str):
            yield "text", part
        elif isinstance(part, Mapping):
            kind = str(part.get("type") or part.get("content_type") or "unknown")
            text = part.get("text") if kind in ("text", "input_text", "output_text", "unknown") else None
            if not isinstance(text, str | None):
                raise SourceError(f"{what}, part {number}, has a text that is {_shown(text)}.", "Give a text.")
            yield kind, text or ""
        else:
            raise SourceError(f"{what}, part {number}, is {_shown(part)}.", 'Give {"type": "text", "text": ...}.')


def name_of(value: Any, what: str, where: str) -> str:
    """Return a name or id: a text or whole number; empty for None. Raises SourceError for another or a long one."""
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise SourceError(f"{where}: its {what} is {_shown(value)}.", "Give a text or a whole number.")
    name = storable(str(value), what, where)
    if len(name) > LONGEST_NAME:
        raise SourceError(f"{where}: its {what} has {len(name):,} characters.", f"{LONGEST_NAME} are the most.")
    return name


def storable(text: str, what: str, where: str) -> str:
    """Return ``text``. Raises SourceError if it holds half a surrogate pair or NUL, which can't be stored verbatim."""
    for at, char in () if text.isascii() and "\x00" not in text else enumerate(text):
        if char == "\x00" or "\ud800" <= char <= "\udfff":
            kind = "NUL" if char == "\x00" else "half a surrogate pair"
            raise SourceError(
                f"{where}: its {what} holds {kind} at character {at}.", "Replace it by the character that was meant."
            )
    return text


def turn_of(value: Any, where: str) -> int | None:
    """Return a turn's number, None if it has none. Raises SourceError unless it is a whole number from 0 on."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**53:
        raise SourceError(f"{where}: its turn is {_shown(value)}.", "Give a whole number, from 1 on.")
    return value


def listed(value: Any, what: str, where: str) -> list[Any]:
    """Return a list, empty for None. Raises SourceError for anything else."""
    if not isinstance(value, list | None):
        raise SourceError(f"{where}: its {what} are {_shown(value)}.", "Give a list.")
    return value or []


def mapping(value: Any, where: str, form: str) -> Mapping[str, Any]:
    """Return an object of JSON. Raises SourceError, with ``form`` as the fix, for anything else."""
    if not isinstance(value, Mapping):
        raise SourceError(f"{where} is {_shown(value)}.", form)
    return value


def _shown(value: object) -> str:
    """Return a value as a message shows it, cut, with half surrogates escaped."""
    return repr(value)[:60]
