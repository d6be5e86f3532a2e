"""``hoprank tune``: learn the scorer from judged questions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pipeline.cli.connection import connected
from pipeline.cli.options import KeptCorpus, Model, Set, Split, flags
from pipeline.cli.views.output import show
from pipeline.cli.views.progress import shown_progress
from pipeline.settings import load_settings


def tune(
    folders: Annotated[
        list[Path],
        typer.Argument(metavar="DIR...", help="Two querysets or more.", show_default=False),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write what was learned to FILE, for HOPRANK_CONFIG."),
    ] = None,
    select: Annotated[
        bool, typer.Option("--select", help="Drop features that don't help, chosen anew for each set left out.")
    ] = False,
    corpus: KeptCorpus = None,
    split: Split = None,
    model: Model = None,
    settings: Set = None,
) -> None:
    """Learn from judged questions how sure names are, and what the scorer's features weigh.

    Each queryset is judged by what the others teach, and by what those of other kinds do (other parent folders); what
    is written is what all of them teach.
    """
    from pipeline.cli.views.tuning import calibration_table, tune_table
    from pipeline.evaluate.datasets import read_dataset
    from pipeline.evaluate.report import check_json_path, write_text
    from pipeline.evaluate.tuning.tune import check_sets

    if output:
        check_json_path(output)
    check_sets([read_dataset(folder, split).name for folder in folders])
    with connected(load_settings(flags(model, settings))) as hoprank, shown_progress() as progress:
        tuned = hoprank.tune(*folders, split=split, corpus=corpus, select=select, progress=progress)
    if output:
        write_text(tuned.to_toml(), output)
    show(tune_table(tuned))
    show(calibration_table(tuned))
