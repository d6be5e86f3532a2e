"""``hoprank vault``: what reads and writes a vault on the server."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from pipeline.cli import completion
from pipeline.cli.connection import connected
from pipeline.cli.deferred import catalogue
from pipeline.cli.deliver import (
    DryRun,
    JsonFile,
    Watch,
    check_json_file,
    check_watch,
    deliver,
    deliver_report,
    deliver_syncs,
)
from pipeline.cli.options import Embedding, Measuring, Reading, Run, TopK, Yes, confirm, read_settings
from pipeline.cli.views.output import say, show, spinner
from pipeline.cli.views.progress import show_progress
from pipeline.cli.views.summary import plan_table
from pipeline.domains.vault import deferred as domain
from pipeline.domains.vault import views
from pipeline.domains.vault.cli.options import Agent, Exclude, Folder, Include, Notes, Skill, User, Vault, Whose
from pipeline.errors import InputError
from pipeline.text.prose import counted

if TYPE_CHECKING:
    from pipeline.domains.vault.api import VaultSync
    from pipeline.ingest.update.changes import Plan

WriteBack = Annotated[
    Path | None, Option("--folder", metavar="DIR", help="The vault's folder: write the note into its file.")
]
Relation = Annotated[str, Option("--relation", metavar="TYPE", help="The type of the link.")]
Version = Annotated[
    str, Option("--version", metavar="VERSION", help="The version that was read: another one is a conflict.")
]
_TYPES = "concept, technique, reference, moc, claim or procedure"


def sync(
    folder: Folder,
    vault: Vault = "vault",
    include: Include = None,
    exclude: Exclude = None,
    whose: Whose = Notes(),
    dry_run: DryRun = False,
    watch: Watch = False,
    run: Run = Run(),
) -> None:
    """Bring a vault to hold exactly the notes in a folder, and the links between them.

    Notes that name no user, skill or agent in their front matter are those of --user, --skill and --agent.
    """

    told: list[Plan] = []

    def announce(plan: Plan) -> None:
        if not run.as_json:
            show(plan_table(plan, views.NAMES, told[-1] if told else None))
            told[:] = [plan]

    def show_it(done: VaultSync) -> None:
        deliver(done, run.as_json, views.sync_view)

    check_watch(watch=watch, dry_run=dry_run)
    with run.connect() as hoprank:
        opened = replace(whose, vault=vault).open(hoprank)

        def once() -> VaultSync:
            with show_progress(quiet=run.as_json) as progress:
                return opened.sync(
                    folder,
                    include=include or (),
                    exclude=exclude or (),
                    dry_run=dry_run,
                    announce=announce,
                    progress=progress,
                )

        deliver_syncs([str(folder)], once, show_it, "synced.plan", watch=watch)


def evaluate(
    folder: Folder,
    hide: Annotated[float, Option("--hide", min=0, max=0.9, help="The share of linked pairs to hide.")] = 0.2,
    seed: Annotated[int, Option("--seed", help="Chooses the pairs: the same seed, the same pairs.")] = 1,
    exclude: Exclude = None,
    json_file: JsonFile = None,
    run: Measuring = Run(),
) -> None:
    """Hide some links of a vault, and measure how many the rankings of related notes find."""
    check_json_file(json_file)
    with run.connect() as hoprank, show_progress() as progress:
        report = domain.evaluate.evaluate(
            hoprank, folder, hide=hide, seed=seed, exclude=exclude or (), progress=progress
        )
    deliver_report(report.to_json(), json_file, lambda: show(views.report_view(report)))


def context(
    message: Annotated[str, Argument(metavar="MESSAGE", help="The message or task that needs knowledge.")],
    of: Notes = Notes(),
    top_k: Annotated[int | None, Option("--top-k", "-k", "--limit", "-n", min=1, max=10, help="How many.")] = None,
    explain: Annotated[bool, Option("--explain", help="Also say why each note was chosen.")] = False,
    run: Embedding = Run(),
) -> None:
    """Print the notes that a message needs, as a section for a prompt; nothing if no note is relevant."""
    with run.connect() as hoprank, spinner("Searching"):
        knowledge = of.open(hoprank).context(message, top_k=top_k)
    is_empty = not knowledge.notes
    nothing = f"No note is relevant: {knowledge.reason}."
    deliver(knowledge, run.as_json, lambda it: it.text, nothing, is_empty=is_empty)
    if explain and not (run.as_json or is_empty):
        show("", views.why_view(knowledge))


def related(
    note: Annotated[str, Argument(metavar="NOTE", help="A note: its path, file name, title or alias.")],
    vault: Vault = "vault",
    unlinked: Annotated[bool, Option("--unlinked", help="Only notes that it isn't linked with yet.")] = False,
    whose: Whose = Notes(),
    top_k: TopK = 10,
    run: Reading = Run(),
) -> None:
    """Print the notes that belong to a note by meaning and by links."""
    with run.connect() as hoprank, spinner("Reading"):
        notes = replace(whose, vault=vault).open(hoprank).related(note, top_k, unlinked=unlinked)
    deliver(notes, run.as_json, views.related_view, f"Nothing is related to {note}.")


def create(
    title: Annotated[str, Argument(metavar="TITLE", help="The title; no note of the scope may have it.")],
    content: Annotated[
        str | None, Option("--content", metavar="TEXT", help="Its Markdown text.", show_default="stdin")
    ] = None,
    description: Annotated[str, Option("--description", metavar="TEXT", help="What it says, in a line.")] = "",
    type_: Annotated[str, Option("--type", metavar="TYPE", help=f"{_TYPES}.")] = "concept",
    tag: Annotated[list[str] | None, Option("--tag", help="A tag; repeatable.")] = None,
    link_to: Annotated[
        list[str] | None, Option("--link", metavar="NOTE", help="A note that it belongs to; repeatable.")
    ] = None,
    of: Notes = Notes(),
    folder: WriteBack = None,
    run: Run = Run(),
) -> None:
    """Create a note that later syncs of the vault's folder keep."""
    if content is None and sys.stdin.isatty():
        raise InputError("The note has no text.", "Give --content TEXT, or pipe the text into the command.")
    text = sys.stdin.read() if content is None else content
    links = [{"target": target} for target in link_to or ()]
    with run.connect() as hoprank:
        made = of.open(hoprank).create(title, text, description, type_, tag or (), links=links, folder=folder)
    deliver(made, run.as_json, views.written_note_view)


def link(
    source: Annotated[str, Argument(metavar="SOURCE", help="A note: its path, file name, title or alias.")],
    target: Annotated[str, Argument(metavar="TARGET", help="The note to link it to.")],
    relation: Relation = "",
    context: Annotated[str, Option("--context", metavar="TEXT", help="A sentence that says why.")] = "",
    of: Notes = Notes(),
    folder: WriteBack = None,
    run: Run = Run(),
) -> None:
    """Link a note to another one; nothing changes if it has the link."""
    with run.connect() as hoprank:
        done = of.open(hoprank).link(source, target, relation, context, folder=folder)
    deliver(done, run.as_json, views.linked_view)


def update(
    note: Annotated[str, Argument(metavar="NOTE", help="A note that an agent made.")],
    content: Annotated[
        str | None, Option("--content", metavar="TEXT", help="Its new Markdown text; - reads it from stdin.")
    ] = None,
    description: Annotated[str | None, Option("--description", metavar="TEXT", help="What it says, in a line.")] = None,
    type_: Annotated[str | None, Option("--type", metavar="TYPE", help=f"{_TYPES}.")] = None,
    tag: Annotated[list[str] | None, Option("--tag", help="A tag, in place of all that it has; repeatable.")] = None,
    version: Version = "",
    of: Notes = Notes(),
    folder: WriteBack = None,
    run: Run = Run(),
) -> None:
    """Update a note that an agent made: what is given replaces what it has, the rest stays."""
    text = sys.stdin.read() if content == "-" else content
    with run.connect() as hoprank:
        done = of.open(hoprank).update(note, text, description, type_, tag or None, version=version, folder=folder)
    outcome = "updated" if done.changed else "unchanged"
    deliver(done, run.as_json, lambda it: views.written_note_view(it, outcome, version=True))


def delete(
    note: Annotated[str, Argument(metavar="NOTE", help="A note that an agent made.")],
    version: Version = "",
    of: Notes = Notes(),
    folder: WriteBack = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    run: Run = Run(),
) -> None:
    """Delete a note that an agent made, with its file, and list the notes whose links to it end nowhere."""
    with run.connect() as hoprank:
        notes = of.open(hoprank)
        if not (dry_run or yes):
            planned = notes.delete(note, version=version, folder=folder, dry_run=True)
            confirm(f"Delete {planned.key!r} ({counted(len(planned.linked_from), 'note')} linking to it)?", yes)
        done = notes.delete(note, version=version, folder=folder, dry_run=dry_run)
    deliver(done, run.as_json, views.deleted_view)


def index(
    vault: Vault = "vault",
    skill: Skill = "",
    folder: Annotated[str, Option("--folder", metavar="PATH", help="A top folder of the vault.")] = "",
    user: User = "",
    agent: Agent = "",
    markdown: Annotated[bool, Option("--markdown", help="Print it as a Markdown note.")] = False,
    run: Reading = Run(),
) -> None:
    """Print the notes of a skill, of a folder or of the whole vault by topic, with their descriptions."""
    with run.connect() as hoprank:
        found = Notes(vault, user, skill, agent).open(hoprank).index(skill, folder=folder)
    if markdown and not run.as_json:
        say(found.to_markdown())
    else:
        nothing = f"The vault {vault} holds no note of this scope."
        deliver(found, run.as_json, views.index_view, nothing, is_empty=not found.topics)


def drop(
    name: Annotated[str, Argument(metavar="NAME", help="The vault.", autocompletion=completion.corpora)],
    yes: Yes = False,
) -> None:
    """Delete a vault from the server, with its indexes and the notes that agents created; its folder stays."""
    with connected(read_settings()) as hoprank:
        corpus = catalogue.find_corpus(hoprank.client, name)
        if corpus:
            confirm(f"Drop {name!r} ({counted(corpus.documents, 'note')})?", yes)
        domain.api.Vault(hoprank, name).drop()
    say(f"Dropped {name}.")
