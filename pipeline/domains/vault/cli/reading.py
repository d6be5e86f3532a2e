"""``hoprank vault context`` and ``related``: what reads a vault from its corpus."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from pipeline.cli.connection import connected
from pipeline.cli.options import Json, Model, Set, read_settings
from pipeline.cli.views.output import print_json, say, show, spinner, warn
from pipeline.domains.vault import deferred as domain
from pipeline.domains.vault.cli.options import Agent, Skill, User, Vault, open_vault
from pipeline.domains.vault.views.reading import related_view, why_view


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(context)
    app.command()(related)


def context(
    message: Annotated[str, typer.Argument(help="The message or task that needs knowledge.")],
    vault: Vault = "vault",
    user: User = "",
    skill: Skill = "",
    agent: Agent = "",
    top_k: Annotated[
        int | None, typer.Option("--top-k", "-k", min=1, max=10, help="How many notes at most.", show_default=False)
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Also say why each note was chosen.")] = False,
    as_json: Json = False,
    model: Model = None,
    settings: Set = None,
) -> None:
    """Print the notes that a message needs, as a section for a prompt; nothing if no note is relevant."""
    with connected(read_settings(model, settings)) as hoprank, spinner("Searching"):
        opened = open_vault(hoprank, vault, user, skill, agent)
        knowledge = domain.router.load_relevant_knowledge(opened, message, top_k=top_k)
    if as_json:
        print_json(knowledge.to_json())
        return
    if knowledge.notes:
        say(knowledge.text)
    else:
        warn(f"No note is relevant: {knowledge.reason}.")
    if explain and knowledge.notes:
        show("", why_view(knowledge))


def related(
    note: Annotated[str, typer.Argument(metavar="NOTE", help="A note: its path, file name, title or alias.")],
    vault: Vault = "vault",
    unlinked: Annotated[bool, typer.Option("--unlinked", help="Only notes that it isn't linked with yet.")] = False,
    user: User = "",
    skill: Skill = "",
    agent: Agent = "",
    top_k: Annotated[int, typer.Option("--top-k", "-k", min=1, help="How many notes.")] = 10,
    as_json: Json = False,
    settings: Set = None,
) -> None:
    """Print the notes that belong to a note by meaning and by links."""
    with connected(read_settings(None, settings)) as hoprank, spinner("Reading"):
        opened = open_vault(hoprank, vault, user, skill, agent)
        key = opened.note(note).key
        notes = domain.related.related(opened.graph(), key, top_k, unlinked=unlinked)
    if as_json:
        print_json([asdict(one) for one in notes])
    elif notes:
        show(related_view(notes))
    else:
        warn(f"Nothing is related to {note}.")
