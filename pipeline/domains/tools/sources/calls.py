"""Read a log of calls: which tool was called after which, in each session."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from pipeline.domains.tools.needs import Names
from pipeline.domains.tools.records import Tool
from pipeline.errors import SourceError
from pipeline.ingest.sources.decode import decode
from pipeline.ingest.sources.source import Unreadable, content_of
from pipeline.limits import Limits

_FORMAT = 'A line is {"session": "...", "tool": "a name or id"}, in the order of the calls.'


def read_calls(path: Path, tools: Sequence[Tool], limits: Limits) -> Mapping[tuple[str, str], int]:
    """Return how often a tool was called right after another one in the same session, by their ids.

    Calls of tools that aren't among ``tools``, or whose name several of them have, are passed over; a tool that is
    called again right after itself follows itself not. Raises SourceError if the file can't be read, or if a line is of
    another form.
    """
    names = Names(tools)
    last: dict[str, str] = {}
    counts: Counter[tuple[str, str]] = Counter()
    for number, line in enumerate(_lines(path, limits), 1):
        if not line.strip():
            continue
        session, name = _call(line, f"{path}, line {number}")
        tool = names.resolve(name, "")
        if tool is None:
            continue
        before = last.get(session, tool)
        if before != tool:
            counts[before, tool] += 1
        last[session] = tool
    return counts


def _lines(path: Path, limits: Limits) -> list[str]:
    try:
        return decode(content_of(path, limits)).split("\n")
    except Unreadable as error:
        raise SourceError(f"{path} {error.message}.", error.fix) from None


def _call(line: str, place: str) -> tuple[str, str]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        raise SourceError(f"{place} is no JSON.", _FORMAT) from None
    session, tool = (value.get(name) if isinstance(value, dict) else None for name in ("session", "tool"))
    if not isinstance(session, str) or not isinstance(tool, str):
        raise SourceError(f"{place} has no session or no tool.", _FORMAT)
    return session, tool
