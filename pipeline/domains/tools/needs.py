"""Stated needs: the tools that a tool's author says it needs."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from pipeline.domains.tools.records import Need, Tool

_CONDITION = re.compile(r"^\s*(?:if|when|unless|in case)\b[^.]*|\b(?:if|unless|in case)\b[^.]*", re.IGNORECASE)


class Names:
    """The tools of a graph by id, and by name within a service or anywhere."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self._ids = frozenset(tool.id for tool in tools)
        self._by_name: dict[str, list[Tool]] = defaultdict(list)
        for tool in tools:
            self._by_name[tool.name].append(tool)

    def resolve(self, name: str, service: str) -> str | None:
        """Return the id of the tool that ``name`` means in a service: an id, a tool of the service, the only one."""
        if name in self._ids:
            return name
        tools = self._by_name.get(name, [])
        own = [tool for tool in tools if tool.service == service] or tools
        return own[0].id if len(own) == 1 else None


def resolved(tools: Sequence[Tool]) -> Mapping[str, Sequence[tuple[str, Need]]]:
    """Return the needs of each tool by its id, each with the id of the tool that it names, in their order.

    A need that names no tool, or the tool itself, is left out.
    """
    names = Names(tools)
    found: dict[str, list[tuple[str, Need]]] = {}
    for tool in tools:
        ids: dict[str, Need] = {}
        for need in tool.needs:
            other = names.resolve(need.tool, tool.service)
            if other and other != tool.id:
                ids.setdefault(other, need)
        found[tool.id] = list(ids.items())
    return found


def condition(need: Need) -> str:
    """Return the condition under which a need holds, as its reason states it; empty if it always holds."""
    match = _CONDITION.search(need.reason)
    return " ".join(match[0].split()) if match else ""
