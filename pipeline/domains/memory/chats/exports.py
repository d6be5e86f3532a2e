"""Conversations as ChatGPT and Claude export them."""

from collections.abc import Mapping
from contextlib import suppress
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
    each,
    message,
    text_in,
)
from pipeline.errors import SourceError
from pipeline.files.validated import validated
from pipeline.records import Skipped
from pipeline.text.prose import counted

_HIDDEN = ("user_editable_context", "model_editable_context")
"""Content that the one who talks never sees: their own profile, and what the model has noted of them."""


def claude(value: Mapping[str, Any], where: str, path: Path) -> Found:
    """Return the messages of a conversation of Claude's export; attached files are left out."""
    chat = validated(Chat, value, where, GUARD)
    inherited = chat.inherited(path.stem, next(iter(chat.chat_messages), None))
    return each(chat.chat_messages, where, _claude, inherited)


def _claude(item: object, where: str, inherited: Mapping[str, Any], place: int) -> Message:
    """The parts of ``content`` are read before ``text``, which has placeholders for other parts."""
    item = an_object(item, where)
    text, left_out = text_in(item, ("content", "text"), where)
    read = text, [*left_out, *attached(item, ("attachments", "files"))]
    return message(item, where, inherited, place, read=read, exported=True)


def chatgpt(value: Mapping[str, Any], where: str, path: Path) -> Found:
    """Yield the messages of a conversation of ChatGPT's export, from the first to the last.

    Edited questions and repeated answers branch the tree: the branch of ``current_node`` is read. Without it, the last
    child of each node is, which is the newest. A message without a time takes its conversation's.
    """
    chat = validated(Chat, value, where, GUARD)
    nodes = {name: node for name, node in chat.mapping.items() if isinstance(node, Mapping)}
    held = [(name, item) for name in _branch(nodes, chat.current_node, where) if (item := nodes[name].get("message"))]
    first = {"text": _first_text(held[0][1]), "date": chat.date} if held else None
    inherited = chat.inherited(path.stem, first)
    for place, (name, item) in enumerate(held, 1):
        at = f"{where}, node {name!r}"
        yield at, partial(_chatgpt, item, name, at, inherited, place)
    kept = {name for name, _ in held}
    if others := sum(name not in kept and _is_said(node.get("message")) for name, node in nodes.items()):
        yield Skipped(where, f"{counted(others, 'message')} of branches that weren't kept")


def _branch(nodes: Mapping[str, Mapping[str, Any]], current: object, where: str) -> list[str]:
    """Return the names of the nodes of a branch, from the root on.

    Of ``parent`` and ``children`` either may be incomplete.
    """
    parents: dict[str, str] = {}
    children: dict[str, dict[str, None]] = {}
    for name, node in nodes.items():
        listed = node.get("children")
        own = listed if isinstance(listed, list) else []
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
    files = attached(metadata, ("attachments",)) if isinstance(metadata, Mapping) else []
    if not isinstance(content, Mapping):
        text, left_out = text_in(item, ("content",), where)
        return text, [*left_out, *files]
    text, left_out = text_in(content, ("parts", "text", "result"), where)
    if not (text or left_out):
        left_out = [f"content of type {content.get('content_type')} has no text"]
    return text, [*left_out, *files]


def _first_text(item: object) -> str:
    with suppress(SourceError):
        return _text(an_object(item, ""), "")[0]
    return ""


def _is_hidden(item: Mapping[str, Any]) -> bool:
    metadata, content = item.get("metadata"), item.get("content")
    kind = content.get("content_type") if isinstance(content, Mapping) else None
    hidden = isinstance(metadata, Mapping) and metadata.get("is_visually_hidden_from_conversation")
    return bool(hidden) or kind in _HIDDEN


def _is_said(item: object) -> bool:
    """Return whether somebody or the model says something with a message."""
    author = item.get("author") if isinstance(item, Mapping) else None
    said = isinstance(author, Mapping) and author.get("role") in ("user", "assistant")
    return said and isinstance(item, Mapping) and not _is_hidden(item)
