"""``hoprank vault create``, ``link``, ``traverse`` and ``schema``: the actions of agents, as commands."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipeline.cli.confirm import confirm
from pipeline.cli.connection import connected
from pipeline.cli.deferred import catalogue
from pipeline.cli.deliver import JsonFile, check_json_file, deliver_report
from pipeline.cli.options import Json, Model, Set, Wait, read_settings
from pipeline.cli.syncing import DryRun, Watch, check_watch, follow
from pipeline.cli.views.output import print_json, say, show, spinner, warn
from pipeline.cli.views.progress import show_progress
from pipeline.cli.views.summary import plan_table, summary_table
from pipeline.domains.vault import deferred as domain
from pipeline.domains.vault.cli.options import Agent, Exclude, Folder, Include, Skill, User, Vault, open_vault
from pipeline.domains.vault.views import (
    created_view,
    index_view,
    linked_view,
    links_view,
    related_view,
    report_view,
    traversal_view,
    why_view,
)
from pipeline.errors import InputError

if TYPE_CHECKING:
    from pipeline.domains.vault.build import VaultSync
    from pipeline.ingest.update.plan import Plan

WriteBack = Annotated[
    Path | None,
    typer.Option(
        "--folder", metavar="DIR", help="The vault's folder: write the note into its file.", show_default=False
    ),
]
Relation = Annotated[str, typer.Option("--relation", metavar="TYPE", help="The type of the link.", show_default=False)]


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
            _show(done, as_json=as_json)

    check_watch(watched=watch, dry_run=dry_run)
    with connected(read_settings(model, settings, wait)) as hoprank:

        def once() -> VaultSync:
            with show_progress() as progress:
                return domain.build.sync_vault(
                    hoprank,
                    folder,
                    vault,
                    include=include or (),
                    exclude=exclude or (),
                    scope=domain.note.Scope(user, skill, agent),
                    dry_run=dry_run,
                    announce=announce,
                    progress=progress,
                )

        _show(once(), as_json=as_json)
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


def _show(done: VaultSync, *, as_json: bool) -> None:
    synced = done.synced
    if as_json:
        print_json({**synced.to_json(), "links": asdict(done.links)})
        return
    if synced.done is None:
        show(plan_table(synced.plan))
    elif synced.plan:
        show("", summary_table(synced.done))
    show(links_view(done.links))


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
        knowledge = domain.context.load_relevant_knowledge(opened, message, top_k=top_k)
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
        found = domain.maps.graph_index_node(opened, skill, folder=folder)
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
        domain.maps.drop_vault(hoprank, name)
    say(f"Dropped {name}.")
