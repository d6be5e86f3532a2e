"""``hoprank vault sync`` and ``evaluate``: what reads a vault's folder into a corpus."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from pipeline.cli.connection import connected
from pipeline.cli.deliver import JsonFile, check_json_file, deliver_report
from pipeline.cli.options import Json, Model, Set, Wait, read_settings
from pipeline.cli.syncing import DryRun, Watch, check_watch, follow
from pipeline.cli.views.output import print_json, show
from pipeline.cli.views.progress import show_progress
from pipeline.cli.views.summary import plan_table, summary_table
from pipeline.domains.vault import deferred as domain
from pipeline.domains.vault.cli.options import Agent, Exclude, Folder, Include, Skill, User, Vault
from pipeline.domains.vault.views.syncing import links_view, report_view

if TYPE_CHECKING:
    from pipeline.domains.vault.sync import VaultSync
    from pipeline.ingest.update.plan import Plan


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(sync)
    app.command()(evaluate)


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
                return domain.sync.sync_vault(
                    hoprank,
                    folder,
                    vault,
                    include=include or (),
                    exclude=exclude or (),
                    scope=domain.records.Scope(user, skill, agent),
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
