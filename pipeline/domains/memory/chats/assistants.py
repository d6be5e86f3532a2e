"""Conversations with assistants: exports of ChatGPT and Claude, and sessions of Claude Code."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from pipeline.domains.memory.chats.messages import (
    GUARD,
    Chat,
    Found,
    Message,
    an_object,
    attached,
    fields_of,
    first_of,
    listed,
    message,
    objects,
    text_in,
    texts_in,
)
from pipeline.errors import SourceError
from pipeline.files import Guard, lines, parse_json
from pipeline.grouping import grouped
from pipeline.records import Skipped
from pipeline.text.prose import counted

_MARK = re.compile(r" ?(?:\ue200([^\ue200\ue201]{0,500})\ue201|【[^【】\n]{0,60}†[^【】\n]{0,60}】)")
"""A mark of a source or of a name in a text of ChatGPT, between signs of private use."""

_HIDDEN = ("user_editable_context", "model_editable_context")
"""Content that the one who talks never sees: their own profile, and what the model has noted of them."""


def claude(chat: Chat, where: str, path: Path) -> Found:
    """Yield the messages of a conversation of Claude's export.

    Edited questions and repeated answers branch it: the branch is read that ends with the leaf that the export names,
    else with the newest message. Attached texts are read, other files are left out.
    """
    inherited = chat.inherited(path.stem, chat.chat_messages)
    dropped = _other_branches(chat.chat_messages, chat.current)
    for place, item in enumerate(chat.chat_messages, 1):
        if not (dropped and str(fields_of(item).get("uuid")) in dropped):
            at = f"{where}, message {place}"
            yield at, partial(_claude, item, at, inherited, place)
    yield from _left_out(where, len(dropped))


def _left_out(where: str, dropped: int) -> Iterator[Skipped]:
    if dropped:
        yield Skipped(where, f"{counted(dropped, 'message')} of branches that weren't kept")


def _other_branches(items: Sequence[object], leaf: object) -> set[str]:
    """Return the ids of the messages on the branches that weren't kept.

    Of those that follow one message, that on the branch of ``leaf`` is kept, or the last where none is. A message whose
    parent isn't named is on all branches.
    """
    named = [item for item in objects(items) if isinstance(item.get("uuid"), str)]
    parents = {item["uuid"]: up for item in named if isinstance(up := item.get("parent_message_uuid"), str)}
    children = grouped((parent, id_) for id_, parent in parents.items())
    if all(len(siblings) == 1 for siblings in children.values()):
        return set()
    newest = max(enumerate(named), key=lambda item: (str(item[1].get("created_at") or ""), item[0]))[1]["uuid"]
    at, kept = leaf if isinstance(leaf, str) and leaf in parents else newest, set[str]()
    while at is not None and at not in kept:
        kept.add(at)
        at = parents.get(at)
    waiting: list[str] = []
    for siblings in children.values():
        own = next((one for one in siblings if one in kept), siblings[-1])
        waiting += [id_ for id_ in siblings if id_ != own]
    dropped: set[str] = set()
    while waiting:
        if (id_ := waiting.pop()) not in dropped and id_ not in kept:
            dropped.add(id_)
            waiting += children.get(id_, ())
    return dropped


def _claude(item: object, where: str, inherited: Mapping[str, Any], place: int) -> Message:
    """The parts of ``content`` are read before ``text``, which has placeholders for other parts."""
    item = an_object(item, where)
    text, left_out = text_in(item, ("content", "text"), where)
    texts, files = attached(item, ("attachments", "files"), "extracted_content")
    read = "\n\n".join([*([text] if text.strip() else []), *texts]), [*left_out, *files]
    return message(item, where, inherited, place, read=read, exported=True)


def chatgpt(chat: Chat, where: str, path: Path) -> Found:
    """Yield the messages of a conversation of ChatGPT's export, from the first to the last.

    Edited questions and repeated answers branch the tree: the branch of ``current_node`` is read. Without it, the last
    child of each node is, which is the newest. A message without a time takes its conversation's.
    """
    nodes = {name: node for name, node in chat.mapping.items() if isinstance(node, Mapping)}
    held = {name: item for name in _branch(nodes, chat.current, where) if (item := nodes[name].get("message"))}
    first = [{"text": _first_text(item), "date": chat.date} for item in [*held.values()][:1]]
    inherited = chat.inherited(path.stem, first)
    for place, (name, item) in enumerate(held.items(), 1):
        at = f"{where}, node {name!r}"
        yield at, partial(_chatgpt, item, name, at, inherited, place)
    yield from _left_out(where, sum(name not in held and _is_said(node) for name, node in nodes.items()))


def _branch(nodes: Mapping[str, Mapping[str, Any]], current: object, where: str) -> list[str]:
    """Return the names of the nodes of a branch, from the root on.

    Of ``parent`` and ``children`` either may be incomplete.
    """
    parents: dict[str, str] = {}
    children: dict[str, dict[str, None]] = {}
    for name, node in nodes.items():
        own = listed(node.get("children"))
        children[name] = dict.fromkeys(one for one in own if isinstance(one, str) and one in nodes)
        parents |= {child: name for child in children[name] if child not in parents}
    parents |= {name: up for name, node in nodes.items() if isinstance(up := node.get("parent"), str) and up in nodes}
    for child, parent in parents.items():
        children[parent].setdefault(child)
    upwards = isinstance(current, str) and current in nodes
    at = current if upwards else next((name for name in nodes if name not in parents), None)
    branch: dict[str, None] = {}
    while isinstance(at, str):
        if at in branch:
            raise GUARD.fault(where, f"has a tree of messages that leads to {at!r:.60} again")
        branch[at] = None
        at = parents.get(at) if upwards else next(reversed(children[at]), None)
    return list(branch)[::-1] if upwards else list(branch)


def _chatgpt(item: object, name: str, where: str, inherited: Mapping[str, Any], place: int) -> Message:
    item = an_object(item, where)
    fields = {"id": item.get("id") or name, "author": item.get("author"), "date": item.get("create_time")}
    return message(fields, where, inherited, place, read=_text(item, where), exported=True)


def _text(item: Mapping[str, Any], where: str) -> tuple[str, list[str]]:
    if _is_hidden(item):
        return "", ["the conversation hides it"]
    content, metadata = item.get("content"), item.get("metadata")
    _, files = attached(metadata, ("attachments",))
    if not isinstance(content, Mapping):
        text, left_out = text_in(item, ("content",), where)
        return text, [*left_out, *files]
    if isinstance(tool := item.get("recipient"), str) and tool not in ("", "all"):
        # a document that the model writes beside the conversation has a title and a text
        written = fields_of(_json(content.get("text"))) if tool.startswith("canmore.") else {}
        held = texts_in(written, ("name", "content"))
        return "\n".join(held), files if held else [f"the call of the tool {tool:.60} isn't read", *files]
    text, left_out = text_in(content, ("parts", "text", "result"), where)
    text = _unmarked(text, metadata)
    if not (text or left_out):
        left_out = [f"content of type {content.get('content_type')} has no text"]
    return text, [*left_out, *files]


def _json(text: object) -> object:
    """Return the value of a text in JSON; None if it is no such text."""
    with suppress(SourceError):
        return parse_json(text) if isinstance(text, str) else None
    return None


def _unmarked(text: str, metadata: object) -> str:
    """Return a text with what ChatGPT shows for the marks of its sources and of names."""
    references = objects(fields_of(metadata).get("content_references"))
    shown = {key: one.get("alt") for one in references if isinstance(key := one.get("matched_text"), str)}

    def replaced(match: re.Match[str]) -> str:
        alternative = shown.get(match[0].lstrip(" ")) or _named_in(match[1] or "")
        before = " " if match[0].startswith(" ") else ""
        return before + alternative if isinstance(alternative, str) and alternative else ""

    return _MARK.sub(replaced, text)


def _named_in(mark: str) -> str:
    """Return the name in the mark of an entity: ``entity["people", "Ada", ...]``; empty for other marks."""
    held = listed(_json(mark.removeprefix("entity").lstrip("\ue202"))) if mark.startswith("entity") else []
    return str(held[1]) if len(held) > 1 else ""


def _first_text(item: object) -> str:
    with suppress(SourceError):
        return _text(an_object(item, ""), "")[0]
    return ""


def _is_hidden(item: Mapping[str, Any]) -> bool:
    metadata, content = fields_of(item.get("metadata")), fields_of(item.get("content"))
    return bool(metadata.get("is_visually_hidden_from_conversation")) or content.get("content_type") in _HIDDEN


def _is_said(node: Mapping[str, Any]) -> bool:
    """Return whether somebody or the model says something with the message of a node."""
    item = fields_of(node.get("message"))
    return fields_of(item.get("author")).get("role") in ("user", "assistant") and not _is_hidden(item)


_TURNS = ("user", "assistant")
_TITLES = ("customTitle", "aiTitle")


def is_turn(value: Mapping[str, Any]) -> bool:
    """Return whether an object is a line of Claude Code: it has a type, and a turn or no text of its own."""
    turn = value.get("type") in _TURNS and isinstance(value.get("message"), Mapping)
    own = {"leafUuid", "snapshot", "sessionId", "uuid"}
    return turn or (isinstance(value.get("type"), str) and not own.isdisjoint(value) and "text" not in value)


def claude_code(value: Mapping[str, Any], where: str, titles: "Titles") -> Found:
    """Yield the turn of a line of a session of Claude Code, and what isn't read of it.

    A conversation is a session; what its subagents say is a session within it. A summary is the title of the
    conversation that it sums up.
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
        value: Mapping[str, Any] = {}
        with suppress(SourceError):  # a malformed line is named when it is read
            value = fields_of(line.json())
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
    fields = {
        "id": value.get("uuid"),
        "date": value.get("timestamp"),
        "speaker": held.get("role") or value["type"],
        "session": (value.get("agentId") or "sidechain") if value.get("isSidechain") else None,
        "title": titles.of.get(str(conversation)),
    }
    left_out = next((reason for name, reason in _NO_TURNS.items() if value.get(name)), None)
    read = ("", [left_out]) if left_out else _shown(*text_in(held, ("content",), where))
    return message(fields, where, {"conversation": conversation or "session"}, read=read, exported=True)
