"""``hoprank vault index`` and ``drop``: the maps of content of a vault, and its end."""

from __future__ import annotations

from typing import Annotated

import typer

from pipeline.cli.confirm import confirm
from pipeline.cli.connection import connected
from pipeline.cli.deferred import catalogue
from pipeline.cli.options import Json, Set, read_settings
from pipeline.cli.views.output import print_json, say, show, warn
from pipeline.domains.vault import deferred as domain
from pipeline.domains.vault.cli.options import Agent, Skill, User, Vault, open_vault
from pipeline.domains.vault.views.acting import index_view


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(index)
    app.command()(drop)


def index(
    vault: Vault = "vault",
    skill: Skill = "",
    folder: Annotated[
        str, typer.Option("--folder", metavar="PATH", help="A top folder of the vault.", show_default=False)
    ] = "",
    user: User = "",
    agent: Agent = "",
    markdown: Annotated[bool, typer.Option("--markdown", help="Print it as a Markdown note.")] = False,
    as_json: Json = False,
    settings: Set = None,
) -> None:
    """Print the notes of a skill, of a folder or of the whole vault by topic, with their descriptions."""
    with connected(read_settings(None, settings)) as hoprank:
        opened = open_vault(hoprank, vault, user, skill, agent)
        found = domain.index_node.graph_index_node(opened, skill, folder=folder)
    if as_json:
        print_json(found.to_json())
    elif markdown:
        say(found.to_markdown())
    elif found.topics:
        show(*index_view(found))
    else:
        warn(f"The vault {vault} holds no note of this scope.")


def drop(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The vault.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Don't ask.")] = False,
) -> None:
    """Delete a vault from the server, with its indexes and the notes that agents created; its folder stays."""
    with connected(read_settings()) as hoprank:
        corpus = catalogue.find_corpus(hoprank.client, name)
        if corpus and not yes:
            confirm(f"Drop {name!r} ({corpus.documents:,} notes)?")
        domain.mocs.drop_vault(hoprank, name)
    say(f"Dropped {name}.")
