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

Graph = Annotated[str, typer.Option("--graph", "-g", metavar="NAME", help="The graph of projects.")]
Project = Annotated[str, typer.Argument(metavar="PROJECT", help="The id of a project.")]
Types = Annotated[
    list[str] | None,
    typer.Option("--type", metavar="TYPE", help="Follow only relations of this type; repeatable.", show_default="all"),
]


def open_graph(hoprank: pipeline.HopRank, name: str) -> ProjectGraph:
    """Return the graph of projects of that name; raises GraphError if there is none."""
    return domain.graph.ProjectGraph.open(hoprank, name, create=False)


def types_of(names: list[str] | None) -> list[RelationType]:
    """Return the types of relations that --type names; raises GraphError."""
    return [domain.schema.RelationType.parse(name) for name in names or ()]


def settings_of(hoprank: pipeline.HopRank) -> RoutingSettings:
    """Return the section ``routing`` of the settings."""
    return hoprank.settings.section(domain.settings.RoutingSettings)
