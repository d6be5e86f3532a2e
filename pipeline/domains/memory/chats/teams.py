"""Messages of team chats, as Slack, Telegram and Discord (by DiscordChatExporter) export them.

They mark up words and name people by id; what is read is the text that people see. Addresses that it hides behind words
follow it in a line of their own.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
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
    derived_name,
    each,
    first_of,
    left_out_file,
    message,
)
from pipeline.errors import SourceError
from pipeline.files import Guard, read_json
from pipeline.files.validated import validated

_SEEN = 50
"""Messages by which a format is recognised: some, since the first may be of the system. Chosen by hand."""

_MARKUP = re.compile(r"<([^<>\n]+)>")  # in Slack's texts other angle brackets are escaped
_MENTION = re.compile(r"<@!?(\d+)>")
_EMOJI = re.compile(r"<a?(:\w+:)\d+>")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_SAID = frozenset(("text", "blocks", "user"))
_SLACK_SYSTEM = re.compile(
    r"(?:channel|group|mpim|bot|pinned|unpinned)_(?!message|topic|purpose)\w+|joiner_notification|tombstone|huddle_thread|sh_room_\w+"
)
"""Notes of Slack on a channel; its topics and purposes are texts that people write."""

_DISCORD_SAID = ("Default", "Reply", "ChatInputCommand", "ContextMenuCommand", "ThreadStarterMessage")
_TELEGRAM_MEDIA = ("photo", "file", "location_information", "invoice_information")
_TELEGRAM_CHATS = (
    "saved_messages",
    "personal_chat",
    "bot_chat",
    "private_group",
    "private_supergroup",
    "public_supergroup",
    "private_channel",
    "public_channel",
)
_CONTACT = ("first_name", "last_name", "phone_number")


def is_slack(items: Sequence[object]) -> bool:
    """Return whether messages are Slack's, which have a ``ts`` for a date."""
    return any("ts" in item and "date" not in item and not _SAID.isdisjoint(item) for item in _seen(items))


def is_telegram(value: Mapping[str, Any], items: Sequence[object]) -> bool:
    """Return whether a chat is Telegram's by its type, its messages' fields, or texts that are marked-up parts."""
    if value.get("type") in _TELEGRAM_CHATS and any("date" in item and "text" in item for item in _seen(items)):
        return True
    own = ("date_unixtime", "text_entities", "from_id", "actor_id")
    return any(
        "date" in item and (isinstance(item.get("text"), list) or any(map(item.get, own))) for item in _seen(items)
    )


def is_discord(value: Mapping[str, Any]) -> bool:
    """Return whether a chat is DiscordChatExporter's, which names its server and channel."""
    return isinstance(value.get("guild"), Mapping) and isinstance(value.get("channel"), Mapping)


def _seen(items: Sequence[object]) -> Iterator[Mapping[str, Any]]:
    return (item for item in items[:_SEEN] if isinstance(item, Mapping))


@dataclass(frozen=True, slots=True)
class _Workspace:
    """The names of people and channels of Slack, by their ids, and the titles of folders, by their names."""

    people: Mapping[str, str] = field(default_factory=dict)
    channels: Mapping[str, str] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)


def slack(value: Mapping[str, Any], where: str, path: Path, guard: Guard) -> Found:
    """Return the messages of a channel or of a day in it; replies are in the session of their thread.

    A file that is named by a day belongs to the channel that its folder is named by. People are named by the messages
    and, as channels are, by ``users.json`` and its like beside the file or in the folder above. Of a message that was
    changed later in the file the last text is read, of a deleted one none.
    """
    chat = validated(Chat, value, where, GUARD)
    inherited = chat.inherited(path.stem, None)
    workspace = _workspace_of(path, guard)
    inherited["conversation"] = chat.conversation or value.get("channel_id") or _channel(path, chat.messages)
    inherited["title"] = inherited["title"] or workspace.titles.get(str(inherited["conversation"]))
    items = [item for item in chat.messages if isinstance(item, Mapping)]
    people = {id_: name for item in items for id_, name in _profile(item)}
    workspace = replace(workspace, people={**workspace.people, **people})
    threads = {thread for item in items if isinstance(thread := item.get("thread_ts"), str)}
    read = partial(_slack, workspace=workspace, threads=threads, later=_later(chat.messages))
    return each(chat.messages, where, read, inherited)


def _later(items: Sequence[object]) -> dict[str, tuple[int, str]]:
    """Return the place, from 1, of what changes or deletes a message last, and which of both, by its ``ts``."""
    later: dict[str, tuple[int, str]] = {}
    for place, item in enumerate(items, 1):
        kind = item.get("subtype") if isinstance(item, Mapping) else None
        if isinstance(item, Mapping) and kind in ("message_changed", "message_deleted"):
            held = item.get("message")
            ts = held.get("ts") if isinstance(held, Mapping) else item.get("deleted_ts")
            later |= {ts: (place, "changed" if kind == "message_changed" else "deleted")} if isinstance(ts, str) else {}
    return later


def _slack(
    item: object,
    where: str,
    inherited: Mapping[str, Any],
    place: int,
    *,
    workspace: _Workspace,
    threads: set[str],
    later: Mapping[str, tuple[int, str]],
) -> Message:
    item = an_object(item, where)
    if item.get("subtype") == "message_deleted":
        return message({}, where, read=("", ["it says that a message was deleted"]))
    if item.get("subtype") == "message_changed" and isinstance(item.get("message"), Mapping):
        item = {**item["message"], "subtype": None}
    user, ts = item.get("user"), item.get("ts")
    at, what = later.get(str(ts), (place, ""))
    if at != place:
        return message({}, where, read=("", [f"it was {what} later"]))
    profile = item.get("bot_profile")
    bot = item.get("username") or (profile.get("name") if isinstance(profile, Mapping) else None)
    thread = item.get("thread_ts") or (ts if isinstance(ts, str) and ts in threads else None)
    fields = {"id": ts, "date": ts, "session": thread, "speaker": workspace.people.get(str(user)) or bot or user}
    return message(fields, where, inherited, place, read=_slack_text(item, workspace, where), exported=True)


def _slack_text(item: Mapping[str, Any], workspace: _Workspace, where: str) -> tuple[str, list[str]]:
    if isinstance(subtype := item.get("subtype"), str) and _SLACK_SYSTEM.fullmatch(subtype):
        return "", [_system(subtype)]
    text, blocks, previews = item.get("text") or "", item.get("blocks"), item.get("attachments")
    if not isinstance(text, str):
        raise GUARD.fault(where, f"has the `text` {text!r:.60}: it isn't a text")
    if not text.strip():
        text = "".join(_block_texts(blocks)).strip()
    texts, left_out = attached_texts(item, ("files",), "preview")
    if isinstance(comment := item.get("comment"), Mapping) and isinstance(comment.get("comment"), str):
        texts.append(comment["comment"])
    text = _with_more(text, texts)
    if isinstance(previews, list) and previews:
        shown = [text for one in previews if (text := _preview(one))]
        left_out += [] if shown or text else ["an attachment has no text"]
        text = _with_more(text, shown)
    return _unmarked(text, workspace), left_out


def _preview(item: object) -> str:
    """Return the text of what is attached to a message by a bot, or quoted from another page."""
    if not isinstance(item, Mapping):
        return ""
    fields = [one for name in ("pretext", "title", "text") if isinstance(one := item.get(name), str) and one.strip()]
    return "\n".join(fields) or (fallback if isinstance(fallback := item.get("fallback"), str) else "")


_INLINE: Mapping[object, tuple[str, Sequence[str]]] = {
    "user": ("<@{}>", ("user_id",)),
    "channel": ("<#{}>", ("channel_id",)),
    "usergroup": ("<!{}>", ("usergroup_id",)),
    "broadcast": ("<!{}>", ("range",)),
    "emoji": (":{}:", ("name",)),
    "link": ("<{}|{}>", ("url", "text")),
}
"""The markup for the elements of blocks that aren't text, as in texts, and the fields that it shows."""


def _block_texts(block: object) -> Iterator[str]:
    """Yield the texts of blocks, in order; a section ends with a line end."""
    if isinstance(block, list):
        for one in block:
            yield from _block_texts(one)
    elif isinstance(block, Mapping):
        kind, text = block.get("type"), block.get("text")
        if isinstance(kind, str) and kind in _INLINE:
            markup, fields = _INLINE[kind]
            yield markup.format(*(block.get(name) or block.get(fields[0]) for name in fields))
        elif isinstance(text, str):
            yield text
        else:
            yield from _block_texts(text)
        for name in ("fields", "elements"):
            yield from _block_texts(block.get(name))
        yield "\n" if str(kind).startswith(("section", "rich_text_", "header", "context")) else ""


def _unmarked(text: str, workspace: _Workspace) -> str:
    """Return a text of Slack as people see it: names for ids, words for links, signs for their escapes."""
    links: list[str] = []

    def shown(match: re.Match[str]) -> str:
        target, _, label = match[1].partition("|")
        if target[0] == "@":
            return "@" + (label.lstrip("@") or workspace.people.get(target[1:], target[1:]))
        if target[0] == "#":
            return "#" + (label.lstrip("#") or workspace.channels.get(target[1:], target[1:]))
        if target[0] == "!":
            return label or "@" + target[1:].partition("^")[0]
        if label and label not in target:
            links.append(target)
        return label or target

    text = _with_links(_MARKUP.sub(shown, text), links)
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _with_links(text: str, links: Iterable[str]) -> str:
    hidden = dict.fromkeys(links)
    shown = {word.strip(_AROUND) for word in text.split()} if hidden else set()
    return "\n".join([text, *(link for link in hidden if link not in shown)])


_AROUND = ".,;:!?()[]<>\"'"
"""Signs at the end or the beginning of an address in a text."""

_COMPARED = 100
"""Parts of a message of which those are left out that its text has: of more all are kept. Chosen by hand."""


def _with_more(text: str, parts: Sequence[str]) -> str:
    """Return a text, if it isn't blank, with the parts of its message below it that it doesn't have."""
    more = [one for one in parts if one and (len(parts) > _COMPARED or one not in text)]
    return "\n".join([*([text] if text.strip() else []), *more])


def _channel(path: Path, items: Sequence[object]) -> str:
    if _DAY.fullmatch(path.stem) and path.absolute().parent.name:
        return path.absolute().parent.name
    first = next(_seen(items), {})
    return derived_name(path.stem, {"speaker": first.get("user"), "date": first.get("ts"), "text": first.get("text")})


_LISTS = ("users", "channels", "groups", "mpims", "dms")


def _workspace_of(path: Path, guard: Guard) -> _Workspace:
    """Return what the lists beside a file, or in the folder above, name."""
    for folder in (path.absolute().parent, path.absolute().parent.parent):
        stamps = tuple(map(_stamp, (folder / f"{name}.json" for name in _LISTS)))
        if any(stamps):
            return _workspace(folder, stamps, guard)
    return _Workspace()


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        state = path.stat()
    except (OSError, ValueError):
        return None
    return state.st_mtime_ns, state.st_size


@lru_cache(maxsize=4)  # an export has a file a day for each channel, all with the same lists
def _workspace(folder: Path, stamps: tuple[tuple[int, int] | None, ...], guard: Guard) -> _Workspace:
    lists = {name: _listed(folder / f"{name}.json", guard) for name, stamp in zip(_LISTS, stamps, strict=True) if stamp}
    people = {id_: name for user in lists.get("users", ()) for id_, name in _profile(user)}
    named = [one for name in _LISTS[1:-1] for one in lists.get(name, ()) if isinstance(one.get("name"), str)]
    channels = {str(one.get("id")): str(one["name"]) for one in named}
    titles = {name: name for name in channels.values()}
    for one in lists.get("dms", ()):
        members = one.get("members")
        names = [people.get(str(member), str(member)) for member in (members if isinstance(members, list) else [])]
        titles[str(one.get("id"))] = ", ".join(names)
    return _Workspace(people, channels, titles)


def _listed(path: Path, guard: Guard) -> list[Mapping[str, Any]]:
    """Return the objects in a list; none where it can't be read."""
    try:
        listed = read_json(path, guard)
    except SourceError:
        return []
    return [one for one in listed if isinstance(one, Mapping)] if isinstance(listed, list) else []


def _profile(item: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the id and the name of a person, as a message or a list of people tells them."""
    profile = first_of(item, ("user_profile", "profile"))
    profiles = (*([profile] if isinstance(profile, Mapping) else []), item)
    names = (one.get(name) for one in profiles for name in ("real_name", "display_name", "name"))
    id_ = item.get("user") if "user_profile" in item else item.get("id")
    name = next((name for name in names if isinstance(name, str) and name.strip()), None)
    if isinstance(id_, str) and name:
        yield id_, name


def telegram(value: Mapping[str, Any], where: str, path: Path) -> Found:
    """Return the messages of a chat of Telegram's export."""
    chat = validated(Chat, value, where, GUARD)
    inherited = chat.inherited(path.stem, next(iter(chat.messages), None))
    return each(chat.messages, where, _telegram, inherited)


def _telegram(item: object, where: str, inherited: Mapping[str, Any], place: int) -> Message:
    item = an_object(item, where)
    fields = {
        "id": item.get("id"),
        "date": first_of(item, ("date_unixtime", "date")),
        "speaker": first_of(item, ("author", "from", "from_id", "actor")),
    }
    return message(fields, where, inherited, place, read=_telegram_text(item, where))


def _telegram_text(item: Mapping[str, Any], where: str) -> tuple[str, list[str]]:
    if item.get("type") == "service":
        return "", [_system(item.get("action"))]
    text = _rich(first_of(item, ("text",)) or first_of(item, ("text_entities",)) or "", where)
    media = [name for name in _TELEGRAM_MEDIA if item.get(name)]
    left_out = [left_out_file(first_of(item, ("file_name", "media_type")) or name.split("_")[0]) for name in media]
    texts = [text, *_listed_texts(item.get("poll"), "question", "answers", where)]
    texts += _listed_texts(item.get("todo_list"), "title", "items", where)
    contact = item.get("contact_information")
    known = [contact.get(name) for name in _CONTACT] if isinstance(contact, Mapping) else []
    texts.append(" ".join(one for one in known if isinstance(one, str) and one))
    texts += [one for name in ("place_name", "address") if isinstance(one := item.get(name), str)]
    return "\n".join(one for one in texts if one), left_out


def _listed_texts(value: object, title: str, items: str, where: str) -> list[str]:
    """Return the title of a poll or a list, and the texts in it."""
    if not isinstance(value, Mapping):
        return []
    listed = value.get(items)
    held = [one.get("text") for one in (listed if isinstance(listed, list) else []) if isinstance(one, Mapping)]
    return [_rich(one, where) for one in (value.get(title), *held) if isinstance(one, str | list)]


def _rich(value: object, where: str) -> str:
    """Return the text of a list of texts and marked-up parts."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        raise GUARD.fault(where, f"has the `text` {value!r:.60}: it isn't a text or a list of parts")
    parts = [part if isinstance(part, Mapping) else {"text": part} for part in value]
    text = "".join(part["text"] for part in parts if isinstance(part.get("text"), str))
    return _with_links(text, (part["href"] for part in parts if isinstance(part.get("href"), str)))


def discord(value: Mapping[str, Any], where: str, path: Path) -> Found:
    """Return the messages of a channel, as DiscordChatExporter writes them."""
    chat = validated(Chat, value, where, GUARD)
    inherited = chat.inherited(path.stem, next(iter(chat.messages), None))
    channel = value["channel"]
    inherited["conversation"] = channel.get("id") or inherited["conversation"]
    inherited["title"] = chat.title or channel.get("name")
    return each(chat.messages, where, _discord, inherited)


def _discord(item: object, where: str, inherited: Mapping[str, Any], place: int) -> Message:
    item = an_object(item, where)
    author = item.get("author")
    speaker = first_of(author, ("nickname", "name", "id")) if isinstance(author, Mapping) else author
    fields = {"id": item.get("id"), "date": item.get("timestamp"), "speaker": speaker}
    return message(fields, where, inherited, place, read=_discord_text(item, where))


def _discord_text(item: Mapping[str, Any], where: str) -> tuple[str, list[str]]:
    if isinstance(kind := item.get("type"), str) and kind not in _DISCORD_SAID and not kind.isdigit():
        return "", [_system(kind)]
    text = item.get("content") or ""
    if not isinstance(text, str):
        raise GUARD.fault(where, f"has the `content` {text!r:.60}: it isn't a text")
    mentions = item.get("mentions")
    people = [one for one in (mentions if isinstance(mentions, list) else []) if isinstance(one, Mapping)]
    names = {str(one.get("id")): first_of(one, ("nickname", "name")) for one in people}
    text = _MENTION.sub(lambda match: f"@{names.get(match[1]) or match[1]}", _EMOJI.sub(r"\1", text))
    embeds = item.get("embeds")
    shown = [text for one in (embeds if isinstance(embeds, list) else []) if (text := _embed(one))]
    left_out = attached(item, ("attachments", "stickers"))
    if isinstance(forwarded := item.get("forwardedMessage"), Mapping):
        told, others = _discord_text({**forwarded, "type": "Default", "forwardedMessage": None}, where)
        shown, left_out = [*shown, told], [*left_out, *others]
    if isinstance(poll := item.get("poll"), Mapping):
        question = poll.get("question")
        asked = {**poll, "question": question.get("text") if isinstance(question, Mapping) else question}
        shown += _listed_texts(asked, "question", "answers", where)
    text = _with_more(text, shown)
    return text, left_out


def _embed(item: object) -> str:
    if not isinstance(item, Mapping):
        return ""
    texts = [item.get("title"), item.get("description")]
    fields = item.get("fields")
    for one in fields if isinstance(fields, list) else []:
        texts += [one.get("name"), one.get("value")] if isinstance(one, Mapping) else []
    return "\n".join(text for text in texts if isinstance(text, str) and text.strip())


def _system(kind: object) -> str:
    return f"it is a note of the system ({kind!s:.40})"
