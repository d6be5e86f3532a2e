"""Records of tools: services and tools as read, and what a build counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from pipeline.records import Skipped

JsonSchema: TypeAlias = Mapping[str, Any]
"""A JSON Schema, as parsed from JSON; nothing in it is trusted."""


@dataclass(frozen=True, slots=True)
class Service:
    """An MCP service (server). ``registry`` is the id of the registry that lists it, empty if none does."""

    id: str
    name: str
    description: str = ""
    category: str = ""
    tags: tuple[str, ...] = ()
    registry: str = ""


@dataclass(frozen=True, slots=True)
class Need:
    """A stated dependency of a tool: the name or id of the tool that it needs, for which parameter, and why."""

    tool: str
    parameter: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool of a service. ``id`` is unique in its graph.

    ``input`` and ``output`` are JSON Schemas; None if the tool has none, or none that is valid: ``faults`` then says
    why. ``needs`` are the dependencies that its author states. ``annotations`` are those of MCP (``readOnlyHint`` ...).
    """

    id: str
    name: str
    service: str
    description: str = ""
    title: str = ""
    input: JsonSchema | None = None
    output: JsonSchema | None = None
    needs: tuple[Need, ...] = ()
    annotations: Mapping[str, Any] = field(default_factory=dict)
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Tools as read: registries by id with their names, services, tools, and the files or tools left out.

    ``transitions`` counts how often a tool was called right after another one, by the ids of both.
    """

    registries: Mapping[str, str] = field(default_factory=dict)
    services: Sequence[Service] = ()
    tools: Sequence[Tool] = ()
    skipped: Sequence[Skipped] = ()
    transitions: Mapping[tuple[str, str], int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Built:
    """Counts of a built graph by type of node and of edge, and what was left out.

    ``embedded`` is the number of texts that were embedded, ``written`` that of nodes and edges that were added, changed
    or removed. ``faults`` are the tools' schemas that couldn't be used, as ``tool: reason``.
    """

    nodes: Mapping[str, int]
    edges: Mapping[str, int]
    skipped: Sequence[Skipped]
    faults: Sequence[str]
    embedded: int
    written: int
