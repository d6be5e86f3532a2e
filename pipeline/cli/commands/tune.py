"""``hoprank tune``: learn the scorer from judged questions."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from pipeline.cli.deferred import datasets, report
from pipeline.cli.deferred import tune as tuning
from pipeline.cli.options import KeptCorpus, Measuring, Run, Split
from pipeline.cli.views.evaluation import calibration_table, tune_table
from pipeline.cli.views.output import show
from pipeline.cli.views.progress import show_progress


def tune(
    folders: Annotated[list[Path], Argument(metavar="DIR...", help="Two querysets or more.")],
    output: Annotated[
        Path | None,
        Option("--output", "-o", metavar="FILE", help="Write what was learned to FILE, for HOPRANK_CONFIG."),
    ] = None,
    select: Annotated[
        bool, Option("--select", help="Drop features that sets left out are better off without, beyond chance.")
    ] = False,
    corpus: KeptCorpus = None,
    split: Split = None,
    run: Measuring = Run(),
) -> None:
    """Learn from judged questions how sure names are, and what the scorer's features weigh.

    Each queryset is judged by what the others teach, and by what those of other kinds do (other parent folders); what
    is written is what all of them teach.
    """
    if output:
        report.check_json_path(output)
    tuning.check_sets([datasets.read_dataset(folder, split).name for folder in folders])
    with run.connect() as hoprank, show_progress() as progress:
        tuned = hoprank.tune(*folders, split=split, corpus=corpus, select=select, progress=progress)
    if output:
        report.write_text(tuned.to_toml(), output)
    show(tune_table(tuned))
    show(calibration_table(tuned))
