"""``hoprank quickstart``: the whole pipeline on an example, in a minute."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from pipeline.cli.bars import shown_progress
from pipeline.cli.chain import evidence_chain
from pipeline.cli.connection import connected
from pipeline.cli.hits import beginning
from pipeline.cli.output import stdout
from pipeline.cli.summary import summary_table
from pipeline.examples import example_corpus, example_queryset, example_questions
from pipeline.settings import load_settings

if TYPE_CHECKING:
    from pipeline.api import HopRank
    from pipeline.evaluate.querysets import QuerySet
    from pipeline.evaluate.report import Report
    from pipeline.ingest.summary import IngestSummary
    from pipeline.retrieve.results import RetrieverResult

CORPUS = "quickstart"
"""The corpus that the example is kept in."""

_TOP_K = 5
_INDENT = (0, 0, 0, 6)

_NEXT = """\
Ask it something yourself:
    hoprank search "Who was the lantern worm named after?" --corpus quickstart --explain
Bring your own documents (Markdown, text, reStructuredText, HTML, PDF, DOCX, .jsonl):
    hoprank ingest ~/notes --corpus notes
    hoprank search "..." --corpus notes
Measure it on questions of your own (corpus.jsonl, queries.jsonl, qrels.tsv in a folder):
    hoprank evaluate my-queryset
See the server, the settings, and everything else:
    hoprank db status
    hoprank config show
    hoprank --help
In a checkout, put `uv run` before each. `hoprank corpus drop quickstart` takes the example away again."""


def quickstart() -> None:
    """Ingest an example, answer questions that no single document answers, and measure every leg.

    The first run fetches Neo4j and GDS. The example stays in the corpus "quickstart"; another run finds it there.
    """
    from pipeline.evaluate.querysets import read_queryset

    console = stdout()
    queryset = read_queryset(example_queryset())
    with connected(load_settings()) as hoprank:
        _head(console, "Ingest: the archive of some invented islands")
        summary = _ingest(hoprank)
        console.print(summary_table(summary))
        _head(console, "Search: questions that no single document answers")
        _answer(console, hoprank, queryset)
        _head(console, f"Evaluate: {len(queryset.queries)} such questions, every leg")
        _print_report(console, _measure(hoprank, queryset, summary))
    _head(console, "What next")
    console.print(Text(_NEXT))


def _head(console: Console, title: str) -> None:
    console.print()
    console.rule(Text(title, style="bold"), align="left", style="dim")
    console.print()


def _ingest(hoprank: HopRank) -> IngestSummary:
    with shown_progress() as progress:
        return hoprank.ingest(example_corpus(), corpus=CORPUS, progress=progress)


def _measure(hoprank: HopRank, queryset: QuerySet, summary: IngestSummary) -> Report:
    from pipeline.flows import measure

    seconds = sum(summary.seconds.values())
    with shown_progress() as progress:
        return measure(hoprank, queryset, CORPUS, summary.documents, seconds, progress=progress)


def _print_report(console: Console, report: Report) -> None:
    from pipeline.evaluate.table import report_table

    console.print(report_table(report))


def _answer(console: Console, hoprank: HopRank, queryset: QuerySet) -> None:
    needed = {query.text: query.relevant.keys() for query in queryset.queries}
    console.print(Text("* marks the documents that the answer takes; below each, the path that led to it."))
    for question in example_questions():
        result = hoprank.search(question, corpus=CORPUS, top_k=_TOP_K, explain=True)
        console.print()
        console.print(Text(question, style="bold"))
        _print_hits(console, result, frozenset(needed.get(question, ())))


def _print_hits(console: Console, result: RetrieverResult, needed: frozenset[str]) -> None:
    shown: set[str] = set()
    for item in result.items:
        found = item.metadata
        mark = "*" if found["document"] in needed else " "
        head = Text(f"  {mark} {found['rank']} ").append(found["title"] or found["document"], style="bold")
        console.print(head.append(f"  {found['document']}", style="dim"))
        if mark == "*" and found["document"] not in shown:
            shown.add(found["document"])
            console.print(Padding(Text(evidence_chain(found["evidence"]), style="cyan"), _INDENT))
            console.print(Padding(Text(beginning(item.content)), _INDENT))
