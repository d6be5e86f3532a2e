"""``hoprank ingest``, ``remove`` and ``sync``: documents into a corpus, and out of it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

from typer import Option

from pipeline.cli.connection import connected_client
from pipeline.cli.deferred import ingest as ingestion
from pipeline.cli.deferred import reader
from pipeline.cli.deliver import DryRun, Watch, check_watch, deliver, deliver_syncs
from pipeline.cli.options import Address, Corpus, EngineName, Filterable, Paths, Run, Strict, fields_of
from pipeline.cli.views.output import show, warn
from pipeline.cli.views.progress import show_progress
from pipeline.cli.views.summary import link_warnings, plan_table, removal_table, summary_table

if TYPE_CHECKING:
    from pipeline.ingest.update.changes import Plan, SyncSummary


_MOST_NAMED = 10  # documents in a warning; chosen by hand to fit a screen


def ingest(
    paths: Paths,
    corpus: Corpus = "default",
    strict: Strict = False,
    filterable: Filterable = None,
    engine: EngineName = None,
    address: Address = None,
    run: Run = Run(),
) -> None:
    """Bring a corpus to hold the documents in PATH...; make the corpus if it is missing.

    Run it again whenever documents change: only changes cost time, and documents that aren't in PATH... stay.
    """
    reader.check_paths(paths)  # before a server is fetched and started for nothing
    with run.by(engine, address).connect() as hoprank, show_progress(quiet=run.as_json) as progress:
        summary = hoprank.ingest(
            *paths, corpus=corpus, strict=strict, filterable=fields_of(filterable), progress=progress
        )
    deliver(summary, run.as_json, summary_table)
    if run.as_json:
        return
    for text in link_warnings(summary):
        warn(text)
    if summary.empty:
        more = ", ..." if len(summary.empty) > _MOST_NAMED else ""
        warn(f"Found by nothing, for want of text: {', '.join(summary.empty[:_MOST_NAMED])}{more}")


def remove(
    documents: Annotated[
        list[str],
        Option(
            "--document", metavar="KEY", help="A path below the folder that was ingested, or a .jsonl id; repeatable."
        ),
    ],
    corpus: Corpus = "default",
    run: Annotated[Run, "as_json", "wait"] = Run(),
) -> None:
    """Remove documents from a corpus."""
    chosen = run.read()
    with connected_client(chosen) as client, show_progress(quiet=run.as_json) as progress:
        outcome = ingestion.remove(client, chosen, corpus, documents, progress=progress)
    document = {"corpus": corpus, "removed": documents, **asdict(outcome)}
    deliver(outcome, run.as_json, lambda it: removal_table(corpus, documents, it), document=document)


def sync(
    paths: Paths,
    corpus: Corpus = "default",
    dry_run: DryRun = False,
    watch: Watch = False,
    strict: Strict = False,
    filterable: Filterable = None,
    engine: EngineName = None,
    address: Address = None,
    run: Run = Run(),
) -> None:
    """Bring a corpus to hold exactly the documents in PATH...: new, changed and renamed ones, and removals.

    Prints the plan, then does only that work. `ingest` does the same and removes nothing.
    """

    told: list[Plan] = []

    def announce(plan: Plan) -> None:
        if not run.as_json:
            show(plan_table(plan, told=told[-1] if told else None))
            told[:] = [plan]

    def show_it(summary: SyncSummary) -> None:
        if run.as_json or summary.done is None:
            deliver(summary, run.as_json, lambda it: plan_table(it.plan))
            return
        if summary.plan:
            show("", summary_table(summary.done, told=summary.plan))
        for text in link_warnings(summary.done):
            warn(text)

    check_watch(watch=watch, dry_run=dry_run, paths=paths)
    reader.check_paths(paths)
    with run.by(engine, address).connect() as hoprank:

        def once() -> SyncSummary:
            with show_progress(quiet=run.as_json) as progress:
                return hoprank.sync(
                    *paths,
                    corpus=corpus,
                    dry_run=dry_run,
                    strict=strict,
                    filterable=fields_of(filterable),
                    announce=announce,
                    progress=progress,
                )

        deliver_syncs(paths, once, show_it, "plan", watch=watch)
