"""``hoprank evaluate``: measure every leg on a queryset."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from pipeline.cli.deferred import datasets
from pipeline.cli.deliver import JsonFile, check_json_file, deliver_report
from pipeline.cli.options import KeptCorpus, Legs, Measuring, Run, Split
from pipeline.cli.views.evaluation import ablation_table, report_views
from pipeline.cli.views.output import show
from pipeline.cli.views.progress import show_progress
from pipeline.errors import ConfigurationError
from pipeline.retrieve.legs import Leg


def evaluate(
    folders: Annotated[
        list[Path],
        Argument(
            metavar="DIR...",
            help="A folder with corpus.jsonl (or --corpus), queries.jsonl and qrels.tsv; one of BEIR's, with qrels/; or"
            " HippoRAG's NAME.json beside NAME_corpus.json. Several only with --ablate.",
        ),
    ],
    json_file: JsonFile = None,
    corpus: KeptCorpus = None,
    split: Split = None,
    legs: Legs = None,
    per_query: Annotated[bool, Option("--per-query", help="Print every query's own result, too.")] = False,
    ablate: Annotated[
        bool, Option("--ablate", help="Say what each leg, edge, feature and seed is worth instead of measuring legs.")
    ] = False,
    run: Measuring = Run(),
) -> None:
    """Ingest a queryset's documents, answer its questions by each leg, and print how well and how fast.

    Without --corpus the documents go into a corpus of their own, which is dropped afterwards.
    """
    if ablate and (legs or per_query):
        raise ConfigurationError("--ablate measures the fused whole alone.", "Leave out --leg and --per-query.")
    if len(folders) > 1 and not ablate:
        raise ConfigurationError(f"{len(folders)} querysets were given.", "Evaluate one at a time, or with --ablate.")
    check_json_file(json_file)
    for folder in folders:
        datasets.read_dataset(folder, split)
    with run.connect() as hoprank, show_progress() as progress:
        if not ablate:
            chosen = legs or tuple(Leg)
            report = hoprank.evaluate(folders[0], split=split, corpus=corpus, legs=chosen, progress=progress)
            document, views = report.to_json(per_query=True), report_views(report, per_query=per_query)
        else:
            ablation = hoprank.ablate(*folders, split=split, corpus=corpus, progress=progress)
            document, views = ablation.to_json(), [ablation_table(ablation)]
    deliver_report(document, json_file, lambda: show(*views))
