"""Read the exports of ChatGPT and of Claude.

A message's key is its id after its conversation's: conversations that are continued in a new one share messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pipeline.domains.memory.remember.fields import first_of, listed, mapping, text_in
from pipeline.domains.memory.remember.messages import derived_name
from pipeline.domains.memory.remember.records import Message
from pipeline.errors import SourceError

_AGAIN = "Export the conversations again."


def chatgpt(value: Mapping[str, Any], where: str, stem: str) -> Iterator[Message]:
    """Yield the messages of a conversation of ChatGPT's export, from the first to the last.

    Edited questions and repeated answers branch the tree: the branch of ``current_node`` is read. Without it, the last
    child of each node is, which is the newest. A message without a time takes its conversation's.
    """
    tree = mapping(value.get("mapping"), f"{where}, mapping", _AGAIN)
    conversation = first_of(value, ("conversation_id", "id"))
    for place, (name, held) in enumerate(_branch(value, tree, where), 1):
        at = f"{where}, node {name!r}"
        author = held.get("author")
        text, left_out = _chatgpt_text(held, at)
        if conversation is None:
            conversation = derived_name(stem, {"text": text, "date": value.get("create_time")})
        yield Message(
            at,
            text,
            key=f"{conversation}/{held.get('id') or name}",
            speaker=first_of(author, ("name", "role")) if isinstance(author, Mapping) else author,
            time=first_of({"own": held.get("create_time"), "whole": value.get("create_time")}, ("own", "whole")),
            conversation=conversation,
            turn=place,
            title=value.get("title"),
            left_out=left_out,
        )


def _branch(value: Mapping[str, Any], tree: Mapping[str, Any], where: str) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the nodes of a branch that hold messages, from the root on."""
    name = value.get("current_node")
    upwards = _upwards(tree, name, where) if isinstance(name, str) else []
    names = upwards[::-1] or _downwards(tree, where)
    held = ((name, _node(tree, name, where).get("message")) for name in names)
    return [(name, mapping(message, f"{where}, node {name!r}", _AGAIN)) for name, message in held if message]


def _upwards(tree: Mapping[str, Any], name: str, where: str) -> list[str]:
    seen: dict[str, None] = {}
    parent: Any = name
    while isinstance(parent, str) and parent in tree:
        _check_new(parent, seen, where)
        seen[parent] = None
        parent = _node(tree, parent, where).get("parent")
    return list(seen)


def _downwards(tree: Mapping[str, Any], where: str) -> list[str]:
    roots = [name for name in tree if str(_node(tree, name, where).get("parent")) not in tree]
    seen: dict[str, None] = {}
    children: list[Any] = roots[:1]
    while children:
        _check_new(children[-1], seen, where)
        seen[children[-1]] = None
        children = listed(_node(tree, children[-1], where).get("children"), "children", f"{where}, {children[-1]!r}")
    return list(seen)


def _check_new(name: Any, seen: Mapping[str, None], where: str) -> None:
    if not isinstance(name, str) or name in seen:
        raise SourceError(f"{where}: its tree of messages leads to {str(name)[:60]!r} again.", _AGAIN)


def _node(tree: Mapping[str, Any], name: Any, where: str) -> Mapping[str, Any]:
    return mapping(tree.get(name), f"{where}, node {str(name)[:60]!r}", _AGAIN)


def _chatgpt_text(held: Mapping[str, Any], where: str) -> tuple[str, tuple[str, ...]]:
    metadata = held.get("metadata")
    if isinstance(metadata, Mapping) and metadata.get("is_visually_hidden_from_conversation"):
        return "", ("the conversation hides it",)
    content = held.get("content")
    if isinstance(content, Mapping):
        text, left_out = text_in(content, ("parts", "text", "result"), where)
        return text, left_out if text or left_out else (f"content of type {content.get('content_type')} has no text",)
    return text_in(held, ("content",), where)


def claude(value: Mapping[str, Any], where: str, stem: str) -> Iterator[Message]:
    """Yield the messages of a conversation of Claude's export; attached files are left out.

    The parts of ``content`` are read before ``text``, which has placeholders for other parts.
    """
    held = listed(value.get("chat_messages"), "chat_messages", where)
    conversation = first_of(value, ("uuid", "id"))
    for place, item in enumerate(held, 1):
        at = f"{where}, message {place}"
        one = mapping(item, at, _AGAIN)
        text, left_out = text_in(one, ("content", "text"), at)
        attached = len(listed(one.get("attachments"), "attachments", at)) + len(listed(one.get("files"), "files", at))
        if conversation is None:
            conversation = derived_name(stem, one)
        key = first_of(one, ("uuid", "id"))
        yield Message(
            at,
            text,
            key=None if key is None else f"{conversation}/{key}",
            speaker=one.get("sender"),
            time=first_of(one, ("created_at",)) or value.get("created_at"),
            conversation=conversation,
            turn=place,
            title=value.get("name"),
            left_out=(*left_out, *("an attached file isn't read",) * attached),
        )
