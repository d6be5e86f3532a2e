"""``hoprank calibrate``: the cosine from which chunks are linked."""

from pathlib import Path
from typing import Annotated

from typer import Option

from pipeline.cli.connection import connected_client
from pipeline.cli.deferred import evaluate
from pipeline.cli.deliver import deliver
from pipeline.cli.options import Corpus, Reading, Run
from pipeline.cli.views.calibration import check_plot, plot_calibration, threshold_table
from pipeline.cli.views.output import spinner


def calibrate(
    corpus: Corpus = "default",
    plot: Annotated[
        Path | None,
        Option("--plot", metavar="FILE", help="Draw it as FILE, .png or .svg (needs matplotlib: hoprank[plot])."),
    ] = None,
    run: Reading = Run(),
) -> None:
    """Show what each cosine threshold would do to a corpus's links, components and hubs, and suggest one.

    Nothing is changed: `hoprank relink` brings a corpus to another threshold.
    """
    if plot:
        check_plot(plot)
    chosen = run.read()
    with connected_client(chosen) as client, spinner("Comparing chunks"):
        calibration = evaluate.calibrate(client, chosen, corpus)
    if plot:
        plot_calibration(calibration, plot)
    deliver(calibration, run.as_json, threshold_table)
