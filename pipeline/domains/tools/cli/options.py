"""Options that several commands of a tool graph share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from pipeline.domains.tools import deferred as domain

if TYPE_CHECKING:
    import pipeline
    from pipeline.domains.tools.settings import ToolSettings

Graph = Annotated[str, typer.Option("--graph", "-g", metavar="NAME", help="The graph.")]
EdgeTypes = Annotated[
    list[str] | None,
    typer.Option("--type", metavar="TYPE", help="Follow only edges of this type; repeatable.", show_default="all"),
]


def settings_of(hoprank: pipeline.HopRank) -> ToolSettings:
    """Return the section ``tools`` of the settings."""
    return hoprank.settings.section(domain.settings.ToolSettings)
