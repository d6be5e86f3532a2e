"""``hoprank evaluate``, ``compare``, ``tune`` and ``calibrate``: measure a search, and learn from what is measured."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from pipeline.cli.connection import connected_client, corpus_or_only
from pipeline.cli.deferred import answers_in_context as answers
from pipeline.cli.deferred import compare as evaluations
from pipeline.cli.deferred import datasets, measures, report, trec
from pipeline.cli.deferred import evaluate as evaluation
from pipeline.cli.deferred import failures as failed
from pipeline.cli.deferred import tune as tuning
from pipeline.cli.deliver import JsonFile, check_json_file, deliver, deliver_report, is_printed
from pipeline.cli.options import AnyCorpus, Json, KeptCorpus, Legs, Measuring, Reading, Run, Split
from pipeline.cli.views.calibration import check_plot, plot_calibration, threshold_table
from pipeline.cli.views.evaluation import (
    comparison_views,
    report_views,
    trial_table,
    tune_views,
)
from pipeline.cli.views.output import show, spinner
from pipeline.cli.views.progress import show_progress
from pipeline.errors import ConfigurationError
from pipeline.json_values import plain
from pipeline.retrieve.legs import Leg


def evaluate(
    folders: Annotated[
        list[Path],
        Argument(
            metavar="DIR",
            help="A folder with corpus.jsonl (or --corpus), queries.jsonl and qrels.tsv; one of BEIR's, with qrels/; or"
            " HippoRAG's NAME.json beside NAME_corpus.json. Several only with --compare.",
        ),
    ],
    json_file: JsonFile = None,
    corpus: KeptCorpus = None,
    split: Split = None,
    legs: Legs = None,
    per_query: Annotated[bool, Option("--per-query", help="Print every query's own result, too.")] = False,
    compare: Annotated[
        bool,
        Option("--compare", help="Say what --set gains and loses on each queryset, against the search without it."),
    ] = False,
    other: Annotated[
        list[str] | None,
        Option(
            "--measure",
            metavar="NAME",
            help="Another measure, by ir_measures' name: MAP, P@5, R@100, nDCG@20, Judged@10; repeatable.",
        ),
    ] = None,
    runs: Annotated[
        Path | None,
        Option("--run", metavar="FOLDER", help="Write each leg's rankings as a TREC run, and the judgements."),
    ] = None,
    failures: Annotated[
        Path | None,
        Option(
            "--failures",
            metavar="FILE",
            help="Write a page of the questions that lost a relevant document, with its rank in each leg.",
        ),
    ] = None,
    contexts: Annotated[
        bool,
        Option("--contexts", help="Say how often a context of 500 to 4,000 tokens holds the queries' `answer`."),
    ] = False,
    run: Measuring = Run(),
) -> None:
    """Ingest a queryset's documents, answer its questions by each leg, and print how well and how fast.

    Without --corpus the documents go into a corpus of their own, which is dropped afterwards.
    """
    measured = {
        "--leg": legs,
        "--per-query": per_query,
        "--measure": other,
        "--run": runs,
        "--failures": failures,
        "--contexts": contexts,
    }
    _check_together(compare, measured, len(folders))
    if failures and legs and Leg.WHOLE not in legs:
        raise ConfigurationError("--failures are those of the whole.", f"Add --leg {Leg.WHOLE}.")
    measures.check_measures(other or ())
    if runs:  # which makes the folder, and others may be written into it
        trec.check_runs_folder(runs)
    for file in (json_file, failures):
        check_json_file(file)
    for folder in folders:
        datasets.read_dataset(folder, split)
    with run.connect() as hoprank, show_progress(quiet=is_printed(json_file)) as progress:
        document: dict[str, Any]
        views: list[Any]
        if compare:
            before = replace(run, settings=None).read()
            trials = hoprank.try_settings(*folders, before=before, split=split, corpus=corpus, progress=progress)
            document, views = {"trials": plain(trials)}, [trial_table(trials, run.settings or ())]
        else:
            found = hoprank.evaluate(
                folders[0],
                split=split,
                corpus=corpus,
                legs=legs or tuple(Leg),
                measures=other or (),
                contexts=answers.BUDGETS if contexts else (),
                progress=progress,
            )
            if runs:
                trec.write_runs(found, runs)
            if failures:
                failed.write_failures(found, failures)
            document, views = found.to_json(per_query=True), report_views(found, per_query=per_query)
    deliver_report(document, json_file, lambda: show(*views))


def _check_together(compares: bool, measured: Mapping[str, object], folders: int) -> None:
    """Raise ConfigurationError for options that ``--compare`` ignores, and for several querysets without it."""
    ignored = [name for name, given in measured.items() if given]
    if compares and ignored:
        raise ConfigurationError("--compare measures the fused whole alone.", f"Leave out {' and '.join(ignored)}.")
    if folders > 1 and not compares:
        raise ConfigurationError(f"{folders} querysets were given.", "Evaluate one at a time, or with --compare.")


_FILE = "A report that `hoprank evaluate --json` wrote, or a TREC run of any system"


def compare(
    before: Annotated[Path, Argument(metavar="A", help=f"{_FILE}: the one to compare with.")],
    after: Annotated[Path, Argument(metavar="B", help=f"{_FILE}, of the same queryset.")],
    leg: Annotated[Leg, Option("--leg", help="The leg of B, and of A if no other is given.")] = Leg.WHOLE,
    before_leg: Annotated[Leg | None, Option("--before-leg", help="Another leg of A.")] = None,
    measure: Annotated[
        str,
        Option(
            "--measure",
            metavar="NAME",
            help="The measure whose wins and losses are listed.",
        ),
    ] = "recall@5",
    qrels: Annotated[
        Path | None,
        Option(
            "--qrels",
            metavar="PATH",
            help="The judgements of runs: a file, or the queryset's folder.",
            show_default="qrels.trec beside the run",
        ),
    ] = None,
    fail_if_worse: Annotated[
        list[str] | None,
        Option(
            "--fail-if-worse",
            metavar="NAME:POINTS",
            help='Exit with 1 if a measure of B is lower by more points of percent: "recall@5:0.5"; repeatable.',
        ),
    ] = None,
    most: Annotated[int, Option("--show", "--limit", "-n", min=0, help="How many wins and losses to list.")] = 10,
    as_json: Json = False,
) -> None:
    """Compare two evaluations: B less A with 95% confidence intervals, and the queries that gained and lost.

    The intervals are those of a paired bootstrap over queries; one that holds 0 may be chance. The p-values are those
    of a paired randomisation test, corrected for the number of measures (Holm).
    """
    bounds = [evaluations.Bound.parse(text) for text in fail_if_worse or ()]
    names = [measure, *(bound.measure for bound in bounds)]
    first, second = (evaluations.read_evaluated(path, qrels, names) for path in (before, after))
    comparison = evaluations.compare(first, second, leg, before_leg, names)
    deliver(comparison, as_json, lambda it: comparison_views(it, measure, most))
    evaluations.check_not_worse(comparison, bounds)


def tune(
    folders: Annotated[list[Path], Argument(metavar="DIR", help="A queryset with ten judged questions, or several.")],
    output: Annotated[
        Path | None,
        Option("--output", "-o", metavar="FILE", help="Write what was learned to FILE, for the setting `weights`."),
    ] = None,
    select: Annotated[
        bool,
        Option(
            "--select", help="As --anew, and drop features that sets left out are better off without, beyond chance."
        ),
    ] = False,
    anew: Annotated[
        bool, Option("--anew", help="Start from nothing, not from the weights in use; takes two querysets or more.")
    ] = False,
    json_file: JsonFile = None,
    corpus: KeptCorpus = None,
    split: Split = None,
    run: Measuring = Run(),
) -> None:
    """Learn from judged questions how sure names are and what features weigh, and say whether that helps.

    Each question is judged by what the others teach, beside the weights in use; and each of several querysets by what
    the others teach, and those of other kinds (other parent folders). What is written is what all of them teach.
    """
    if output:
        report.check_json_path(output)
    check_json_file(json_file)
    given = [datasets.read_dataset(folder, split) for folder in folders]
    tuning.check_sets([(one.name, len(one.queries)) for one in given], anew=anew or select)
    with run.connect() as hoprank, show_progress(quiet=is_printed(json_file)) as progress:
        tuned = hoprank.tune(*folders, split=split, corpus=corpus, select=select, anew=anew, progress=progress)
    if output:
        report.write_text(tuned.to_toml(), output)
    deliver_report(plain(tuned), json_file, lambda: show(*tune_views(tuned, output)))


def calibrate(
    corpus: AnyCorpus = None,
    plot: Annotated[
        Path | None,
        Option("--plot", metavar="FILE", help="Draw it as FILE, .png or .svg (needs matplotlib: hoprank\\[plot])."),
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
        calibration = evaluation.calibrate(client, chosen, corpus_or_only(client, corpus))
    if plot:
        plot_calibration(calibration, plot)
    deliver(calibration, run.as_json, threshold_table)
