"""Tools that the texts of a tool name: what has to run before it, and what may run after it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.domains.tools.records import Tool

_NAME = re.compile(r"[A-Za-z][\w-]*[A-Za-z0-9]")
_COMPOSED = re.compile(r"[_-]|[a-z][A-Z]")
_CLAUSE = re.compile(r"[.;!?\n。；！？]")
_AFTER = re.compile(r"\b(?:then|after\s+(?:this|that|calling|running|using)|next|followed|afterwards|later)\b", re.I)
_INSTEAD = re.compile(r"\b(?:instead|rather\s+than|unlike|similar\s+to|deprecated|not\s+use|alternative)\b", re.I)
_LONGEST = 20_000


@dataclass(frozen=True, slots=True)
class Mention:
    """The tool ``before`` is to run before the tool ``after``, as the clause ``text`` of one of them says."""

    before: str
    after: str
    text: str


def mentions(tools: Sequence[Tool]) -> list[Mention]:
    """Return what tools say of the order between them and other tools of their service, each pair once.

    A name counts if it is composed (``get_user``, ``get-user``, ``getUser``); a plain word may mean anything. A tool
    that a description or a parameter names runs before the tool, unless the clause says that it comes after it. A
    clause that names an alternative says nothing of the order.
    """
    of_service: dict[str, dict[str, str]] = defaultdict(dict)
    for tool in tools:
        if _COMPOSED.search(tool.name):
            of_service[tool.service][tool.name] = tool.id
    found: dict[tuple[str, str], Mention] = {}
    for tool in tools:
        for mention in _of_tool(tool, of_service[tool.service]):
            found.setdefault((mention.before, mention.after), mention)
    return [found[ends] for ends in sorted(found)]


def _of_tool(tool: Tool, ids: Mapping[str, str]) -> Iterator[Mention]:
    for text in _texts(tool):
        for clause in _CLAUSE.split(text[:_LONGEST]):
            named = {ids[name] for name in _NAME.findall(clause) if name in ids} - {tool.id}
            if named and not _INSTEAD.search(clause):
                ends = ((tool.id, other) if _AFTER.search(clause) else (other, tool.id) for other in sorted(named))
                yield from (Mention(before, after, " ".join(clause.split())) for before, after in ends)


def _texts(tool: Tool) -> Iterable[str]:
    """Yield the descriptions of a tool's parameters, then its own."""
    properties: Any = (tool.input or {}).get("properties")
    for value in properties.values() if isinstance(properties, Mapping) else ():
        if isinstance(value, Mapping) and isinstance(value.get("description"), str):
            yield value["description"]
    yield tool.description
