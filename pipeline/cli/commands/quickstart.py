"""``hoprank quickstart``: the whole pipeline on an example."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from pipeline.cli.connection import connected
from pipeline.cli.views.evidence import evidence_chain
from pipeline.cli.views.output import show
from pipeline.cli.views.progress import shown_progress
from pipeline.cli.views.summary import summary_table
from pipeline.examples import example_answers, example_corpus, example_queryset, example_questions
from pipeline.settings import load_settings

if TYPE_CHECKING:
    from pipeline.api import HopRank
    from pipeline.evaluate.datasets import Dataset
    from pipeline.retrieve.results import RetrieverResultItem

CORPUS = "quickstart"
"""The corpus that the example is kept in."""

_TOP_K = 8
_INDENT = (0, 0, 0, 6)

_NEXT = """\
Ask something yourself, and see why each passage was found:
    hoprank search --corpus quickstart --explain \\
        "Which trade did the leader of the First Vind Expedition learn as a boy?"
Bring your own documents (Markdown, text, HTML, PDF, DOCX, .rst, .jsonl):
    hoprank ingest ~/notes --corpus notes
    hoprank search "..." --corpus notes
Measure it on questions of your own (queries.jsonl, qrels.tsv):
    hoprank evaluate my-questions --corpus notes
See the server, the settings, and all the rest:
    hoprank db status
    hoprank config show
    hoprank --help
Take the example away again:
    hoprank corpus drop quickstart
In a checkout, put `uv run` before each."""


def quickstart() -> None:
    """Ingest an example, answer questions that take several documents, and measure every leg.

    The first run fetches Neo4j and GDS. The example stays in the corpus "quickstart", where another run finds it.
    """
    from pipeline.evaluate.datasets import read_dataset

    queryset = replace(read_dataset(example_queryset()), name="the example's questions")
    with connected(load_settings()) as hoprank:
        documents, seconds = _ingest(hoprank)
        _answer(hoprank, queryset)
        _measure(hoprank, queryset, documents, seconds)
    _head("What next")
    show(Text(_NEXT))


def _head(title: str) -> None:
    show("", Rule(Text(title, style="bold"), align="left", style="dim"), "")


def _ingest(hoprank: HopRank) -> tuple[int, float]:
    _head("1. Ingest: the archive of some invented islands")
    start = time.perf_counter()
    with shown_progress() as progress:
        summary = hoprank.ingest(example_corpus(), corpus=CORPUS, progress=progress)
    seconds = time.perf_counter() - start
    show(Text(f"Read from {example_corpus()}", overflow="fold"), "", summary_table(summary))
    return summary.documents, seconds


def _answer(hoprank: HopRank, queryset: Dataset) -> None:
    _head("2. Search: questions that no single document answers")
    show("In brackets the known answer. * marks the documents it takes; below each, the path that led to it.")
    needed = {query.text: query.relevant.keys() for query in queryset.queries}
    answers = example_answers()
    for question in example_questions():
        show("", Text(f"{question}  ({answers[question]})", style="bold"))
        show(*_documents(hoprank, question, needed[question]))


def _documents(hoprank: HopRank, question: str, needed: Collection[str]) -> list[RenderableType]:
    """Search, and return the hits as documents, each by its best passage, down to the last that the answer takes."""
    result = hoprank.search(question, corpus=CORPUS, top_k=_TOP_K, explain=True)
    best: dict[str, RetrieverResultItem] = {}
    for item in result.items:
        best.setdefault(item.metadata["document"], item)
    last = max((place for place, key in enumerate(best, 1) if key in needed), default=0)
    views: list[RenderableType] = []
    for place, (key, item) in enumerate(list(best.items())[:last], 1):
        mark = "*" if key in needed else " "
        views.append(Text(f"  {mark} {place} ").append(item.metadata["title"] or key, "bold").append(f"  {key}", "dim"))
        views += _evidence(hoprank, item, question, result.query_vector) if key in needed else []
    missed = ", ".join(sorted(set(needed) - best.keys()))
    return [*views, Text(f"    not among the first {_TOP_K} passages: {missed}")] if missed else views


def _evidence(
    hoprank: HopRank, item: RetrieverResultItem, question: str, vector: Sequence[float]
) -> list[RenderableType]:
    from pipeline.retrieve.excerpt import excerpts

    path = Text(evidence_chain(item.metadata["evidence"]), style="cyan")
    passage = Text(excerpts([item], question, hoprank.embedder, vector=vector)[0])
    return [Padding(path, _INDENT), Padding(passage, _INDENT)]


def _measure(hoprank: HopRank, queryset: Dataset, documents: int, seconds: float) -> None:
    from pipeline.cli.views.report import report_table
    from pipeline.flows.evaluate import measure

    _head(f"3. Evaluate: {len(queryset.queries)} such questions, by every leg and by the fused whole")
    with shown_progress() as progress:
        report = measure(hoprank, queryset, CORPUS, documents, seconds, progress=progress)
    show(report_table(report))
