"""Hits for people: each with its place, its passage and, when explained, why it was found and by which path."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from pipeline.cli.views.output import warn
from pipeline.edges import evidence_line
from pipeline.retrieve.results import unknown
from pipeline.text.prose import counted, one_line

if TYPE_CHECKING:
    from pipeline.retrieve.results import RetrieverResult, RetrieverResultItem

_NEAR = 2.25  # deviations beyond chance: above what a vault needs to know about a message
_INDENT = (0, 0, 0, 4)  # below the title, after the number
# How much is shown; chosen by hand to fit a screen.
_MOST_PROJECTS = 5
_LONGEST_REASON = 90
_ENGINES = {"gds": "GDS", "local": "The local engine"}


def result_views(result: RetrieverResult, passages: Sequence[str], *, explain: bool = False) -> list[RenderableType]:
    """Return the hits, best first, as views to print one below the other.

    ``passages`` holds the text to show of each hit. ``explain`` adds the names in the question, the legs and the paths,
    and to a routed search all reasons for its projects.
    """
    parts: list[RenderableType] = []
    if "routing" in result.metadata:
        parts += [Text(line, style="dim") for line in _route(result.metadata["routing"], explain=explain)] + [Text()]
    elif explain:
        parts += [Text(line, style="dim") for line in _confidence(result.metadata)] + [Text()]
    if not result.items:
        where = f"the corpus {result.metadata['corpus']}" if "corpus" in result.metadata else "these projects"
        parts += [Text(f"Nothing in {where} answers this."), Text()]
    for item, passage in zip(result.items, passages, strict=True):
        reasons = _reasons(item) if explain else []
        parts += [_head(item.metadata), Padding(Text(passage), _INDENT), *reasons, Text()]
    return parts[:-1]


def warn_of_search(metadata: Mapping[str, Any], known: float) -> None:
    """Warn of a corpus without a hit of the relevance ``known``, and of unknown fields in the filter.

    That of a long question the beginning was used has been logged already.
    """
    for warning in unknown(metadata, known):
        warn(warning)
    warn_of_unknown_fields(metadata)


def warn_of_unknown_fields(metadata: Mapping[str, Any]) -> None:
    """Warn of fields in the filter that no document of the corpus has: a misspelt field finds nothing either."""
    unknown = metadata.get("filter", {}).get("unknown_fields", ())
    if unknown:
        fields = ", ".join(map(repr, unknown))
        where = f"the corpus {metadata['corpus']}" if "corpus" in metadata else "the searched projects"
        warn(f"Nothing in {where} has the field {fields}, which --filter asks for.")


def place(metadata: Mapping[str, Any]) -> str:
    """Return the place of a hit: its file and lines, or its id and the .jsonl file or table that holds it."""
    path, key = metadata["path"] or "", metadata["document"]
    if path.endswith((".jsonl", ".parquet")):
        return f"{key} in {_short(path)}"
    shown = _short(path) if path else key
    return f"{shown}:{metadata['line_start']}-{metadata['line_end']}"


def _confidence(metadata: Mapping[str, Any]) -> Iterator[str]:
    confidences = metadata["name_confidences"].items()
    names = ", ".join(f"{name} ({confidence:.0%} sure)" for name, confidence in confidences)
    yield f"Names in the question: {names or 'none that the corpus knows'}"
    if metadata.get("words_alone"):
        yield "The model doesn't know most of the question's words: it is ranked by full text alone, without vectors."
    if metadata["engine"]:
        yield f"{_ENGINES[metadata['engine']]} walked."
    if "graph_share" in metadata:
        yield f"The graph decides {metadata['graph_share']:.0%} of the order, vector and full text the rest."


def _route(routing: Mapping[str, Any], *, explain: bool) -> Iterator[str]:
    if routing["from_folder"]:
        yield f"Asked from {routing['from']}, whose path holds the working directory; --from names another, or none."
    searched = _first([f"{one['project']} ({one['share']:.0%})" for one in routing["searched"]])
    passed_over = routing["passed_over"]
    yield f"Searched {searched}" + (f"; passed over {_others(len(passed_over))}." if passed_over else ".")
    for one in routing["searched"][:_MOST_PROJECTS]:
        reasons = [reason.removeprefix(f"{one['project']} ") for reason in one["reasons"]]
        if explain:
            yield f"{one['project']}: {one_line('; '.join(reasons))}"
        elif one["relation"]:
            yield f"{one['project']}: {one_line(reasons[0], _LONGEST_REASON)}"
    if routing["widened"]:
        yield f"Searched wider, because {routing['widened']}."
    unindexed = routing["unindexed"]
    for reason in dict.fromkeys(unindexed.values()):
        yield f"Not searched: {_first([name for name in unindexed if unindexed[name] == reason])}, for {reason}."


def _first(names: Sequence[str]) -> str:
    more = len(names) - _MOST_PROJECTS
    return ", ".join(names[:_MOST_PROJECTS]) + (f" and {_others(more)}" if more > 0 else "")


def _others(count: int) -> str:
    return counted(count, "other project")


def _head(metadata: Mapping[str, Any]) -> Text:
    title = " > ".join(part for part in (metadata["title"] or metadata["document"], metadata["heading"]) if part)
    project = f"{metadata['project']}  " if "project" in metadata else ""
    head = Text(f"{metadata['rank']:>2}  ").append(project, style="cyan").append(title, style="bold")
    head.append(f"  {place(metadata)}", style="dim")
    return head if metadata["relevance"] is None else head.append(f"  {metadata['relevance']:.0%}", style="dim")


def _short(path: str) -> str:
    # Relative to the current folder if it is below it, so that terminals and editors can open it.
    try:
        return os.path.relpath(path) if Path(path).is_relative_to(Path.cwd()) else path
    except OSError:
        return path


def _reasons(item: RetrieverResultItem) -> Sequence[RenderableType]:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("leg")
    for heading in ("rank", "score"):
        table.add_column(heading, justify="right")
    for name, leg in item.metadata["legs"].items():
        table.add_row(str(name), f"{leg['rank']}", f"{leg['score']:.4g}")
    speaking = speaks_for(item.metadata["reasons"])
    return [
        Padding(table, _INDENT),
        *([Padding(Text(f"speaks for it: {speaking}", style="dim"), _INDENT)] if speaking else []),
        Padding(Text(f"path: {evidence_line(item.metadata['evidence'])}", style="cyan"), _INDENT),
        *(Padding(Text(f"{name}: {sentence}", style="dim"), _INDENT) for name, sentence in _leading(item)),
    ]


def _leading(item: RetrieverResultItem) -> list[tuple[str, str]]:
    """Return the sentences of other passages on the path to a hit that lead on, each with its passage's name."""
    steps = item.metadata["evidence"][:-1]
    return [(step["name"], step["sentence"]) for step in steps if step["sentence"]]


def speaks_for(reasons: Mapping[str, Any]) -> str:
    """Return what speaks for a hit: the names and words of the question in it, and its meaning."""
    parts = [f"{kind} {', '.join(reasons[kind])}" for kind in ("names", "words") if reasons[kind]]
    near = reasons["meaning"] is not None and reasons["meaning"] >= _NEAR
    return "; ".join([*parts, *(["near in meaning"] if near else [])])
