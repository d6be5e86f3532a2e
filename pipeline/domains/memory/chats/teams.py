"""Messages of team chats, as Slack, Telegram and Discord (by DiscordChatExporter) export them.

They mark up words and name people by id; what is read is the text that people see. Addresses that it hides behind words
follow it in a line of their own.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    r"(?:channel|group|mpim|bot|pinned|unpinned)_(?!message|topic|purpose)\w+|joiner_notification|tombstone|sh_room_\w+"
)
"""Notes of Slack on a channel; its topics and purposes are texts that people write."""

_DISCORD_SAID = ("Default", "Reply", "ChatInputCommand", "ContextMenuCommand", "ThreadStarterMessage")
_TELEGRAM_MEDIA = ("photo", "file", "location_information", "contact_information", "invoice_information")


def is_slack(items: Sequence[object]) -> bool:
    """Return whether messages are Slack's, which have a ``ts`` for a date."""
    return any("ts" in item and "date" not in item and not _SAID.isdisjoint(item) for item in _seen(items))


def is_telegram(items: Sequence[object]) -> bool:
    """Return whether messages are Telegram's: their texts are lists of marked-up parts, or they have its fields."""
    own = ("date_unixtime", "text_entities", "from_id", "actor_id")
    return any(
        "date" in item and (isinstance(item.get("text"), list) or any(map(item.get, own))) for item in _seen(items)
    )


def is_discord(value: Mapping[str, Any]) -> bool:
    """Return whether a chat is DiscordChatExporter's, which names its server and channel."""
    return isinstance(value.get("guild"), Mapping) and isinstance(value.get("channel"), Mapping)


def _seen(items: Sequence[object]) -> Iterator[Mapping[str, Any]]:
    return (item for item in items[:_SEEN] if isinstance(item, Mapping))


def slack(value: Mapping[str, Any], where: str, path: Path, guard: Guard) -> Found:
    """Return the messages of a channel or of a day in it; replies are in the session of their thread.

    A file that is named by a day belongs to the channel that its folder is named by. People are named by the messages,
    and by ``users.json`` beside the file or in the folder above.
    """
    chat = validated(Chat, value, where, GUARD)
    inherited = chat.inherited(path.stem, None)
    inherited["conversation"] = chat.conversation or value.get("channel_id") or _channel(path, chat.messages)
    items = [item for item in chat.messages if isinstance(item, Mapping)]
    names = _people(path, guard) | {id_: name for item in items for id_, name in _profile(item)}
    threads = {thread for item in items if isinstance(thread := item.get("thread_ts"), str)}
    return each(chat.messages, where, partial(_slack, names=names, threads=threads), inherited)


def _slack(
    item: object,
    where: str,
    inherited: Mapping[str, Any],
    place: int,
    *,
    names: Mapping[str, str],
    threads: set[str],
) -> Message:
    item = an_object(item, where)
    user, ts = item.get("user"), item.get("ts")
    profile = item.get("bot_profile")
    bot = item.get("username") or (profile.get("name") if isinstance(profile, Mapping) else None)
    thread = item.get("thread_ts") or (ts if isinstance(ts, str) and ts in threads else None)
    fields = {"id": ts, "date": ts, "session": thread, "speaker": names.get(str(user)) or bot or user}
    return message(fields, where, inherited, place, read=_slack_text(item, names, where), exported=True)


def _slack_text(item: Mapping[str, Any], names: Mapping[str, str], where: str) -> tuple[str, list[str]]:
    if isinstance(subtype := item.get("subtype"), str) and _SLACK_SYSTEM.fullmatch(subtype):
        return "", [_system(subtype)]
    text, blocks, previews = item.get("text") or "", item.get("blocks"), item.get("attachments")
    if not isinstance(text, str):
        raise GUARD.fault(where, f"has the `text` {text!r:.60}: it isn't a text")
    if not text.strip():
        text = "".join(_block_texts(blocks)).strip()
    left_out = attached(item, ("files",))
    if isinstance(previews, list) and previews:
        shown = [text for one in previews if (text := _preview(one))]
        left_out += [] if shown or text else ["an attachment has no text"]
        text = "\n".join([*([text] if text.strip() else []), *(one for one in shown if one not in text)])
    return _unmarked(text, names), left_out


def _preview(item: object) -> str:
    """Return the text of what is attached to a message by a bot, or quoted from another page."""
    if not isinstance(item, Mapping):
        return ""
    fields = [one for name in ("pretext", "title", "text") if isinstance(one := item.get(name), str) and one.strip()]
    return "\n".join(fields) or (fallback if isinstance(fallback := item.get("fallback"), str) else "")


def _block_texts(block: object) -> Iterator[str]:
    """Yield the texts of blocks, in order; a section ends with a line end."""
    if isinstance(block, list):
        for one in block:
            yield from _block_texts(one)
    elif isinstance(block, Mapping):
        kind, text = block.get("type"), block.get("text")
        if kind == "user":
            yield f"<@{block.get('user_id')}>"
        elif kind == "emoji":
            yield f":{block.get('name')}:"
        elif kind == "link":
            yield f"<{block.get('url')}|{text or block.get('url')}>"
        elif isinstance(text, str):
            yield text
        else:
            yield from _block_texts(text)
        for name in ("fields", "elements"):
            yield from _block_texts(block.get(name))
        yield "\n" if str(kind).startswith(("section", "rich_text_", "header", "context")) else ""


def _unmarked(text: str, names: Mapping[str, str]) -> str:
    """Return a text of Slack as people see it: names for ids, words for links, signs for their escapes."""
    links: list[str] = []

    def shown(match: re.Match[str]) -> str:
        target, _, label = match[1].partition("|")
        if target[0] == "@":
            return "@" + (label.lstrip("@") or names.get(target[1:], target[1:]))
        if target[0] == "#":
            return "#" + (label.lstrip("#") or target[1:])
        if target[0] == "!":
            return label or "@" + target[1:].partition("^")[0]
        if label and label not in target:
            links.append(target)
        return label or target

    text = _with_links(_MARKUP.sub(shown, text), links)
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _with_links(text: str, links: Iterable[str]) -> str:
    return "\n".join([text, *dict.fromkeys(link for link in links if link not in text)])


def _channel(path: Path, items: Sequence[object]) -> str:
    if _DAY.fullmatch(path.stem) and path.absolute().parent.name:
        return path.absolute().parent.name
    first = next(_seen(items), {})
    return derived_name(path.stem, {"speaker": first.get("user"), "date": first.get("ts"), "text": first.get("text")})


def _people(path: Path, guard: Guard) -> dict[str, str]:
    """Return the names of people by id in ``users.json``; none where it isn't there or can't be read."""
    for folder in (path.absolute().parent, path.absolute().parent.parent):
        try:
            users = read_json(folder / "users.json", guard)
        except SourceError:
            continue
        return {id_: name for user in users if isinstance(user, Mapping) for id_, name in _profile(user)}
    return {}


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
    if isinstance(poll := item.get("poll"), Mapping):
        answers = poll.get("answers")
        options = [
            one.get("text") for one in (answers if isinstance(answers, list) else []) if isinstance(one, Mapping)
        ]
        text = "\n".join(str(one) for one in (text, poll.get("question"), *options) if one)
    return text, left_out


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
    text = "\n".join([*([text] if text.strip() else []), *(one for one in shown if one not in text)])
    return text, attached(item, ("attachments", "stickers"))


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
