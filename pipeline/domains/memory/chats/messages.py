"""Messages of chats: one record for all formats, and the formats that name speaker, text and date in plain fields.

A reader yields messages that aren't read yet, each with its position: one that can't be read costs no other.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from pipeline.domains.memory.records import Memory
from pipeline.errors import GraphError, SourceError
from pipeline.files import Guard
from pipeline.files.validated import validated
from pipeline.ids import digest
from pipeline.knowledge.check import check_properties
from pipeline.knowledge.records import MAX_NAME_LENGTH
from pipeline.records import Skipped

SPEAKERS = ("speaker", "author", "name", "sender", "from", "role")
TEXTS = ("text", "content")
DATES = ("date", "time", "timestamp", "created_at", "create_time", "datetime")
FILE_NAMES = ("file_name", "fileName", "filename", "name", "title", "url", "id")
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
_Items = list[Any]  # each is read by itself


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

    Without a ``turn`` it is counted. ``left_out`` says why parts of it are left out. ``exported`` ids are unique within
    a conversation, others within a session of it. Its date, and the entities and facts given with it, aren't checked
    yet.
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
    exported: bool = False


Unread = tuple[str, Callable[[], Message] | SourceError]
"""A message that isn't read yet: its position, and what reads it, which raises SourceError for a malformed one.

In place of a message that can't be told from others, such as a line that is no JSON, there is the error.
"""

Found = Iterator[Unread | Skipped]
"""The results of a reader, in order: messages, and what it leaves out without a loss of messages."""


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

    def placed(self, name: Callable[[str], str]) -> "Read":
        """Return it with other names of positions; ``name`` returns a text with them."""
        skipped = tuple(Skipped(name(one.source), name(one.reason)) for one in self.skipped)
        given = tuple(replace(one, where=name(one.where)) for one in self.given)
        return replace(self, skipped=skipped, given=given)


class _Session(Record):
    session: Any = Field(None, validation_alias=AliasChoices("session", "id"))
    date: Any = Field(None, validation_alias=AliasChoices(*DATES))
    title: Any = None
    turns: _Items = Field(default_factory=list)


class Chat(Record):
    """An object that holds messages, in any of the formats."""

    conversation: Any = Field(None, validation_alias=AliasChoices("conversation", "conversation_id", "uuid", "id"))
    session: Any = None
    date: Any = Field(None, validation_alias=AliasChoices(*DATES, "update_time", "updated_at"))
    title: Any = Field(None, validation_alias=AliasChoices("title", "name"))
    sessions: _Items = Field(default_factory=list)
    messages: _Items = Field(default_factory=list)
    chat_messages: _Items = Field(default_factory=list)
    mapping: dict[str, Any] = Field(default_factory=dict)
    current: Any = Field(None, validation_alias=AliasChoices("current_node", "current_leaf_message_uuid"))
    kind: Any = Field(None, validation_alias="type")
    guild: Any = None
    channel: Any = None
    channel_id: Any = None

    def inherited(self, stem: str, messages: Sequence[object]) -> dict[str, Any]:
        """Return the fields that messages inherit; a conversation without a name is named after its first message."""
        fields = self.model_dump(include={"conversation", "session", "date", "title"})
        if self.conversation is None and messages and isinstance(messages[0], Mapping):
            fields["conversation"] = derived_name(stem, messages[0])
        return fields


def sessions(chat: Chat, where: str, path: Path) -> Found:
    """Yield the turns of ``{"conversation", "sessions": [{"session", "date", "turns": [...]}]}`` in order.

    A turn without a date takes its session's, a session without one its conversation's. A session without a name is
    named by its place, from 1.
    """
    turns = (listed(one.get("turns")) for one in objects(chat.sessions))
    whole = chat.inherited(path.stem, next(filter(None, turns), ()))
    for number, item in enumerate(chat.sessions, 1):
        at = f"{where}, session {number}"
        try:
            session = validated(_Session, item, at, GUARD)
        except SourceError as error:
            yield at, error
            continue
        own = session.model_dump(include={"session", "date", "title"}, exclude_none=True)
        yield from each(session.turns, at, message, {**whole, "session": number, **own}, what="turn")


def messages(chat: Chat, where: str, path: Path) -> Found:
    """Return the messages of ``{"messages": [...]}``, which may name its conversation, title and date."""
    return each(chat.messages, where, message, chat.inherited(path.stem, chat.messages))


def each(
    items: Iterable[object], where: str, read: Callable[..., Message], *given: object, what: str = "message"
) -> Found:
    """Yield the messages of a list, each with its position, for reading by ``read(item, position, *given, place)``."""
    for place, item in enumerate(items, 1):
        at = f"{where}, {what} {place}"
        yield at, partial(read, item, at, *given, place)


def reason(error: SourceError, where: str) -> str:
    """Return what is wrong at a place: ``has no date`` after its name becomes ``it has no date``."""
    problem = error.message.removeprefix(where).removesuffix(".")
    return f"it{problem}" if problem.startswith(" ") else problem.lstrip(" ,:")


def an_object(value: object, where: str) -> Mapping[str, Any]:
    """Return an object; raises SourceError for another value."""
    if isinstance(value, Mapping):
        return value
    raise GUARD.fault(where, "isn't an object of names and values")


def message(
    value: object,
    where: str,
    inherited: Mapping[str, Any] | None = None,
    place: int | None = None,
    *,
    read: tuple[str, list[str]] | None = None,
    exported: bool = False,
) -> Message:
    """Return the message with these fields; missing ones come from its ``metadata``, then from ``inherited``.

    ``place`` is its turn by default, and ``read`` its text and the parts left out, if already read.
    """
    value = an_object(value, where)
    layers = (value, fields_of(value.get("metadata")), inherited or {})
    fields = {
        name: next((item for layer in layers if (item := first_of(layer, names)) is not None), None)
        for name, names in _FIELDS.items()
    }
    text, left_out = read or text_in(value, TEXTS, where)
    id_ = first_of(value, ("id", "_id", "uuid"))
    fields |= {"where": where, "id": id_, "text": text, "left_out": left_out, "exported": exported}
    fields["turn"] = place if fields["turn"] is None else fields["turn"]
    fields |= {name: value.get(name) for name in ("metadata", "entities", "facts")}
    return validated(Message, fields, where, GUARD)


def derived_name(stem: str, first: Mapping[str, Any]) -> str:
    """Return the name of a conversation that has none: the file's name, and a mark of its first message.

    The mark keeps apart conversations of files of one name. It stays while messages are appended.
    """
    identity = (first_of(first, names) for names in (SPEAKERS, DATES, TEXTS))
    return f"{stem}-{digest('conversation', *map(ascii, identity))[:8]}"


def first_of(value: Mapping[str, Any], names: Sequence[str]) -> Any:
    """Return the first field of ``names`` that is present and not null, else None."""
    return next((item for name in names if (item := value.get(name)) is not None), None)


def fields_of(value: object) -> Mapping[str, Any]:
    """Return an object as it is, an empty one for another value."""
    return value if isinstance(value, Mapping) else {}


def listed(value: object) -> list[Any]:
    """Return a list as it is, an empty one for another value."""
    return value if isinstance(value, list) else []


def objects(value: object) -> list[Mapping[str, Any]]:
    """Return the objects in a list; none of another value."""
    return [one for one in listed(value) if isinstance(one, Mapping)]


def texts_in(value: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """Return the fields of ``names`` that are texts and not blank."""
    return [text for name in names if isinstance(text := value.get(name), str) and text.strip()]


def text_in(value: Mapping[str, Any], names: Sequence[str], where: str) -> tuple[str, list[str]]:
    """Return the text of the first field of ``names`` that has one, verbatim, and why parts are left out.

    A field is a text, or a list of parts: texts, or objects with a ``text``; the texts are joined by line ends. Raises
    SourceError for another type.
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
                left_out = [reason for reason, part in parts if not part]
            case other:
                raise GUARD.fault(where, f"has the `{name}` {other!r:.60}: it isn't a text or a list of parts")
        if text.strip():
            return text, left_out
    return "", left_out


def _part(item: object, where: str) -> tuple[str, str]:
    """Return why a part of a message is left out, and its text; empty for a part that is no text."""
    if isinstance(item, str):
        return "an empty part", item
    item = an_object(item, where)
    kind, text = first_of(item, ("type", "content_type")), first_of(item, ("text",))
    if kind in ("text", "input_text", "output_text", None) and not isinstance(text, str | None):
        raise GUARD.fault(where, f"has the `text` {text!r:.60}: it isn't a text")
    if kind in ("tool_use", "tool_call", "server_tool_use") and (name := item.get("name")):
        held = fields_of(item.get("input"))
        if name == "artifacts" and texts_in(held, ("content",)):  # a text that people see
            return "", "\n".join(one for one in (held.get("title"), held["content"]) if isinstance(one, str) and one)
        return f"the call of the tool {name!s:.60} isn't read", ""
    if kind == "tool_result":
        return "the result of a tool isn't read", ""
    spoken = isinstance(text, str) and kind not in ("thinking", "reasoning")
    return f"a part of type {kind or 'unknown'} has no text", text if spoken else ""


def attached(item: object, names: Sequence[str], field: str | None = None) -> tuple[list[str], list[str]]:
    """Return the texts of attached files that have one as ``field``, below its name; and why others are left out.

    ``names`` are the fields of ``item`` that list files.
    """
    texts: list[str] = []
    left_out: list[str] = []
    for file in (one for name in names for one in listed(fields_of(item).get(name))):
        name = first_of(fields_of(file), FILE_NAMES)
        if field and (held := texts_in(fields_of(file), (field,))):
            texts.append(f"{name}:\n{held[0]}" if isinstance(name, str) and name.strip() else held[0])
        else:
            left_out.append(left_out_file(name))
    return texts, left_out


def left_out_file(name: object) -> str:
    """Return why an attached file is left out; its name is None where it isn't known."""
    return f"the attached file {name!s:.100} isn't read" if name else "an attached file isn't read"
