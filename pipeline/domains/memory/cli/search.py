"""``hoprank memory search`` and ``evaluate``: questions in words."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from pipeline.cli.deliver import JsonFile, check_json_file, deliver, deliver_report
from pipeline.cli.options import AsOf, Filters, Keep, KnownAt, Measuring, Run, read_filter
from pipeline.cli.views.output import show, spinner
from pipeline.cli.views.progress import show_progress
from pipeline.domains.memory import deferred as domain
from pipeline.domains.memory.cli.options import Ask, Embedding, Scope
from pipeline.domains.memory.views import recall_view, report_view


def search(
    question: Annotated[str, Argument(metavar="QUESTION")],
    top_k: Annotated[int, Option("--top-k", "-k", "--limit", "-n", min=1, max=1000, help="How many items.")] = 10,
    level: Annotated[
        list[str] | None,
        Option("--level", help="texts, low (entities) or high (themes); repeatable.", show_default="all"),
    ] = None,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    now: Annotated[
        str | None,
        Option("--now", metavar="TIME", help="What “last May” is relative to.", show_default="--as-of, or now"),
    ] = None,
    scope: Scope = None,
    filters: Filters = None,
    explain: Annotated[bool, Option("--explain", help="Say which level found each item, and the themes.")] = False,
    run: Embedding = Ask(),
) -> None:
    """Print the memories and entities that answer a question, best first."""
    conditions, levels = read_filter(filters), domain.recall.levels_named(level)
    with run.opened() as memory, spinner("Searching"):
        found = memory.search(
            question,
            top_k,
            as_of=as_of,
            known_at=known_at,
            now=now or None,
            scope=scope,
            filters=conditions,
            levels=levels,
        )
    none = "Nothing that is remembered fits this."
    deliver(found, run.as_json, lambda it: recall_view(it, explain=explain), none, is_empty=not found.items)


def evaluate(
    folder: Annotated[
        Path, Argument(metavar="DIR", help="A folder with corpus.jsonl (turns), queries.jsonl and qrels.tsv.")
    ],
    keep: Keep = None,
    json_file: JsonFile = None,
    run: Measuring = Run(),
) -> None:
    """Measure which turns and sessions are found: by BM25, by vectors, by both, and by all of HopRank."""
    check_json_file(json_file)
    with run.connect() as hoprank, show_progress() as progress:
        report = domain.evaluation.evaluate(hoprank, folder, name=keep, progress=progress)
    deliver_report(report.to_json(), json_file, lambda: show(report_view(report)))
