"""Options that several commands of a project graph share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pipeline.domains.routing import deferred as domain

if TYPE_CHECKING:
    import pipeline
    from pipeline.domains.routing.graph import ProjectGraph
    from pipeline.domains.routing.schema import RelationType
    from pipeline.domains.routing.settings import RoutingSettings

Graph = Annotated[
    str | None,
    typer.Option("--graph", "-g", metavar="NAME", help="The graph of projects.", show_default="routing.graph"),
]
Project = Annotated[str, typer.Argument(metavar="PROJECT", help="The id of a project.")]
Types = Annotated[
    list[str] | None,
    typer.Option("--type", metavar="TYPE", help="Follow only relations of this type; repeatable.", show_default="all"),
]


def graph_name(hoprank: pipeline.HopRank, name: str | None) -> str:
    """Return the name of the graph that --graph names, by default that of the settings."""
    return name or settings_of(hoprank).graph


def open_graph(hoprank: pipeline.HopRank, name: str | None) -> ProjectGraph:
    """Return the graph of projects of that name, by default that of the settings; raises GraphError if none."""
    return domain.graph.ProjectGraph.open(hoprank, graph_name(hoprank, name), create=False)


def types_of(names: list[str] | None) -> list[RelationType]:
    """Return the types of relations that --type names; raises GraphError."""
    return [domain.schema.RelationType.parse(name) for name in names or ()]


def settings_of(hoprank: pipeline.HopRank) -> RoutingSettings:
    """Return the section ``routing`` of the settings."""
    return hoprank.settings.section(domain.settings.RoutingSettings)
