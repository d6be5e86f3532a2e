"""Verbs of the domain for servers: the notes that a message needs, notes related to one, links, and what agents write.

What agents write stays in the corpus: over a server they create no file, and change none.
"""

from dataclasses import asdict
from typing import Annotated, Any, Literal

from pydantic import Field

from pipeline.api import HopRank
from pipeline.domains.vault.api import Vault
from pipeline.domains.vault.note import NoteType
from pipeline.domains.vault.requests import Content, Context, Description, NewLink, Owner, Relation, Tags, Title
from pipeline.registry import Verb

Name = Annotated[str, Field(description="Name of the vault.")]
Version = Annotated[
    str, Field(description="The version of the note as it was read: nothing is done if it has another one by now.")
]
Note = Annotated[str, Field(min_length=1, description="A note: its path, file name, title or alias.")]


def context(
    hoprank: HopRank,
    message: Annotated[str, Field(min_length=1, description="The message or task.")],
    top_k: Annotated[int | None, Field(ge=1, le=10, description="The most notes.")] = None,
    vault: Name = "vault",
) -> dict[str, Any]:
    """Return the notes that a message needs, as a section for a prompt."""
    return hoprank.kept(Vault, vault).context(message, top_k=top_k).to_json()


def related(
    hoprank: HopRank,
    note: Note,
    top_k: Annotated[int, Field(ge=1, le=100, description="Number of notes.")] = 10,
    unlinked: Annotated[bool, Field(description="Only notes that it isn't linked with yet.")] = False,
    vault: Name = "vault",
) -> dict[str, Any]:
    """Return the notes related to a note by meaning and by links."""
    notes = hoprank.kept(Vault, vault).related(note, top_k, unlinked=unlinked)
    return {"notes": [asdict(related) for related in notes]}


def links(
    hoprank: HopRank,
    note: Note,
    direction: Annotated[
        Literal["out", "in", "both"], Field(description="Links of the note (out), backlinks to it (in), or both.")
    ] = "both",
    depth: Annotated[int, Field(ge=1, le=2, description="The most links away.")] = 1,
    limit: Annotated[int, Field(ge=1, le=50, description="The most notes.")] = 25,
    vault: Name = "vault",
) -> dict[str, Any]:
    """Return the notes that links lead to from a note, or from which links lead to it."""
    return hoprank.kept(Vault, vault).traverse(note, depth, limit, direction=direction).to_json()


def create_knowledge_node(
    hoprank: HopRank,
    title: Annotated[Title, Field(description="The title; no other note has it.")],
    content: Annotated[Content, Field(description="Its Markdown text; [[Title]] links to another note.")],
    description: Annotated[Description, Field(description="What it says, in a line.")] = "",
    type: Annotated[NoteType, Field(description="The kind of knowledge.")] = NoteType.CONCEPT,  # noqa: A002
    tags: Annotated[Tags, Field(description="Its tags.")] = (),
    links: Annotated[tuple[NewLink, ...], Field(max_length=50, description="Notes to link it to, and why.")] = (),
    agent: Annotated[Owner, Field(description="The agent whose note it is.")] = "",
    vault: Name = "vault",
) -> dict[str, Any]:
    """Create a note with links to other notes."""
    opened = hoprank.kept(Vault, vault)
    return opened.create(title, content, description, type, tags, links=links, agent=agent).to_json()


def link_knowledge_nodes(
    hoprank: HopRank,
    source: Note,
    target: Note,
    relation: Annotated[Relation, Field(description="The type of the link.")] = "",
    context: Annotated[Context, Field(description="A sentence that says why they belong together.")] = "",
    vault: Name = "vault",
) -> dict[str, Any]:
    """Link a note to another one; nothing changes if it has such a link."""
    return hoprank.kept(Vault, vault).link(source, target, relation, context).to_json()


def update_knowledge_node(
    hoprank: HopRank,
    note: Note,
    content: Annotated[Content | None, Field(description="Its new Markdown text; its added links stay.")] = None,
    description: Annotated[Description | None, Field(description="What it says, in a line.")] = None,
    type: Annotated[NoteType | None, Field(description="The kind of knowledge.")] = None,  # noqa: A002
    tags: Annotated[Tags | None, Field(description="Its tags, in place of those that it has.")] = None,
    version: Version = "",
    vault: Name = "vault",
) -> dict[str, Any]:
    """Update a note that an agent made: what is given replaces what it has."""
    opened = hoprank.kept(Vault, vault)
    return opened.update(note, content, description, type, tags, version=version).to_json()


def delete_knowledge_node(
    hoprank: HopRank,
    note: Note,
    version: Version = "",
    dry_run: Annotated[bool, Field(description="Only tell which notes link to it.")] = False,
    vault: Name = "vault",
) -> dict[str, Any]:
    """Delete a note that an agent made, and return the notes that link to it."""
    return hoprank.kept(Vault, vault).delete(note, version=version, dry_run=dry_run).to_json()


VERBS = (
    Verb(
        "context",
        context,
        "Collect the notes of a vault that a message or task needs, as a section for a prompt.",
        names="vault",
    ),
    Verb("related", related, "List the notes related to a note by meaning and by links.", names="vault"),
    Verb("links", links, "List the notes that a note links to, and those that link to it (backlinks).", names="vault"),
    Verb(
        "create_knowledge_node",
        create_knowledge_node,
        "Create a note: one complete thought, technique or concept, with links to other notes.",
        read_only=False,
        destructive=False,
        names="vault",
    ),
    Verb(
        "link_knowledge_nodes",
        link_knowledge_nodes,
        "Link a note that an agent made to another one, with a sentence that says why.",
        read_only=False,
        destructive=False,
        idempotent=True,
        names="vault",
    ),
    Verb(
        "update_knowledge_node",
        update_knowledge_node,
        "Update a note that an agent made, unless somebody has changed it since it was read (version).",
        read_only=False,
        idempotent=True,
        names="vault",
    ),
    Verb(
        "delete_knowledge_node",
        delete_knowledge_node,
        "Delete a note that an agent made. dry_run tells which notes link to it, and deletes nothing.",
        read_only=False,
        names="vault",
    ),
)
