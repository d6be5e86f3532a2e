"""Messages of chats: the formats that name speaker, text and date in plain fields, and exports of ChatGPT and Claude.

Each format has a model of what holds its messages, and a reader that yields them as the same record. In exports, a
message's key is its id after its conversation's: conversations that are continued in a new one share messages.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from pipeline.domains.memory.records import Memory
from pipeline.errors import GraphError
from pipeline.files import Guard
from pipeline.files.validated import validated
from pipeline.ids import digest
from pipeline.knowledge.check import check_properties
from pipeline.knowledge.records import MAX_NAME_LENGTH
from pipeline.records import Skipped

SPEAKERS = ("speaker", "author", "name", "sender", "from", "role")
TEXTS = ("text", "content")
DATES = ("date", "time", "timestamp", "created_at", "create_time", "datetime")
LONGEST_NAME = 500
"""Longest key or name, in characters: an entry of the graph's index can have 8 kB."""

GUARD = Guard(fix="Check the file, or export it again.")
_FIELDS = {
    **{name: (name,) for name in ("conversation", "session", "turn", "title")},
    "date": DATES,
    "speaker": SPEAKERS,
}
"""Fields that a message may have from its metadata, its session or its conversation, by their names in a file."""


def _verbatim(text: str) -> str:
    if "\x00" in text:
        raise ValueError(f"it holds NUL at character {text.index(chr(0))}, which can't be stored")
    return text


def _name(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise ValueError("it isn't a text or a whole number")  # noqa: TRY004  # pydantic takes ValueError alone
    name = _verbatim(str(value))
    if len(name) > LONGEST_NAME:
        raise ValueError(f"it has {len(name):,} characters; {LONGEST_NAME} are the most")
    return name


def _properties(value: dict[str, Any]) -> dict[str, Any]:
    try:
        return check_properties(value, "it", MAX_NAME_LENGTH)
    except GraphError as error:
        raise ValueError(error.message) from None


def _speaker(value: object) -> object:
    return first_of(value, ("name", "role")) or "" if isinstance(value, Mapping) else value


Name = Annotated[str, BeforeValidator(_name)]
"""A name or id: a text or a whole number."""

Properties = Annotated[dict[str, Any], AfterValidator(_properties)]
_Text = Annotated[str, AfterValidator(_verbatim)]
_Title = Annotated[_Text, BeforeValidator(lambda value: value if isinstance(value, str) else "")]
_Items = list[dict[str, Any]]


class Record(BaseModel):
    """A record of a file from elsewhere: fields that are null count as missing, and unknown ones are ignored."""

    model_config = ConfigDict(frozen=True, strict=True)
    _nullable: ClassVar[tuple[str, ...]] = ()

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, value: object) -> object:
        if not isinstance(value, Mapping):
            return value
        return {name: item for name, item in value.items() if item is not None or name in cls._nullable}


class Message(Record):
    """A message, whatever its format. ``where`` is its position, for errors.

    Without a ``turn`` it is counted. ``left_out`` says why parts of it are left out. Its date, and the entities and
    facts given with it, aren't checked yet.
    """

    where: str
    id: Name = ""
    text: _Text = ""
    speaker: Annotated[Name, BeforeValidator(_speaker)] = ""
    date: Any = None
    conversation: Name = ""
    session: Name = ""
    turn: int | None = Field(None, ge=0, lt=2**53)
    title: _Title = ""
    metadata: Properties = Field(default_factory=dict)
    entities: Any = None
    facts: Any = None
    left_out: list[str] = Field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Given:
    """Entities and facts that a file gives with a memory, as values of JSON; ``where`` is the memory's position."""

    memory: Memory
    where: str
    entities: Any = None
    facts: Any = None


@dataclass(frozen=True, slots=True)
class Read:
    """Memories of a file in its order, the entities and facts given with them, and what was left out and why."""

    memories: tuple[Memory, ...] = ()
    given: tuple[Given, ...] = ()
    skipped: tuple[Skipped, ...] = ()


class _Session(Record):
    session: Any = Field(None, validation_alias=AliasChoices("session", "id"))
    date: Any = Field(None, validation_alias=AliasChoices(*DATES))
    title: Any = None
    turns: _Items = Field(default_factory=list)


class _Node(Record):
    parent: Any = None
    children: list[str] = Field(default_factory=list)
    message: dict[str, Any] | None = None


class Chat(Record):
    """An object that holds messages, in any of the formats."""

    conversation: Any = Field(None, validation_alias=AliasChoices("conversation", "conversation_id", "uuid", "id"))
    session: Any = None
    date: Any = Field(None, validation_alias=AliasChoices(*DATES))
    title: Any = Field(None, validation_alias=AliasChoices("title", "name"))
    sessions: list[_Session] = Field(default_factory=list)
    messages: _Items = Field(default_factory=list)
    chat_messages: _Items = Field(default_factory=list)
    mapping: dict[str, _Node] = Field(default_factory=dict)
    current_node: Any = None

    def inherited(self, stem: str, first: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return the fields that messages inherit; a conversation without a name is named after its first message."""
        fields = self.model_dump(include={"conversation", "session", "date", "title"})
        if self.conversation is None and first is not None:
            fields["conversation"] = derived_name(stem, first)
        return fields


def sessions(chat: Chat, where: str, stem: str) -> Iterator[Message]:
    """Yield the turns of ``{"conversation", "sessions": [{"session", "date", "turns": [...]}]}`` in order.

    A turn without a date takes its session's, a session without one its conversation's. A session without a name is
    named by its place, from 1.
    """
    first = next((session.turns[0] for session in chat.sessions if session.turns), None)
    whole = chat.inherited(stem, first)
    for number, session in enumerate(chat.sessions, 1):
        own = session.model_dump(include={"session", "date", "title"}, exclude_none=True)
        for place, turn in enumerate(session.turns, 1):
            at = f"{where}, session {number}, turn {place}"
            yield message(turn, at, {**whole, "session": number, **own}, place)


def messages(chat: Chat, where: str, stem: str) -> Iterator[Message]:
    """Yield the messages of ``{"messages": [...]}``, which may name its conversation, title and date."""
    inherited = chat.inherited(stem, next(iter(chat.messages), None))
    for place, item in enumerate(chat.messages, 1):
        yield message(item, f"{where}, message {place}", inherited, place)


def claude(chat: Chat, where: str, stem: str) -> Iterator[Message]:
    """Yield the messages of a conversation of Claude's export; attached files are left out.

    The parts of ``content`` are read before ``text``, which has placeholders for other parts.
    """
    inherited = chat.inherited(stem, next(iter(chat.chat_messages), None))
    for place, item in enumerate(chat.chat_messages, 1):
        at = f"{where}, message {place}"
        text, left_out = text_in(item, ("content", "text"), at)
        attached = sum(len(files) for name in ("attachments", "files") if isinstance(files := item.get(name), list))
        read = text, [*left_out, *["an attached file isn't read"] * attached]
        yield message(item, at, inherited, place, read=read, exported=True)


def chatgpt(chat: Chat, where: str, stem: str) -> Iterator[Message]:
    """Yield the messages of a conversation of ChatGPT's export, from the first to the last.

    Edited questions and repeated answers branch the tree: the branch of ``current_node`` is read. Without it, the last
    child of each node is, which is the newest. A message without a time takes its conversation's.
    """
    branch = [(name, item) for name in _branch(chat, where) if (item := chat.mapping[name].message)]
    texts = [_chatgpt_text(item, f"{where}, node {name!r}") for name, item in branch]
    inherited = chat.inherited(stem, {"text": texts[0][0], "date": chat.date} if texts else None)
    for place, ((name, item), read) in enumerate(zip(branch, texts, strict=True), 1):
        fields = {"id": item.get("id") or name, "author": item.get("author"), "date": item.get("create_time")}
        yield message(fields, f"{where}, node {name!r}", inherited, place, read=read, exported=True)


def message(
    value: Mapping[str, Any],
    where: str,
    inherited: Mapping[str, Any] | None = None,
    place: int | None = None,
    *,
    read: tuple[str, list[str]] | None = None,
    exported: bool = False,
) -> Message:
    """Return the message with these fields; missing ones come from its ``metadata``, then from ``inherited``.

    ``place`` is its turn by default, and ``read`` its text and the parts left out, if already read. The
    id of an ``exported`` one follows its conversation's.
    """
    metadata = value.get("metadata")
    layers = (value, metadata if isinstance(metadata, Mapping) else {}, inherited or {})
    fields = {
        name: next((item for layer in layers if (item := first_of(layer, names)) is not None), None)
        for name, names in _FIELDS.items()
    }
    text, left_out = read or text_in(value, TEXTS, where)
    id_ = first_of(value, ("id", "_id", "uuid"))
    fields |= {"where": where, "text": text, "left_out": left_out}
    fields["id"] = f"{fields['conversation']}/{id_}" if exported and id_ is not None else id_
    fields["turn"] = place if fields["turn"] is None else fields["turn"]
    fields |= {name: value.get(name) for name in ("metadata", "entities", "facts")}
    return validated(Message, fields, where, GUARD)


def _branch(chat: Chat, where: str) -> list[str]:
    """Return the names of the nodes of a branch, from the root on."""
    tree, name = chat.mapping, chat.current_node
    upwards = isinstance(name, str) and name in tree
    if not upwards:
        name = next((name for name, node in tree.items() if str(node.parent) not in tree), None)
    branch: dict[str, None] = {}
    while name is not None:
        if name in branch or name not in tree:
            raise GUARD.fault(where, f"has a tree of messages that leads to {name!r:.60} again, or to nothing")
        branch[name] = None
        parent, children = tree[name].parent, tree[name].children
        name = (parent if parent in tree else None) if upwards else (children[-1] if children else None)
    return list(branch)[::-1] if upwards else list(branch)


def _chatgpt_text(item: Mapping[str, Any], where: str) -> tuple[str, list[str]]:
    metadata, content = item.get("metadata"), item.get("content")
    if isinstance(metadata, Mapping) and metadata.get("is_visually_hidden_from_conversation"):
        return "", ["the conversation hides it"]
    if not isinstance(content, Mapping):
        return text_in(item, ("content",), where)
    text, left_out = text_in(content, ("parts", "text", "result"), where)
    return text, left_out if text or left_out else [f"content of type {content.get('content_type')} has no text"]


def derived_name(stem: str, first: Mapping[str, Any]) -> str:
    """Return the name of a conversation that has none: the file's name, and a mark of its first message.

    The mark keeps apart conversations of files of one name. It stays while messages are appended.
    """
    identity = (first_of(first, names) for names in (SPEAKERS, DATES, TEXTS))
    return f"{stem}-{digest('conversation', *map(ascii, identity))[:8]}"


def first_of(value: Mapping[str, Any], names: Sequence[str]) -> Any:
    """Return the first field of ``names`` that is present and not null, else None."""
    return next((item for name in names if (item := value.get(name)) is not None), None)


def text_in(value: Mapping[str, Any], names: Sequence[str], where: str) -> tuple[str, list[str]]:
    """Return the text of the first field of ``names`` that has one, verbatim, and why parts are left out.

    A field is a text, or a list of parts: texts, or ``{"type": "text", "text": ...}``; the texts are joined by line
    ends. Raises SourceError for another type.
    """
    left_out: list[str] = []
    for name in names:
        match value.get(name):
            case None:
                continue
            case str() as text:
                left_out = []
            case list() as items:
                parts = [_part(item, f"{where}, {name}, part {number}") for number, item in enumerate(items, 1)]
                text = "\n".join(part for _, part in parts if part)
                left_out = [f"a part of type {kind} has no text" for kind, part in parts if not part]
            case other:
                raise GUARD.fault(where, f"has the `{name}` {other!r:.60}: it isn't a text or a list of parts")
        if text.strip():
            return text, left_out
    return "", left_out


def _part(item: object, where: str) -> tuple[str, str]:
    """Return the type of a part of a message, and its text; empty for a part that is no text."""
    if isinstance(item, str):
        return "text", item
    if not isinstance(item, Mapping):
        raise GUARD.fault(where, "isn't an object of names and values")
    kind, text = first_of(item, ("type", "content_type")), first_of(item, ("text",))
    if kind not in ("text", "input_text", "output_text", None):
        return str(kind), ""
    if not isinstance(text, str | None):
        raise GUARD.fault(where, f"has the `text` {text!r:.60}: it isn't a text")
    return str(kind or "unknown"), text or ""
