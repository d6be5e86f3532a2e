"""Sessions of Claude Code: a line for each turn, among lines of its bookkeeping."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from pipeline.domains.memory.chats.messages import Found, Message, an_object, first_of, message, text_in
from pipeline.errors import SourceError
from pipeline.files import Guard, lines
from pipeline.records import Skipped

_TURNS = ("user", "assistant")


def is_line(value: Mapping[str, Any]) -> bool:
    """Return whether an object is a line of a session: it has a type, and a turn or no text of its own."""
    turn = value.get("type") in _TURNS and isinstance(value.get("message"), Mapping)
    own = {"leafUuid", "snapshot", "sessionId", "uuid"}
    return turn or (isinstance(value.get("type"), str) and not own.isdisjoint(value) and "text" not in value)


def turn(value: Mapping[str, Any], where: str, titles: "Titles") -> Found:
    """Yield the turn of a line, and what isn't read of it.

    A conversation is a session of Claude Code; what its subagents say is a session within it. A summary is the title of
    the conversation that it sums up.
    """
    kind = str(value["type"])
    if kind in _TURNS:
        yield where, partial(_turn, value, where, titles)
    elif kind == "summary" and str(value.get("leafUuid")) not in titles.summed_up:
        yield Skipped(where, "it sums up a session that isn't in this file")
    elif not first_of(value, ("summary", *_TITLES)):
        yield Skipped(where, f"a line of type {kind:.40} is no turn")


_NO_TURNS = {
    "isMeta": "the session hides it",
    "isCompactSummary": "it sums up the turns before it",
    "isApiErrorMessage": "it is an error of the service",
}
"""Why a line that looks like a turn is none, by the field that says so."""

_OUTPUTS = ("local-command-stdout", "local-command-stderr", "bash-stdout", "bash-stderr")
_INTERRUPTED = "[Request interrupted by user"


def _shown(text: str, left_out: list[str]) -> tuple[str, list[str]]:
    """Return a text as its writer wrote it, without what the program adds, and why parts are left out."""
    if text.startswith(_INTERRUPTED) and text.endswith("]") and "\n" not in text:
        return "", [*left_out, "it is a note of the system"]
    text, _ = _without(text, "system-reminder")
    for tag in _OUTPUTS:
        text, outputs = _without(text, tag)
        left_out = [*left_out, *(["the output of a command isn't read"] if outputs else [])]
    _, names = _without(text, "command-name")
    if names and text.lstrip().startswith("<command-"):
        _, given = _without(text, "command-args")
        text = " ".join(one.strip() for one in (names[0], *given[:1]) if one.strip())
    rest, typed = _without(text, "bash-input")
    text = "\n".join(one for one in (rest.strip(), *typed) if one) if typed else text
    return text, left_out


def _without(text: str, tag: str) -> tuple[str, list[str]]:
    """Return a text without its parts in a tag, and what these hold."""
    opening, closing = f"<{tag}>", f"</{tag}>"
    rest, parts, at = [], [], 0
    while (start := text.find(opening, at)) >= 0 and (end := text.find(closing, start)) >= 0:
        rest.append(text[at:start])
        parts.append(text[start + len(opening) : end])
        at = end + len(closing)
    return ("".join([*rest, text[at:]]).strip(), parts) if parts else (text, parts)


_TITLES = ("customTitle", "aiTitle")


@dataclass(frozen=True, slots=True)
class Titles:
    """The titles of a file's sessions, by their ids; ``summed_up`` are the ids of turns by which summaries name one."""

    of: Mapping[str, str] = field(default_factory=dict)
    summed_up: frozenset[str] = frozenset()


def titles_in(path: Path, guard: Guard) -> Titles:
    """Return the titles of the sessions in a file: later ones before earlier, given ones before summaries."""
    summaries: dict[object, str] = {}
    given: dict[str, str] = {}
    session_of: dict[object, str] = {}
    for line in lines(path, guard):
        try:
            value = line.json()
        except SourceError:
            continue  # is named when it is read
        if not isinstance(value, Mapping):
            continue
        session, uuid, leaf = value.get("sessionId"), value.get("uuid"), value.get("leafUuid")
        if isinstance(session, str) and isinstance(uuid, str):
            session_of[uuid] = session
        if isinstance(leaf, str) and isinstance(summary := value.get("summary"), str):
            summaries[leaf] = summary
        if isinstance(session, str) and isinstance(title := first_of(value, _TITLES), str):
            given[session] = title
    summed_up = {session_of[leaf]: summary for leaf, summary in summaries.items() if leaf in session_of}
    return Titles(summed_up | given, frozenset(str(leaf) for leaf in summaries if leaf in session_of))


def _turn(value: Mapping[str, Any], where: str, titles: Titles) -> Message:
    held = an_object(value.get("message"), where)
    conversation = value.get("sessionId")
    aside = value.get("isSidechain")
    fields = {
        "id": value.get("uuid"),
        "date": value.get("timestamp"),
        "speaker": held.get("role") or value["type"],
        "session": (value.get("agentId") or "sidechain") if aside else None,
        "title": titles.of.get(str(conversation)),
    }
    left_out = next((reason for name, reason in _NO_TURNS.items() if value.get(name)), None)
    read = ("", [left_out]) if left_out else _shown(*text_in(held, ("content",), where))
    return message(fields, where, {"conversation": conversation or "session"}, read=read, exported=True)
