"""``hoprank vault check``, ``mentions`` and ``rename``: the upkeep of a vault's files, without a server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from pipeline.cli.deliver import deliver
from pipeline.cli.options import Json, read_settings
from pipeline.domains.vault import deferred as domain
from pipeline.domains.vault.cli.options import Exclude, Folder, Include
from pipeline.domains.vault.views import findings_view, mentions_view, plan_view, renamed_view, written_view


def check(
    folder: Folder,
    strict: Annotated[bool, Option("--strict", help="Exit with 1 if anything needs mending.")] = False,
    as_json: Json = False,
    include: Include = None,
    exclude: Exclude = None,
) -> None:
    """Look for broken and ambiguous links, missing headings and blocks, orphans and duplicate titles.

    --include and --exclude choose the notes to check; links to the others aren't broken.
    """
    only = {note.key for note in _read(folder, include, exclude).notes} if include or exclude else None
    findings = domain.check.check(_read(folder), only)
    deliver(findings, as_json, findings_view)
    if strict and findings:
        raise typer.Exit(1)


def mentions(
    folder: Folder,
    note: Annotated[str | None, Option("--note", metavar="NAME", help="Only mentions in this note, and of it.")] = None,
    write: Annotated[
        bool, Option("--write", help="Make the first mention of each note in each other one a link.")
    ] = False,
    every: Annotated[bool, Option("--every", help="With --write: make all mentions links.")] = False,
    as_json: Json = False,
) -> None:
    """List the places where a note names another one without a link, or make them links."""
    read = _read(folder)
    key = domain.links.find_note(read, note).key if note is not None else None
    listed = domain.mentions.mentions(read, key)
    if not write:
        deliver(listed, as_json, mentions_view, "No note names another one without a link.")
        return
    written = domain.mentions.write_mentions(read, listed, every=every)
    deliver(written, as_json, written_view)
    if written.conflicts:
        raise typer.Exit(1)


def rename(
    folder: Folder,
    old: Annotated[str, Argument(metavar="OLD", help="The note: its path, file name, title or an alias.")],
    new: Annotated[str, Argument(metavar="NEW", help="Its new file name, or path in the vault; /NAME at its top.")],
    dry_run: Annotated[bool, Option("--dry-run", help="Print the plan and change nothing.")] = False,
    as_json: Json = False,
) -> None:
    """Rename or move a note, and rewrite the links to it."""
    read = _read(folder)
    plan = domain.rename.plan_rename(read, old, new)
    if dry_run:
        deliver(plan, as_json, plan_view, document={"plan": plan})
        return
    renamed = domain.rename.apply(read, plan)
    deliver(renamed, as_json, lambda done: renamed_view(plan, done), document={"plan": plan, "done": renamed})
    if renamed.conflicts:
        raise typer.Exit(1)


def _read(folder: Path, include: list[str] | None = None, exclude: list[str] | None = None) -> domain.note.Folder:
    limits = read_settings().sources.limits
    return domain.sources.read_folder(folder, include=include or (), exclude=exclude or (), limits=limits)
