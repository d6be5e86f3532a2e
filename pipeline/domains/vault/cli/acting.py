"""``hoprank vault create``, ``link``, ``traverse`` and ``schema``: the actions of agents, as commands."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from pipeline.cli.connection import connected
from pipeline.cli.options import Json, Model, Set, Wait, read_settings
from pipeline.cli.views.output import print_json, say, show, warn
from pipeline.domains.vault import deferred as domain
from pipeline.domains.vault.cli.options import Agent, Skill, User, Vault, open_vault
from pipeline.domains.vault.views.acting import created_view, linked_view, traversal_view
from pipeline.errors import InputError

WriteBack = Annotated[
    Path | None,
    typer.Option(
        "--folder", metavar="DIR", help="The vault's folder: write the note into its file.", show_default=False
    ),
]
Relation = Annotated[str, typer.Option("--relation", metavar="TYPE", help="The type of the link.", show_default=False)]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(create)
    app.command()(link)
    app.command()(traverse)
    app.command()(schema)


def create(
    title: Annotated[str, typer.Argument(metavar="TITLE", help="The title; no note of the scope may have it.")],
    content: Annotated[
        str | None, typer.Option("--content", metavar="TEXT", help="Its Markdown text.", show_default="stdin")
    ] = None,
    description: Annotated[
        str, typer.Option("--description", metavar="TEXT", help="What it says, in a line.", show_default=False)
    ] = "",
    type_: Annotated[
        str,
        typer.Option("--type", metavar="TYPE", help="concept, technique, reference, moc, claim or procedure."),
    ] = "concept",
    tag: Annotated[list[str] | None, typer.Option("--tag", help="A tag; repeatable.", show_default=False)] = None,
    link_to: Annotated[
        list[str] | None,
        typer.Option("--link", metavar="NOTE", help="A note that it belongs to; repeatable.", show_default=False),
    ] = None,
    vault: Vault = "vault",
    user: User = "",
    skill: Skill = "",
    agent: Agent = "",
    folder: WriteBack = None,
    as_json: Json = False,
    model: Model = None,
    settings: Set = None,
    wait: Wait = None,
) -> None:
    """Create a note that later syncs of the vault's folder keep."""
    text = content if content is not None else _piped()
    with connected(read_settings(model, settings, wait)) as hoprank:
        made = domain.actions.create_knowledge_node(
            open_vault(hoprank, vault, user, skill, agent),
            title,
            text,
            description,
            type_,
            tag or (),
            links=[{"target": target} for target in link_to or ()],
            folder=folder,
        )
    if as_json:
        print_json(made.model_dump(mode="json"))
    else:
        show(created_view(made))


def link(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="A note: its path, file name, title or alias.")],
    target: Annotated[str, typer.Argument(metavar="TARGET", help="The note to link it to.")],
    relation: Relation = "",
    context: Annotated[
        str, typer.Option("--context", metavar="TEXT", help="A sentence that says why.", show_default=False)
    ] = "",
    vault: Vault = "vault",
    user: User = "",
    skill: Skill = "",
    agent: Agent = "",
    folder: WriteBack = None,
    as_json: Json = False,
    model: Model = None,
    settings: Set = None,
    wait: Wait = None,
) -> None:
    """Link a note to another one; nothing changes if it has the link."""
    with connected(read_settings(model, settings, wait)) as hoprank:
        opened = open_vault(hoprank, vault, user, skill, agent)
        done = domain.actions.link_knowledge_nodes(opened, source, target, relation, context, folder=folder)
    if as_json:
        print_json(done.model_dump(mode="json"))
    else:
        show(linked_view(done))


def traverse(
    note: Annotated[str, typer.Argument(metavar="NOTE", help="A note: its path, file name, title or alias.")],
    depth: Annotated[int, typer.Option("--depth", min=1, max=2, help="How many links away.")] = 1,
    budget: Annotated[int, typer.Option("--budget", min=1, max=50, help="How many notes at most.")] = 10,
    cursor: Annotated[
        str | None, typer.Option("--cursor", help="Go on where a traversal stopped.", show_default=False)
    ] = None,
    direction: Annotated[
        str, typer.Option("--direction", metavar="WAY", help="Which links to follow: out, in or both.")
    ] = "out",
    relation: Annotated[
        list[str] | None,
        typer.Option("--relation", metavar="TYPE", help="Only links of this type; repeatable.", show_default=False),
    ] = None,
    vault: Vault = "vault",
    user: User = "",
    skill: Skill = "",
    agent: Agent = "",
    as_json: Json = False,
    settings: Set = None,
) -> None:
    """List the notes that links lead to from a note, nearest first, each with the way to it."""
    with connected(read_settings(None, settings)) as hoprank:
        page = domain.actions.traverse_knowledge(
            open_vault(hoprank, vault, user, skill, agent),
            note,
            depth,
            budget,
            cursor,
            direction=direction,
            relations=relation or (),
        )
    if as_json:
        print_json(page.model_dump(mode="json"))
    elif page.nodes:
        show(traversal_view(page))
        if page.cursor:
            say(f"\n{page.total:,} notes in all. Go on with: --cursor {page.cursor}")
    else:
        warn(f"No link leads on from {note}.")


def schema() -> None:
    """Print the JSON Schema of the actions' requests and results."""
    print_json(domain.action_models.schema())


def _piped() -> str:
    if sys.stdin.isatty():
        raise InputError("The note has no text.", "Give --content TEXT, or pipe the text into the command.")
    return sys.stdin.read()
