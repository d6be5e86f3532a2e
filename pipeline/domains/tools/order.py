"""Evidence that one tool runs before another: needs that authors state, names in texts, and logs of calls."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from pipeline.domains.tools.catalogue import Need, Tool
from pipeline.files import Guard, Limits, lines
from pipeline.files.validated import validated
from pipeline.grouping import grouped

_CONDITION = re.compile(r"^\s*(?:if|when|unless|in case)\b[^.]*|\b(?:if|unless|in case)\b[^.]*", re.IGNORECASE)


def _resolver(tools: Sequence[Tool]) -> Callable[[str, str], str | None]:
    """Return the function from a name and a service to the id of the tool that they mean, if it is clear.

    It is the tool with the id ``name``, else that of the service with this name, else the only one anywhere.
    """
    ids = frozenset(tool.id for tool in tools)
    by_name = grouped((tool.name, tool) for tool in tools)

    def resolve(name: str, service: str) -> str | None:
        named = by_name.get(name, [])
        own = [tool for tool in named if tool.service == service] or named
        return name if name in ids else own[0].id if len(own) == 1 else None

    return resolve


def resolved(tools: Sequence[Tool]) -> Mapping[str, Sequence[tuple[str, Need]]]:
    """Return the needs of each tool, each with the id of the needed tool, in the author's order.

    Ignored: needs that name no tool, or the tool itself.
    """
    resolve = _resolver(tools)
    found: dict[str, dict[str, Need]] = {tool.id: {} for tool in tools}
    for tool in tools:
        for need in tool.needs:
            if (other := resolve(need.tool, tool.service)) and other != tool.id:
                found[tool.id].setdefault(other, need)
    return {id_: list(needs.items()) for id_, needs in found.items()}


def closure(tool: str, needs: Mapping[str, Collection[str]]) -> list[str]:
    """Return the tools that a tool needs, directly or indirectly, nearest first; a cycle ends where it began.

    A tool without an entry in ``needs`` is unavailable.
    """
    found = {tool: None}
    waiting = [tool]
    for one in waiting:  # breadth first: it grows meanwhile
        new = [other for other in dict.fromkeys(needs.get(one, ())) if other in needs and other not in found]
        found |= dict.fromkeys(new)
        waiting += new
    return waiting[1:]


def condition(need: Need) -> str:
    """Return the condition in the reason of a need ("if ..."); empty if the need is unconditional."""
    match = _CONDITION.search(need.reason)
    return " ".join(match[0].split()) if match else ""


_NAME = re.compile(r"[A-Za-z][\w-]*[A-Za-z0-9]")
_COMPOSED = re.compile(r"[_-]|[a-z][A-Z]")
_CLAUSE = re.compile(r"[.;!?\n。；！？]")
_AFTER = re.compile(r"\b(?:then|after\s+(?:this|that|calling|running|using)|next|followed|afterwards|later)\b", re.I)
_INSTEAD = re.compile(r"\b(?:instead|rather\s+than|unlike|similar\s+to|deprecated|not\s+use|alternative)\b", re.I)
_LONGEST = 20_000
"""Characters of a text that are searched: far more than any description seen, against hostile ones."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A clause ``text`` of one of two tools says that the tool ``before`` runs before the tool ``after``."""

    before: str
    after: str
    text: str


def mentions(tools: Sequence[Tool]) -> list[Mention]:
    """Return the orders that the texts of tools state between tools of one service, each pair once.

    Only compound names count (``get_user``, ``get-user``, ``getUser``): a plain word may mean anything. A tool named in
    the text of another runs before it, unless the clause says "then", "next" or the like. Ignored: clauses that name an
    alternative ("instead", "unlike").
    """
    of_service: dict[str, dict[str, str]] = defaultdict(dict)
    for tool in tools:
        if _COMPOSED.search(tool.name):
            of_service[tool.service][tool.name] = tool.id
    found: dict[tuple[str, str], str] = {}
    for tool, clause in ((one, clause) for one in tools for text in _texts(one) for clause in _CLAUSE.split(text)):
        ids = of_service[tool.service]
        named = {ids[name] for name in _NAME.findall(clause) if name in ids} - {tool.id}
        if named and not _INSTEAD.search(clause):
            for other in named:
                ends = (tool.id, other) if _AFTER.search(clause) else (other, tool.id)
                found.setdefault(ends, " ".join(clause.split()))
    return [Mention(*ends, text) for ends, text in sorted(found.items())]


def _texts(tool: Tool) -> list[str]:
    """Return the descriptions of a tool's parameters, then its own, as far as they are searched."""
    properties: Any = (tool.input or {}).get("properties")
    stated = properties.values() if isinstance(properties, Mapping) else ()
    texts = [value.get("description") for value in stated if isinstance(value, Mapping)]
    return [text[:_LONGEST] for text in (*texts, tool.description) if isinstance(text, str)]


class _Call(BaseModel):
    session: str
    tool: str


def read_calls(path: Path, tools: Sequence[Tool], limits: Limits) -> Mapping[tuple[str, str], int]:
    """Return how often a tool was called right after another one in the same session, by their ids.

    Ignored: calls of tools that aren't among ``tools`` or whose name several have, and a tool called twice in a row.
    Raises SourceError if the file can't be read, or if a line is of another form.
    """
    guard = Guard(fix='A line is {"session": "...", "tool": "a name or id"}, in the order of the calls.', limits=limits)
    calls = [validated(_Call, line.json(), line.place, guard) for line in lines(path, guard)]
    if not calls:
        raise guard.fault(path, "is empty")
    resolve = _resolver(tools)
    last: dict[str, str] = {}
    counts: Counter[tuple[str, str]] = Counter()
    for call in calls:
        if tool := resolve(call.tool, ""):
            before = last.get(call.session, tool)
            if before != tool:
                counts[before, tool] += 1
            last[call.session] = tool
    return counts
