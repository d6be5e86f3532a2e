"""``hoprank sync``: a corpus that holds exactly the documents of some paths."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.cli.deliver import deliver
from pipeline.cli.options import Corpus, Paths, Run, Strict
from pipeline.cli.syncing import DryRun, Watch, check_watch, follow
from pipeline.cli.views.output import show, warn
from pipeline.cli.views.progress import show_progress
from pipeline.cli.views.summary import link_warnings, plan_table, summary_table

if TYPE_CHECKING:
    from pipeline.ingest.update.changes import Plan, SyncSummary


def sync(
    paths: Paths,
    corpus: Corpus = "default",
    dry_run: DryRun = False,
    watch: Watch = False,
    strict: Strict = False,
    run: Run = Run(),
) -> None:
    """Bring a corpus to hold exactly the documents in PATH...: new, changed and renamed ones, and removals.

    Prints the plan, then does only that work. `ingest` does the same and removes nothing.
    """

    def announce(plan: Plan) -> None:
        if not run.as_json:
            show(plan_table(plan))

    def show_changes(summary: SyncSummary) -> None:
        if summary.plan:
            _show(summary, as_json=run.as_json)

    check_watch(watched=watch, dry_run=dry_run)
    with run.connect() as hoprank:

        def once() -> SyncSummary:
            with show_progress() as progress:
                return hoprank.sync(
                    *paths, corpus=corpus, dry_run=dry_run, strict=strict, announce=announce, progress=progress
                )

        _show(once(), as_json=run.as_json)
        if watch:
            follow(paths, once, show_changes)


def _show(summary: SyncSummary, *, as_json: bool) -> None:
    if as_json or summary.done is None:
        deliver(summary, as_json, lambda it: plan_table(it.plan))
    else:
        if summary.plan:
            show("", summary_table(summary.done))
        for text in link_warnings(summary.done):
            warn(text)
