"""Conversations as ChatGPT and Claude export them."""

import re
from collections.abc import Mapping, Sequence
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
    attached_texts,
    message,
    text_in,
)
from pipeline.errors import SourceError
from pipeline.files import parse_json
from pipeline.files.validated import validated
from pipeline.records import Skipped
from pipeline.text.prose import counted

_MARK = re.compile(r" ?(?:\ue200([^\ue200\ue201]{0,500})\ue201|【[^【】\n]{0,60}†[^【】\n]{0,60}】)")
"""A mark of a source or of a name in a text of ChatGPT, between signs of private use."""

_HIDDEN = ("user_editable_context", "model_editable_context")
"""Content that the one who talks never sees: their own profile, and what the model has noted of them."""


def claude(value: Mapping[str, Any], where: str, path: Path) -> Found:
    """Yield the messages of a conversation of Claude's export.

    Edited questions and repeated answers branch it: the branch is read that ends with the leaf that the export names,
    else with the newest message. Attached texts are read, other files are left out.
    """
    chat = validated(Chat, value, where, GUARD)
    inherited = chat.inherited(path.stem, next(iter(chat.chat_messages), None))
    dropped = _other_branches(chat.chat_messages, value.get("current_leaf_message_uuid"))
    for place, item in enumerate(chat.chat_messages, 1):
        if not (dropped and isinstance(item, Mapping) and str(item.get("uuid")) in dropped):
            at = f"{where}, message {place}"
            yield at, partial(_claude, item, at, inherited, place)
    if dropped:
        yield Skipped(where, f"{counted(len(dropped), 'message')} of branches that weren't kept")


def _other_branches(items: Sequence[object], leaf: object) -> set[str]:
    """Return the ids of the messages on the branches that weren't kept.

    Of those that follow one message, that on the branch of ``leaf`` is kept, or the last where none is. A message whose
    parent isn't named is on all branches.
    """
    named = [item for item in items if isinstance(item, Mapping) and isinstance(item.get("uuid"), str)]
    parents = {item["uuid"]: up for item in named if isinstance(up := item.get("parent_message_uuid"), str)}
    children: dict[str, list[str]] = {}
    for id_, parent in parents.items():
        children.setdefault(parent, []).append(id_)
    if all(len(siblings) == 1 for siblings in children.values()):
        return set()
    newest = max(enumerate(named), key=lambda item: (str(item[1].get("created_at") or ""), item[0]))[1]["uuid"]
    at, kept = leaf if isinstance(leaf, str) and leaf in parents else newest, dict[object, None]()
    while isinstance(at, str) and at not in kept:
        kept[at] = None
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
    texts, files = attached_texts(item, ("attachments", "files"), "extracted_content")
    read = "\n\n".join([*([text] if text.strip() else []), *texts]), [*left_out, *files]
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
    if isinstance(tool := item.get("recipient"), str) and tool not in ("", "all"):
        canvas = _canvas(content.get("text")) if tool.startswith("canmore.") else ""
        return canvas, files if canvas else [f"the call of the tool {tool:.60} isn't read", *files]
    text, left_out = text_in(content, ("parts", "text", "result"), where)
    text = _unmarked(text, metadata)
    if not (text or left_out):
        left_out = [f"content of type {content.get('content_type')} has no text"]
    return text, [*left_out, *files]


def _canvas(call: object) -> str:
    """Return the title and text of a document that the model writes beside the conversation; empty for other calls."""
    try:
        written = parse_json(call) if isinstance(call, str) else None
    except SourceError:
        return ""
    texts = [written.get(name) for name in ("name", "content")] if isinstance(written, Mapping) else []
    return "\n".join(one for one in texts if isinstance(one, str) and one.strip())


def _unmarked(text: str, metadata: object) -> str:
    """Return a text with what ChatGPT shows for the marks of its sources and of names."""
    listed = metadata.get("content_references") if isinstance(metadata, Mapping) else None
    shown = {
        one.get("matched_text"): one.get("alt")
        for one in (listed if isinstance(listed, list) else [])
        if isinstance(one, Mapping) and isinstance(one.get("matched_text"), str)
    }

    def replaced(match: re.Match[str]) -> str:
        alternative = shown.get(match[0].lstrip(" ")) or _named_in(match[1])
        before = " " if match[0].startswith(" ") else ""
        return before + alternative if isinstance(alternative, str) and alternative else ""

    return _MARK.sub(replaced, text)


def _named_in(mark: str | None) -> str:
    """Return the name in the mark of an entity: ``entity["people", "Ada", ...]``; empty for other marks."""
    if not mark or not mark.startswith("entity"):
        return ""
    with suppress(SourceError):
        held = parse_json(mark.removeprefix("entity").lstrip("\ue202"))
        return str(held[1]) if isinstance(held, list) and len(held) > 1 else ""
    return ""


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
