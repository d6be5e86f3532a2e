"""``hoprank evaluate``: measure every leg on a queryset."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from pipeline.cli.connection import connected
from pipeline.cli.options import KeptCorpus, Legs, Model, Set, Split, flags
from pipeline.cli.views.frame import frame
from pipeline.cli.views.output import print_json, show
from pipeline.cli.views.progress import shown_progress
from pipeline.errors import ConfigurationError
from pipeline.retrieve.legs import Leg
from pipeline.settings import load_settings

if TYPE_CHECKING:
    from pipeline.evaluate.ablation import Ablation
    from pipeline.evaluate.report import Report

_STDOUT = "-"


def evaluate(
    folders: Annotated[
        list[Path],
        typer.Argument(
            metavar="DIR...",
            help="A folder with corpus.jsonl (or --corpus), queries.jsonl and qrels.tsv; one of BEIR's, with qrels/; or"
            " HippoRAG's NAME.json beside NAME_corpus.json. Several only with --ablate.",
            show_default=False,
        ),
    ],
    json_file: Annotated[
        Path | None,
        typer.Option(
            "--json", metavar="FILE", help="Write the report to FILE as JSON; - prints it instead of the table."
        ),
    ] = None,
    corpus: KeptCorpus = None,
    split: Split = None,
    legs: Legs = None,
    per_query: Annotated[bool, typer.Option("--per-query", help="Print every query's own result, too.")] = False,
    ablate: Annotated[
        bool,
        typer.Option("--ablate", help="Say what each leg, edge, feature and seed is worth instead of measuring legs."),
    ] = False,
    model: Model = None,
    settings: Set = None,
) -> None:
    """Ingest a queryset's documents, answer its questions by each leg, and print how well and how fast.

    Without --corpus the documents go into a corpus of their own, which is dropped afterwards.
    """
    from pipeline.evaluate.datasets import read_dataset
    from pipeline.evaluate.report import check_json_path, write_document

    _check(folders, legs, per_query=per_query, ablate=ablate)
    to_file = json_file if json_file and str(json_file) != _STDOUT else None
    if to_file:
        check_json_path(to_file)
    for folder in folders:
        read_dataset(folder, split)
    report: Ablation | Report
    with connected(load_settings(flags(model, settings))) as hoprank, shown_progress() as progress:
        if ablate:
            report = hoprank.ablate(*folders, split=split, corpus=corpus, progress=progress)
            as_json = report.to_json()
        else:
            chosen = legs or tuple(Leg)
            report = hoprank.evaluate(folders[0], split=split, corpus=corpus, legs=chosen, progress=progress)
            as_json = report.to_json(per_query=True)
    if to_file:
        write_document(as_json, to_file)
    if json_file and not to_file:
        print_json(as_json)
    else:
        _show(report, per_query=per_query)


def _check(folders: Sequence[Path], legs: Sequence[Leg] | None, *, per_query: bool, ablate: bool) -> None:
    if ablate and (legs or per_query):
        raise ConfigurationError("--ablate measures the fused whole alone.", "Leave out --leg and --per-query.")
    if len(folders) > 1 and not ablate:
        raise ConfigurationError(f"{len(folders)} querysets were given.", "Evaluate one at a time, or with --ablate.")


def _show(report: Ablation | Report, *, per_query: bool) -> None:
    from pipeline.cli.views.ablation import ablation_table
    from pipeline.cli.views.report import breakdown_table, report_table
    from pipeline.evaluate.ablation import Ablation

    if isinstance(report, Ablation):
        show(ablation_table(report))
        return

    show(report_table(report))
    if report.groups:
        show("", breakdown_table(report))
    if per_query:
        show("", _per_query_table(report))


def _per_query_table(report: Report) -> Table:
    """Return a row a query, in the queryset's order: each leg's nDCG@10 in percent."""
    table = frame("nDCG@10 by query")
    table.add_column("query", overflow="fold")
    for leg in report.legs:
        table.add_column(leg.leg, justify="right")
    for rows in zip(*(leg.detail for leg in report.legs), strict=True):
        table.add_row(Text(rows[0].result.query_id), *(f"{100 * row.measures['ndcg@10']:.0f}" for row in rows))
    return table
