"""The steps of the quickstart for people."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from pipeline.cli.views.summary import summary_table
from pipeline.edges import evidence_line

if TYPE_CHECKING:
    from pipeline.ingest.update.changes import IngestSummary
    from pipeline.retrieve.results import RetrieverResultItem

_INDENT = (0, 0, 0, 6)  # below the document's title

NEXT_STEPS = Text(Path(__file__).with_name("next_steps.txt").read_text(encoding="utf-8").rstrip())
"""Commands to try next."""


def heading(text: str) -> list[RenderableType]:
    """Return the heading of a step, with a blank line above and below."""
    return ["", Rule(Text(text, style="bold"), align="left", style="dim"), ""]


def ingest_views(folder: Path, summary: IngestSummary) -> list[RenderableType]:
    """Return the folder that was read, and what the ingest did."""
    return [Text(f"Read from {folder}", overflow="fold"), "", summary_table(summary)]


def question_views(question: str, answer: str) -> list[RenderableType]:
    """Return a question with its known answer."""
    return ["", Text(f"{question}  ({answer})", style="bold")]


def document_views(
    hits: Mapping[str, RetrieverResultItem], passages: Mapping[str, str], needed: Collection[str], searched: int
) -> list[RenderableType]:
    """Return the ranked documents down to the last that the answer takes.

    ``hits`` holds each document's best hit, by key, best first; ``passages`` the text to show of those that are
    ``needed`` for the answer; ``searched`` is how many passages were asked for.
    """
    last = max((rank for rank, key in enumerate(hits, 1) if key in needed), default=0)
    views: list[RenderableType] = []
    for rank, (key, hit) in enumerate(list(hits.items())[:last], 1):
        mark = "*" if key in needed else " "
        views.append(Text(f"  {mark} {rank} ").append(hit.metadata["title"] or key, "bold").append(f"  {key}", "dim"))
        if key in needed:
            path = Text(evidence_line(hit.metadata["evidence"]), style="cyan")
            views += [Padding(path, _INDENT), Padding(Text(passages[key]), _INDENT)]
    if missed := ", ".join(sorted(set(needed) - hits.keys())):
        views.append(Text(f"    not among the first {searched} passages: {missed}"))
    return views
