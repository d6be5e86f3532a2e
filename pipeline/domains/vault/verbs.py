"""Verbs of the domain for servers: the notes that a message needs, notes related to one, and links."""

from dataclasses import asdict
from typing import Annotated, Any, Literal

from pydantic import Field

from pipeline.api import HopRank
from pipeline.domains.vault.api import Vault
from pipeline.registry import Verb

Name = Annotated[str, Field(description="Name of the vault.")]
Note = Annotated[str, Field(min_length=1, description="A note: its path, file name, title or alias.")]


def context(
    hoprank: HopRank,
    message: Annotated[str, Field(min_length=1, max_length=10_000, description="The message or task.")],
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


VERBS = (
    Verb("context", context, "Collect the notes of a vault that a message or task needs, as a section for a prompt."),
    Verb("related", related, "List the notes related to a note by meaning and by links."),
    Verb("links", links, "List the notes that a note links to, and those that link to it (backlinks)."),
)
