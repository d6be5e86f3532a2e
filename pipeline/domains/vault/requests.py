"""Requests and results of the actions by which agents use a vault."""

import re
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from pipeline.domains.vault.links import fits_wikilink
from pipeline.domains.vault.note import NoteType
from pipeline.domains.vault.sources import LONGEST_DESCRIPTION
from pipeline.errors import InputError
from pipeline.knowledge import Direction

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x85\u2028\u2029]")
_RELATION = re.compile(r"[^\W\d_][\w /-]{0,60}")
_Result = TypeVar("_Result", bound=BaseModel)

# The limits, of lengths in characters, are chosen by hand: beyond them a value is a mistake, or no single note.
# Agents follow two links at most, by specification: these reach most of a small vault, and further notes have nothing
# to do with the start.


def _line(text: str) -> str:
    return " ".join(_CONTROL.sub(" ", text).split())


def _titled(text: str) -> str:
    if not fits_wikilink(_line(text)):
        raise ValueError("a title is a text without [ ] | # ^ and backslash, so that [[title]] links to it")
    return _line(text)


def _related(text: str) -> str:
    if text and not _RELATION.fullmatch(text):
        raise ValueError("a relation begins with a letter, and has letters, digits, spaces, - _ / (61 at most)")
    return text


def _lines(text: str) -> str:
    cleaned = _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n")).strip("\n")
    if not cleaned.strip():
        raise ValueError("a note needs a text")
    return cleaned


_Line = AfterValidator(_line)
Title = Annotated[str, StringConstraints(max_length=150), AfterValidator(_titled)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=1_000)]
Owner = Annotated[str, StringConstraints(max_length=200), _Line]
Content = Annotated[str, StringConstraints(max_length=20_000), AfterValidator(_lines)]
Description = Annotated[str, StringConstraints(max_length=LONGEST_DESCRIPTION), _Line]
Tag = Annotated[str, StringConstraints(min_length=1, max_length=100), _Line]
Tags = Annotated[tuple[Tag, ...], Field(max_length=30)]
Relation = Annotated[str, _Line, AfterValidator(_related)]
Context = Annotated[str, StringConstraints(max_length=300), _Line]


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    def to_json(self) -> dict[str, Any]:
        """Return this as plain JSON values."""
        return self.model_dump(mode="json")


class NewLink(_Record):
    """A link to an existing note: its path, file name, title or alias; the link's type; why the link exists."""

    target: Name
    relation: Relation = ""
    context: Context = ""


class CreateKnowledgeNode(_Record):
    """Create a note: one complete thought, technique or concept. [[Title]] in ``content`` links to another note."""

    title: Title
    content: Content
    description: Description = ""
    type: NoteType = NoteType.CONCEPT
    tags: Tags = ()
    links: Annotated[tuple[NewLink, ...], Field(max_length=50)] = ()
    skill: Owner = ""
    agent: Owner = ""


class LinkKnowledgeNodes(NewLink):
    """Link a note, the ``source``, to another one."""

    source: Name


class UpdateKnowledgeNode(_Record):
    """Update a note that an agent made: what is given replaces what the note has, the rest stays.

    The links of its last section, Related, stay too, unless ``content`` has such a section. ``version`` is that of the
    note as it was read: if somebody has changed it since, nothing is written.
    """

    note: Name
    content: Content | None = None
    description: Description | None = None
    type: NoteType | None = None
    tags: Tags | None = None
    version: str = ""


class TraverseKnowledge(_Record):
    """List the notes that links lead to from a note, nearest first; ``cursor`` goes on where a result stopped."""

    start: Name
    depth: Annotated[int, Field(ge=1, le=2)] = 1
    budget: Annotated[int, Field(ge=1, le=50)] = 10
    cursor: str | None = None
    direction: Direction = Direction.OUT
    relations: tuple[Relation, ...] = ()


class CreatedNode(_Record):
    """The note that was created. ``links`` are the notes that it links to, ``unresolved`` links that lead to none.

    ``version`` is that of its text, to give when it is updated or deleted: another text has another one. ``path`` is
    its file, if it was written into the vault's folder.
    """

    key: str
    title: str
    description: str
    type: NoteType
    links: tuple[str, ...]
    unresolved: tuple[str, ...]
    version: str
    path: str = ""


class UpdatedNode(CreatedNode):
    """A note as it is now; ``changed`` is false if it was so before."""

    changed: bool


class DeletedNode(_Record):
    """A note that is deleted, unless that was a dry run. ``linked_from`` are the notes whose links to it end nowhere.

    ``path`` was its file, if it had one.
    """

    key: str
    title: str
    linked_from: tuple[str, ...]
    deleted: bool
    path: str = ""


class LinkedNodes(_Record):
    """Two linked notes; ``created`` is false if they had this link before. ``path`` is the file that holds the link."""

    source: str
    target: str
    relation: str
    created: bool
    path: str = ""


class LinkStep(_Record):
    """The links from one note to another, by key: their types, and the sentences around them."""

    source: str
    target: str
    relations: tuple[str, ...]
    sentences: tuple[str, ...]


class TraversedNode(_Record):
    """A note that a traversal reached after ``distance`` links; ``path`` holds these in order, from the start."""

    key: str
    title: str
    description: str
    type: NoteType
    distance: int
    path: tuple[LinkStep, ...]


class Traversal(_Record):
    """A page of a traversal; ``total`` counts the notes of all pages, ``cursor`` asks for the next one, if any."""

    start: TraversedNode
    nodes: tuple[TraversedNode, ...]
    total: int
    cursor: str | None = None


def checked(model: type[_Result], **values: object) -> _Result:
    """Return a request with these values; raises InputError naming the first invalid one."""
    try:
        return model(**values)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        given = f", not {str(first['input'])[:80]!r}" if field else ""
        message = first["msg"].removeprefix("Value error, ")
        raise InputError(f"{field}: {message}{given}.", "Give a value that fits.") from None
