"""YAML front matter: the metadata between two lines of three dashes at the top of a Markdown file."""

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
_REPAIRS = 20
_LIMIT = 100_000
"""Longest front matter, in characters: PyYAML reads a megabyte in ten seconds."""


class FrontMatter(NamedTuple):
    """The mapping at the top of a file, the text after it, and the number of lines that it takes."""

    mapping: dict[object, object]
    text: str
    lines: int


def split_front_matter(text: str) -> FrontMatter:
    """Split ``text`` into front matter and the rest; the mapping is empty if there is no front matter.

    Wikilinks stay as written (``up: [[Home]]``), and so do plain values that are invalid YAML
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
    """Return the mapping in ``source``, or None if it is prose between two rules and not front matter."""
    if source and not source.isspace() and not _KEY.match(source):
        return None
    if len(source) > _LIMIT:
        raise Unreadable(f"has front matter of {len(source):,} characters", f"Keep it under {_LIMIT:,}.")
    lines = _WIKILINKS.sub(lambda match: f"{match[1]}: {json.dumps(match[2])}", source).split("\n")
    for _ in range(_REPAIRS):
        try:
            content = _load("\n".join(lines))
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            _repair(lines, error)
        else:
            return content if isinstance(content, dict) else {} if content is None else None
    raise Unreadable("has malformed front matter", "Quote its values.")


def _load(source: str) -> object:
    # with aliases a few lines can expand to gigabytes, or a value can contain itself
    if "*" in source:
        for event in yaml.parse(source, Loader=yaml.SafeLoader):
            if isinstance(event, yaml.AliasEvent):
                raise Unreadable("has an alias (*name) in its front matter", "Write the value out.")
    return yaml.safe_load(source)


def _repair(lines: list[str], error: Exception) -> None:
    """Quote the plain value on the line of the error; raise Unreadable if the line has no such value."""
    at, problem = _place(lines, error)
    match = _PLAIN.fullmatch(lines[at])
    if match is None:
        raise Unreadable(
            f"has malformed front matter (line {at + 2}: {problem})", "Quote the value, or close what is open."
        ) from None
    lines[at] = f"{match[1]}: {json.dumps(match[2].rstrip(), ensure_ascii=False)}"


def _place(lines: list[str], error: Exception) -> tuple[int, str]:
    """Return the index of the faulty line and the problem."""
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
