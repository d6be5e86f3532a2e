"""Hits for people: what was found, where it is, and why it is here."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from pipeline.cli.views.evidence import evidence_chain
from pipeline.cli.views.output import warn
from pipeline.retrieve.results import RetrieverResult, RetrieverResultItem

_INDENT = (0, 0, 0, 4)
_MOST_FEATURES = 4


def result_views(result: RetrieverResult, passages: Sequence[str], *, explain: bool = False) -> list[RenderableType]:
    """Return all hits, best first, each with what of its passage is to be shown, as views one below the other.

    ``explain`` adds the question's names, the legs and the paths.
    """
    parts: list[RenderableType] = []
    if explain:
        parts += [Text(line, style="dim") for line in _confidence(result.metadata)] + [Text()]
    if not result.items:
        parts += [Text(f"Nothing in the corpus {result.metadata['corpus']} answers this."), Text()]
    for item, passage in zip(result.items, passages, strict=True):
        parts += [_head(item.metadata), Padding(Text(passage), _INDENT), *(_why(item) if explain else []), Text()]
    return parts[:-1]


def _confidence(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield how sure the question's names are, and how far the graph led."""
    names = ", ".join(f"{name} ({sure:.0%} sure)" for name, sure in found["name_confidences"].items())
    yield f"Names in the question: {names or 'none that the corpus knows'}"
    if "graph_share" in found:
        yield f"The graph decides {found['graph_share']:.0%} of the order, vector and full text the rest."


def warn_of_unknown_fields(found: Mapping[str, Any]) -> None:
    """Say on stderr which fields of a filter nothing in the corpus has: a slip of the pen finds nothing, either."""
    unknown = found.get("filter", {}).get("unknown_fields", ())
    if unknown:
        fields = ", ".join(map(repr, unknown))
        warn(f"Nothing in the corpus {found['corpus']} has the field {fields}, which --filter asks for.")


def _head(found: Mapping[str, Any]) -> Text:
    title = " > ".join(part for part in (found["title"] or found["document"], found["heading"]) if part)
    return Text(f"{found['rank']:>2}  ").append(title, style="bold").append(f"  {place(found)}", style="dim")


def place(found: Mapping[str, Any]) -> str:
    """Return where a hit is: its file and lines, or its id and the .jsonl file that holds it."""
    path, key = found["path"] or "", found["document"]
    if path.endswith(".jsonl"):
        return f"{key} in {_short(path)}"
    shown = _short(path) if path else key
    return f"{shown}:{found['line_start']}-{found['line_end']}"


def _short(path: str) -> str:
    # From here if it is below here, as a terminal's links and editors take it.
    try:
        return os.path.relpath(path) if Path(path).is_relative_to(Path.cwd()) else path
    except OSError:
        return path


def _why(item: RetrieverResultItem) -> Sequence[RenderableType]:
    chain = evidence_chain(item.metadata["evidence"])
    features = item.metadata["features"]
    first = sorted((name for name in features if features[name] > 0), key=lambda name: -features[name])[:_MOST_FEATURES]
    why = ", ".join(f"{name.replace('_', ' ')} {features[name]:+.2g}" for name in first)
    return [
        Padding(_legs_table(item.metadata["legs"]), _INDENT),
        *([Padding(Text(f"speaks for it: {why}", style="dim"), _INDENT)] if why else []),
        Padding(Text(f"path: {chain}", style="cyan"), _INDENT),
    ]


def _legs_table(legs: Mapping[str, Mapping[str, Any]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("leg")
    for heading in ("rank", "score", "share"):
        table.add_column(heading, justify="right")
    for leg, found in legs.items():
        # vector and full text speak through hybrid, whose share is theirs
        share = f"{found['share']:.0%}" if found["share"] else ""
        table.add_row(str(leg), f"{found['rank']}", f"{found['score']:.4g}", share)
    return table
