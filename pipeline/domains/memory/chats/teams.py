"""Messages of team chats, as Slack, Telegram and Discord (by DiscordChatExporter) export them.

They mark up words and name people by id; what is read is the text that people see. Addresses that it hides behind words
follow it in a line of their own.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from pipeline.domains.memory.chats.messages import (
    GUARD,
    Chat,
    Found,
    Message,
    an_object,
    attached,
    derived_name,
    each,
    fields_of,
    first_of,
    left_out_file,
    listed,
    message,
    objects,
    texts_in,
)
from pipeline.errors import SourceError
from pipeline.files import Guard, read_json

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
    "saved_messages personal_chat bot_chat private_group private_supergroup public_supergroup private_channel "
    "public_channel".split()
)
_TELEGRAM_FIELDS = ("date_unixtime", "text_entities", "from_id", "actor_id")


def is_slack(items: Sequence[object]) -> bool:
    """Return whether messages are Slack's, which have a ``ts`` for a date."""
    return any("ts" in item and "date" not in item and not _SAID.isdisjoint(item) for item in objects(items[:_SEEN]))


def is_telegram(chat: Chat) -> bool:
    """Return whether a chat is Telegram's by its type, its messages' fields, or texts that are marked-up parts."""
    dated = [item for item in objects(chat.messages[:_SEEN]) if "date" in item]
    return any(
        isinstance(item.get("text"), list)
        or any(map(item.get, _TELEGRAM_FIELDS))
        or ("text" in item and chat.kind in _TELEGRAM_CHATS)
        for item in dated
    )


def is_discord(chat: Chat) -> bool:
    """Return whether a chat is DiscordChatExporter's, which names its server and channel."""
    return isinstance(chat.guild, Mapping) and isinstance(chat.channel, Mapping)


@dataclass(frozen=True, slots=True)
class _Slack:
    """The names of people and channels of Slack, by their ids, and the titles of folders, by their names.

    Of a file ``threads`` are the times of messages that were replied to; ``later`` has the place, from 1, of what
    changes or deletes a message last, and which of both, by the message's ``ts``.
    """

    people: Mapping[str, str] = field(default_factory=dict)
    channels: Mapping[str, str] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)
    threads: frozenset[str] = frozenset()
    later: Mapping[str, tuple[int, str]] = field(default_factory=dict)


def slack(chat: Chat, where: str, path: Path, guard: Guard) -> Found:
    """Return the messages of a channel or of a day in it; replies are in the session of their thread.

    A file that is named by a day belongs to the channel that its folder is named by. People are named by the messages
    and, as channels are, by ``users.json`` and its like beside the file or in the folder above. Of a message that was
    changed later in the file the last text is read, of a deleted one none.
    """
    lists = _lists_of(path, guard)
    inherited = chat.inherited(path.stem, ())
    inherited["conversation"] = chat.conversation or chat.channel_id or _channel(path, chat.messages)
    inherited["title"] = inherited["title"] or lists.titles.get(str(inherited["conversation"]))
    items = objects(chat.messages)
    people = {**lists.people, **_people(items)}
    threads = frozenset(thread for item in items if isinstance(thread := item.get("thread_ts"), str))
    own = replace(lists, people=people, threads=threads, later=_later(chat.messages))
    return each(chat.messages, where, _slack, inherited, own)


_CHANGES = {"message_changed": "changed", "message_deleted": "deleted"}


def _later(items: Sequence[object]) -> dict[str, tuple[int, str]]:
    later: dict[str, tuple[int, str]] = {}
    for place, item in enumerate(map(fields_of, items), 1):
        if what := _CHANGES.get(str(item.get("subtype"))):
            held = item.get("message")
            ts = held.get("ts") if isinstance(held, Mapping) else item.get("deleted_ts")
            later |= {ts: (place, what)} if isinstance(ts, str) else {}
    return later


def _slack(item: object, where: str, inherited: Mapping[str, Any], own: _Slack, place: int) -> Message:
    item = an_object(item, where)
    if item.get("subtype") == "message_deleted":
        return message({}, where, read=("", ["it says that a message was deleted"]))
    if item.get("subtype") == "message_changed" and isinstance(item.get("message"), Mapping):
        item = {**item["message"], "subtype": None}
    user, ts = item.get("user"), item.get("ts")
    at, what = own.later.get(str(ts), (place, ""))
    if at != place:
        return message({}, where, read=("", [f"it was {what} later"]))
    bot = item.get("username") or fields_of(item.get("bot_profile")).get("name")
    thread = item.get("thread_ts") or (ts if isinstance(ts, str) and ts in own.threads else None)
    fields = {"id": ts, "date": ts, "session": thread, "speaker": own.people.get(str(user)) or bot or user}
    return message(fields, where, inherited, place, read=_slack_text(item, own, where), exported=True)


def _slack_text(item: Mapping[str, Any], own: _Slack, where: str) -> tuple[str, list[str]]:
    if isinstance(subtype := item.get("subtype"), str) and _SLACK_SYSTEM.fullmatch(subtype):
        return "", [_system(subtype)]
    text, previews = _plain(item, "text", where), listed(item.get("attachments"))
    if not text.strip():
        text = "".join(_block_texts(item.get("blocks"))).strip()
    texts, left_out = attached(item, ("files",), "preview")
    comment = fields_of(item.get("comment")).get("comment")
    text = _with_more(text, [*texts, *([comment] if isinstance(comment, str) else [])])
    shown = list(filter(None, map(_preview, objects(previews))))
    left_out += ["an attachment has no text"] if previews and not (shown or text) else []
    return _unmarked(_with_more(text, shown), own), left_out


def _plain(item: Mapping[str, Any], name: str, where: str) -> str:
    text = item.get(name) or ""
    if not isinstance(text, str):
        raise GUARD.fault(where, f"has the `{name}` {text!r:.60}: it isn't a text")
    return text


def _preview(item: Mapping[str, Any]) -> str:
    """Return the text of what is attached to a message by a bot, or quoted from another page."""
    fallback = item.get("fallback")
    return "\n".join(texts_in(item, ("pretext", "title", "text"))) or (fallback if isinstance(fallback, str) else "")


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


def _unmarked(text: str, own: _Slack) -> str:
    """Return a text of Slack as people see it: names for ids, words for links, signs for their escapes."""
    links: list[str] = []
    names = {"@": own.people, "#": own.channels}

    def shown(match: re.Match[str]) -> str:
        target, _, label = match[1].partition("|")
        if (sign := target[:1]) in names:
            return sign + (label.lstrip(sign) or names[sign].get(target[1:], target[1:]))
        if sign == "!":
            return label or "@" + target[1:].partition("^")[0]
        if target and label and label not in target:
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
    first = next(iter(objects(items[:_SEEN])), {})
    return derived_name(path.stem, {"speaker": first.get("user"), "date": first.get("ts"), "text": first.get("text")})


_LISTS = ("users", "channels", "groups", "mpims", "dms")


def _lists_of(path: Path, guard: Guard) -> _Slack:
    """Return what the lists beside a file, or in the folder above, name."""
    for folder in (path.absolute().parent, path.absolute().parent.parent):
        stamps = tuple(_stamp(folder / f"{name}.json") for name in _LISTS)
        if any(stamps):
            return _lists_in(folder, stamps, guard)
    return _Slack()


def _stamp(path: Path) -> tuple[int, int] | None:
    with suppress(OSError, ValueError):
        state = path.stat()
        return state.st_mtime_ns, state.st_size
    return None


@lru_cache(maxsize=4)  # an export has a file a day for each channel, all with the same lists
def _lists_in(folder: Path, stamps: tuple[tuple[int, int] | None, ...], guard: Guard) -> _Slack:
    lists: dict[str, list[Mapping[str, Any]]] = {name: [] for name in _LISTS}
    for name, stamp in zip(_LISTS, stamps, strict=True):
        with suppress(SourceError):
            lists[name] = objects(read_json(folder / f"{name}.json", guard)) if stamp else []
    people = _people(lists["users"])
    named = [one for name in _LISTS[1:-1] for one in lists[name] if isinstance(one.get("name"), str)]
    channels = {str(one.get("id")): str(one["name"]) for one in named}
    titles = {name: name for name in channels.values()}
    for one in lists["dms"]:
        members = (people.get(str(member), str(member)) for member in listed(one.get("members")))
        titles[str(one.get("id"))] = ", ".join(members)
    return _Slack(people, channels, titles)


def _people(items: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the names of people by their ids, as messages or a list of people tell them."""
    people = {}
    for item in items:
        profile = fields_of(first_of(item, ("user_profile", "profile")))
        names = [name for one in (profile, item) for name in texts_in(one, ("real_name", "display_name", "name"))]
        id_ = item.get("user") if "user_profile" in item else item.get("id")
        if isinstance(id_, str) and names:
            people[id_] = names[0]
    return people


def telegram(chat: Chat, where: str, path: Path) -> Found:
    """Return the messages of a chat of Telegram's export."""
    return each(chat.messages, where, _telegram, chat.inherited(path.stem, chat.messages))


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
    text = _rich(item.get("text") or item.get("text_entities") or "", where)
    media = [name for name in _TELEGRAM_MEDIA if item.get(name)]
    left_out = [left_out_file(first_of(item, ("file_name", "media_type")) or name.split("_")[0]) for name in media]
    texts = [text, *_listed_texts(item.get("poll"), "question", "answers", where)]
    texts += _listed_texts(item.get("todo_list"), "title", "items", where)
    contact = fields_of(item.get("contact_information"))
    known = (contact.get(name) for name in ("first_name", "last_name", "phone_number"))
    texts.append(" ".join(one for one in known if isinstance(one, str) and one))
    texts += [one for name in ("place_name", "address") if isinstance(one := item.get(name), str)]
    return "\n".join(filter(None, texts)), left_out


def _listed_texts(value: object, title: str, items: str, where: str) -> list[str]:
    """Return the title of a poll or a list, and the texts in it."""
    fields = fields_of(value)
    texts = (fields.get(title), *(one.get("text") for one in objects(fields.get(items))))
    return [_rich(one, where) for one in texts if isinstance(one, str | list)]


def _rich(value: object, where: str) -> str:
    """Return the text of a list of texts and marked-up parts."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        raise GUARD.fault(where, f"has the `text` {value!r:.60}: it isn't a text or a list of parts")
    parts = [part if isinstance(part, Mapping) else {"text": part} for part in value]
    text = "".join(part["text"] for part in parts if isinstance(part.get("text"), str))
    return _with_links(text, (part["href"] for part in parts if isinstance(part.get("href"), str)))


def discord(chat: Chat, where: str, path: Path) -> Found:
    """Return the messages of a channel, as DiscordChatExporter writes them."""
    inherited = chat.inherited(path.stem, chat.messages)
    inherited["conversation"] = chat.channel.get("id") or inherited["conversation"]
    inherited["title"] = chat.title or chat.channel.get("name")
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
    text = _plain(item, "content", where)
    names = {str(one.get("id")): first_of(one, ("nickname", "name")) for one in objects(item.get("mentions"))}
    text = _MENTION.sub(lambda match: f"@{names.get(match[1]) or match[1]}", _EMOJI.sub(r"\1", text))
    shown = list(map(_embed, objects(item.get("embeds"))))
    _, left_out = attached(item, ("attachments", "stickers"))
    if isinstance(forwarded := item.get("forwardedMessage"), Mapping):
        told, others = _discord_text({**forwarded, "type": "Default", "forwardedMessage": None}, where)
        shown, left_out = [*shown, told], [*left_out, *others]
    poll = fields_of(item.get("poll"))
    question = poll.get("question")
    asked = question.get("text") if isinstance(question, Mapping) else question
    shown += _listed_texts({**poll, "question": asked}, "question", "answers", where)
    return _with_more(text, shown), left_out


def _embed(item: Mapping[str, Any]) -> str:
    fields = [text for one in objects(item.get("fields")) for text in texts_in(one, ("name", "value"))]
    return "\n".join([*texts_in(item, ("title", "description")), *fields])


def _system(kind: object) -> str:
    return f"it is a note of the system ({kind!s:.40})"
