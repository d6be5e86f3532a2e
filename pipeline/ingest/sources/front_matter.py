"""YAML front matter: what stands between two lines of three dashes at the top of a Markdown file."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

import yaml

from pipeline.ingest.sources.source import Unreadable

_OPENING = re.compile(r"---[ \t]*\n")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*$", re.MULTILINE)
_KEY = re.compile(r"\s*[^\W_][\w .-]*:(?:\s|\Z)")
_WIKILINKS = re.compile(r"^([^\s#:][^:\n]*):[ \t]+(\[\[.*\]\])[ \t]*$", re.MULTILINE)
_PLAIN = re.compile(r"([^\s#:][^:\n]*):[ \t]+([^\s'\"{\[|>&*!].*)")
_LIMIT = 100_000
_REPAIRS = 20


class FrontMatter(NamedTuple):
    """The mapping that a file begins with, the text after it, and how many lines were cut off."""

    mapping: dict[object, object]
    text: str
    lines: int


def split_front_matter(text: str) -> FrontMatter:
    """Return the front matter of ``text`` apart from the rest; an empty mapping when there is none.

    Wikilinks are kept as written (``up: [[Home]]``), and so is a plain value that YAML trips over
    (``title: Graphs: a primer``). Raises Unreadable, naming the line, for any other mistake.
    """
    opening = _OPENING.match(text)
    closing = _CLOSING.search(text, opening.end()) if opening else None
    if opening is None or closing is None:
        return FrontMatter({}, text, 0)
    source = text[opening.end() : closing.start()]
    mapping = _mapping(source)
    if mapping is None:
        return FrontMatter({}, text, 0)
    cut = min(len(text), closing.end() + 1)
    return FrontMatter(mapping, text[cut:], text.count("\n", 0, cut))


def _mapping(source: str) -> dict[object, object] | None:
    """Return what ``source`` says, or None when it is prose between two rules rather than front matter."""
    if source and not source.isspace() and not _KEY.match(source):
        return None
    if len(source) > _LIMIT:
        raise Unreadable(f"has front matter of {len(source):,} characters", f"Keep it under {_LIMIT:,}.")
    lines = _WIKILINKS.sub(lambda match: f"{match[1]}: {json.dumps(match[2])}", source).split("\n")
    for _ in range(_REPAIRS):
        try:
            found = _load("\n".join(lines))
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            _repair(lines, error)
        else:
            return found if isinstance(found, dict) else {} if found is None else None
    raise Unreadable("has malformed front matter", "Quote its values.")


def _load(source: str) -> object:
    # an alias can make a few lines expand to gigabytes, or a value contain itself
    if "*" in source:
        for event in yaml.parse(source, Loader=yaml.SafeLoader):
            if isinstance(event, yaml.AliasEvent):
                raise Unreadable("has an alias (*name) in its front matter", "Write the value out.")
    return yaml.safe_load(source)


def _repair(lines: list[str], error: Exception) -> None:
    """Quote the plain value on the line that YAML tripped over; raise Unreadable if there is no such value."""
    at, problem = _place(lines, error)
    match = _PLAIN.fullmatch(lines[at])
    if match is None:
        raise Unreadable(
            f"has malformed front matter (line {at + 2}: {problem})", "Quote the value, or close what is open."
        ) from None
    lines[at] = f"{match[1]}: {json.dumps(match[2].rstrip(), ensure_ascii=False)}"


def _place(lines: list[str], error: Exception) -> tuple[int, str]:
    """Return the index of the line at fault and what is wrong with it."""
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        return min(error.problem_mark.line, len(lines) - 1), error.problem or "not YAML"
    for at, line in enumerate(lines):
        try:
            yaml.safe_load(line)
        except ValueError as mistake:
            return at, str(mistake)
        except (yaml.YAMLError, RecursionError):
            continue
    return 0, "nested too deeply" if isinstance(error, RecursionError) else "not YAML"
