"""``hoprank vault``: what reads and writes a vault on the server."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipeline.cli.confirm import confirm
from pipeline.cli.connection import connected
from pipeline.cli.deferred import catalogue
from pipeline.cli.deliver import JsonFile, check_json_file, deliver, deliver_report
from pipeline.cli.options import Json, Model, Set, Wait, read_settings
from pipeline.cli.syncing import DryRun, Watch, check_watch, follow
from pipeline.cli.views.output import print_json, say, show, spinner
from pipeline.cli.views.progress import show_progress
from pipeline.cli.views.summary import plan_table
from pipeline.domains.vault import deferred as domain
from pipeline.domains.vault.cli.options import Agent, Exclude, Folder, Include, Skill, User, Vault, open_vault
from pipeline.domains.vault.views import (
    created_view,
    index_view,
    linked_view,
    related_view,
    report_view,
    sync_view,
    traversal_view,
    why_view,
)
from pipeline.errors import InputError

if TYPE_CHECKING:
    from pipeline.domains.vault.build import VaultSync
    from pipeline.ingest.update.changes import Plan

WriteBack = Annotated[
    Path | None,
    typer.Option("--folder", metavar="DIR", help="The vault's folder: write the note into its file."),
]
Relation = Annotated[str, typer.Option("--relation", metavar="TYPE", help="The type of the link.")]


def sync(
    folder: Folder,
    vault: Vault = "vault",
    include: Include = None,
    exclude: Exclude = None,
    user: User = "",
    skill: Skill = "",
    agent: Agent = "",
    dry_run: DryRun = False,
    watch: Watch = False,
    as_json: Json = False,
    model: Model = None,
    settings: Set = None,
    wait: Wait = None,
) -> None:
    """Bring a vault to hold exactly the notes in a folder, and the links between them.

    Notes that name no user, skill or agent in their front matter are those of --user, --skill and --agent.
    """

    def announce(plan: Plan) -> None:
        if not as_json:
            show(plan_table(plan))

    def show_changes(done: VaultSync) -> None:
        if done.synced.plan:
            deliver(done, as_json, sync_view)

    check_watch(watched=watch, dry_run=dry_run)
    with connected(read_settings(model, settings, wait)) as hoprank:
        opened = open_vault(hoprank, vault, user, skill, agent)

        def once() -> VaultSync:
            with show_progress() as progress:
                return opened.sync(
                    folder,
                    include=include or (),
                    exclude=exclude or (),
                    dry_run=dry_run,
                    announce=announce,
                    progress=progress,
                )

        deliver(once(), as_json, sync_view)
        if watch:
            follow([str(folder)], once, show_changes)


def evaluate(
    folder: Folder,
    hide: Annotated[float, typer.Option("--hide", min=0, max=0.9, help="The share of linked pairs to hide.")] = 0.2,
    seed: Annotated[int, typer.Option("--seed", help="Chooses the pairs: the same seed, the same pairs.")] = 1,
    exclude: Exclude = None,
    json_file: JsonFile = None,
    model: Model = None,
    settings: Set = None,
) -> None:
    """Hide some links of a vault, and measure how many the rankings of related notes find."""
    check_json_file(json_file)
    with connected(read_settings(model, settings)) as hoprank, show_progress() as progress:
        report = domain.evaluate.evaluate(
            hoprank, folder, hide=hide, seed=seed, exclude=exclude or (), progress=progress
        )
    deliver_report(report.to_json(), json_file, lambda: show(report_view(report)))


def context(
    message: Annotated[str, typer.Argument(help="The message or task that needs knowledge.")],
    vault: Vault = "vault",
    user: User = "",
    skill: Skill = "",
    agent: Agent = "",
    top_k: Annotated[int | None, typer.Option("--top-k", "-k", min=1, max=10, help="How many notes at most.")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Also say why each note was chosen.")] = False,
    as_json: Json = False,
    model: Model = None,
    settings: Set = None,
) -> None:
    """Print the notes that a message needs, as a section for a prompt; nothing if no note is relevant."""
    with connected(read_settings(model, settings)) as hoprank, spinner("Searching"):
        knowledge = open_vault(hoprank, vault, user, skill, agent).context(message, top_k=top_k)
    is_empty = not knowledge.notes
    nothing = f"No note is relevant: {knowledge.reason}."
    deliver(knowledge, as_json, lambda it: it.text, nothing, is_empty=is_empty)
    if explain and not (as_json or is_empty):
        show("", why_view(knowledge))


def related(
    note: Annotated[str, typer.Argument(metavar="NOTE", help="A note: its path, file name, title or alias.")],
    vault: Vault = "vault",
    unlinked: Annotated[bool, typer.Option("--unlinked", help="Only notes that it isn't linked with yet.")] = False,
    user: User = "",
    skill: Skill = "",
    agent: Agent = "",
    top_k: Annotated[int, typer.Option("--top-k", "-k", "--limit", "-n", min=1, help="How many notes.")] = 10,
    as_json: Json = False,
    settings: Set = None,
) -> None:
    """Print the notes that belong to a note by meaning and by links."""
    with connected(read_settings(None, settings)) as hoprank, spinner("Reading"):
        notes = open_vault(hoprank, vault, user, skill, agent).related(note, top_k, unlinked=unlinked)
    deliver(notes, as_json, related_view, f"Nothing is related to {note}.")


def create(
    title: Annotated[str, typer.Argument(metavar="TITLE", help="The title; no note of the scope may have it.")],
    content: Annotated[
        str | None, typer.Option("--content", metavar="TEXT", help="Its Markdown text.", show_default="stdin")
    ] = None,
    description: Annotated[str, typer.Option("--description", metavar="TEXT", help="What it says, in a line.")] = "",
    type_: Annotated[
        str,
        typer.Option("--type", metavar="TYPE", help="concept, technique, reference, moc, claim or procedure."),
    ] = "concept",
    tag: Annotated[list[str] | None, typer.Option("--tag", help="A tag; repeatable.")] = None,
    link_to: Annotated[
        list[str] | None,
        typer.Option("--link", metavar="NOTE", help="A note that it belongs to; repeatable."),
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
        made = open_vault(hoprank, vault, user, skill, agent).create(
            title,
            text,
            description,
            type_,
            tag or (),
            links=[{"target": target} for target in link_to or ()],
            folder=folder,
        )
    deliver(made, as_json, created_view)


def link(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="A note: its path, file name, title or alias.")],
    target: Annotated[str, typer.Argument(metavar="TARGET", help="The note to link it to.")],
    relation: Relation = "",
    context: Annotated[str, typer.Option("--context", metavar="TEXT", help="A sentence that says why.")] = "",
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
        done = opened.link(source, target, relation, context, folder=folder)
    deliver(done, as_json, linked_view)


def traverse(
    note: Annotated[str, typer.Argument(metavar="NOTE", help="A note: its path, file name, title or alias.")],
    depth: Annotated[int, typer.Option("--depth", min=1, max=2, help="How many links away.")] = 1,
    budget: Annotated[
        int, typer.Option("--budget", "--limit", "-n", min=1, max=50, help="How many notes at most.")
    ] = 10,
    cursor: Annotated[str | None, typer.Option("--cursor", help="Go on where a traversal stopped.")] = None,
    direction: Annotated[
        str, typer.Option("--direction", metavar="WAY", help="Which links to follow: out, in or both.")
    ] = "out",
    relation: Annotated[
        list[str] | None,
        typer.Option("--relation", metavar="TYPE", help="Only links of this type; repeatable."),
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
        opened = open_vault(hoprank, vault, user, skill, agent)
        page = opened.traverse(note, depth, budget, cursor, direction=direction, relations=relation or ())
    deliver(page, as_json, traversal_view, f"No link leads on from {note}.", is_empty=not page.nodes)
    if page.cursor and not as_json:
        say(f"\n{page.total:,} notes in all. Go on with: --cursor {page.cursor}")


def schema() -> None:
    """Print the JSON Schema of the actions' requests and results."""
    print_json(domain.requests.schema())


def index(
    vault: Vault = "vault",
    skill: Skill = "",
    folder: Annotated[str, typer.Option("--folder", metavar="PATH", help="A top folder of the vault.")] = "",
    user: User = "",
    agent: Agent = "",
    markdown: Annotated[bool, typer.Option("--markdown", help="Print it as a Markdown note.")] = False,
    as_json: Json = False,
    settings: Set = None,
) -> None:
    """Print the notes of a skill, of a folder or of the whole vault by topic, with their descriptions."""
    with connected(read_settings(None, settings)) as hoprank:
        found = open_vault(hoprank, vault, user, skill, agent).index(skill, folder=folder)
    if markdown and not as_json:
        say(found.to_markdown())
    else:
        nothing = f"The vault {vault} holds no note of this scope."
        deliver(found, as_json, index_view, nothing, is_empty=not found.topics)


def drop(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The vault.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Don't ask.")] = False,
) -> None:
    """Delete a vault from the server, with its indexes and the notes that agents created; its folder stays."""
    with connected(read_settings()) as hoprank:
        corpus = catalogue.find_corpus(hoprank.client, name)
        if corpus and not yes:
            confirm(f"Drop {name!r} ({corpus.documents:,} notes)?")
        domain.api.Vault(hoprank, name).drop()
    say(f"Dropped {name}.")


def _piped() -> str:
    if sys.stdin.isatty():
        raise InputError("The note has no text.", "Give --content TEXT, or pipe the text into the command.")
    return sys.stdin.read()
