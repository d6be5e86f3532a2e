"""``hoprank quickstart`` and ``demo``: the whole pipeline on an example, in the terminal and on the page."""

from __future__ import annotations

import os
import sys
import threading
import time
import webbrowser
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from typer import Option

from pipeline.cli.connection import connected
from pipeline.cli.deferred import access, datasets, evaluate, excerpt, listening, questions, service
from pipeline.cli.options import read_settings
from pipeline.cli.views.evaluation import report_table
from pipeline.cli.views.output import show, warn
from pipeline.cli.views.progress import show_progress
from pipeline.cli.views.quickstart import NEXT_STEPS, document_views, heading, ingest_views, question_views
from pipeline.examples import example_answers, example_corpus, example_queryset, example_questions

if TYPE_CHECKING:
    from pipeline import HopRank
    from pipeline.evaluate.datasets import Dataset
    from pipeline.ingest.update.changes import IngestSummary
    from pipeline.retrieve.results import RetrieverResultItem

CORPUS = "quickstart"
"""The corpus that keeps the example."""

_TOP_K = 8
"""Passages a question: the k of perfect@8, which the last step prints. Chosen by hand; not measured."""


def quickstart() -> None:
    """Ingest an example, answer questions that take several documents, and measure every leg.

    The first run fetches Neo4j and GDS. The example stays in the corpus "quickstart", where another run finds it.
    """
    queryset = replace(datasets.read_dataset(example_queryset()), name="the example's questions")
    with connected(read_settings()) as hoprank:
        show(*heading("1. Ingest: the archive of some invented islands"))
        start = time.perf_counter()
        summary = _ingest(hoprank)
        seconds = time.perf_counter() - start
        show(*ingest_views(example_corpus(), summary))
        show(*heading("2. Search: questions that no single document answers"))
        show("In brackets the known answer. * marks the documents it takes; below each, the path that led to it.")
        _answer(hoprank, queryset)
        show(*heading(f"3. Evaluate: {len(queryset.queries)} such questions, by every leg and by the fused whole"))
        show("Nothing was learned from these questions; but every change of HopRank is tested on them.")
        with show_progress() as progress:
            report = evaluate.measure(hoprank, queryset, CORPUS, summary.documents, seconds, progress=progress)
        show(report_table(report))
    show(*heading("What next"))
    show(NEXT_STEPS)


def demo(
    browser: Annotated[bool, Option("--browser/--no-browser", help="Open the page in the browser.")] = True,
    port: Annotated[int, Option("--port", "-p", min=0, max=65535, help="The port; 0 takes a free one.")] = 0,
) -> None:
    """Ingest the quickstart's example, and open the page to explore it in the browser.

    It is for this machine alone. Ctrl-C ends it; the example stays in the corpus "quickstart".
    """
    settings = read_settings()
    with connected(settings) as hoprank, listening.listen("127.0.0.1", port) as sock:
        _ingest(hoprank)
        url = f"{access.url_of('127.0.0.1', sock.getsockname()[1])}/#/search?corpus={CORPUS}"
        service.serve(hoprank, access.Access(settings.serve), sock, lambda: _invite(url, browser))


def _invite(url: str, browser: bool) -> None:
    warn(f"Explore it at {url} (Ctrl-C ends it).")
    if browser and (sys.platform != "linux" or os.environ.keys() & {"DISPLAY", "WAYLAND_DISPLAY"}):
        # In a thread, because it may take a while; and never one in the terminal, which it would take over.
        threading.Thread(target=webbrowser.open, args=[url], daemon=True).start()


def _ingest(hoprank: HopRank) -> IngestSummary:
    with show_progress() as progress:
        summary = hoprank.ingest(example_corpus(), corpus=CORPUS, progress=progress)
    questions.keep_examples(hoprank.client, CORPUS, example_questions())
    return summary


def _answer(hoprank: HopRank, queryset: Dataset) -> None:
    needed = {query.text: query.relevant.keys() for query in queryset.queries}
    answers = example_answers()
    for question in example_questions():
        show(*question_views(question, answers[question]))
        result = hoprank.search(question, corpus=CORPUS, top_k=_TOP_K, explain=True)
        hits: dict[str, RetrieverResultItem] = {}
        for item in result.items:
            hits.setdefault(item.metadata["document"], item)
        passages = {
            key: excerpt.excerpts([item], question, hoprank.embedder, vector=result.query_vector)[0]
            for key, item in hits.items()
            if key in needed[question]
        }
        show(*document_views(hits, passages, needed[question], _TOP_K))
