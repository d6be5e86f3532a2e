"""``hoprank sync``: a corpus that holds exactly what is in a place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pipeline.cli.bars import shown_progress
from pipeline.cli.connection import connected
from pipeline.cli.options import Corpus, Json, Model, Set, Wait, flags
from pipeline.cli.output import print_json, show
from pipeline.cli.summary import plan_table, summary_table
from pipeline.settings import load_settings

if TYPE_CHECKING:
    from pipeline.ingest.plan import Plan


def sync(
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATH...", help="Files, folders, globs, or .jsonl of {id, title, text, metadata}."),
    ],
    corpus: Corpus = "default",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan and change nothing.")] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Stop at what can't be read instead of skipping it.")
    ] = False,
    as_json: Json = False,
    model: Model = None,
    settings: Set = None,
    wait: Wait = None,
) -> None:
    """Bring a corpus to hold exactly the documents in PATH...: new, changed and renamed ones, and removals.

    Prints the plan, then does only that work. `ingest` does the same and removes nothing.
    """

    def announce(plan: Plan) -> None:
        if not as_json:
            show(plan_table(plan))

    with connected(load_settings(flags(model, settings, wait))) as hoprank, shown_progress() as progress:
        summary = hoprank.sync(
            *paths, corpus=corpus, dry_run=dry_run, strict=strict, announce=announce, progress=progress
        )
    if as_json:
        print_json(summary.to_json())
    elif summary.done is None:
        show(plan_table(summary.plan))
    elif summary.plan:
        show("", summary_table(summary.done))
