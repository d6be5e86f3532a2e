"""``hoprank tools``: the graph of MCP tools.

May import: cli, domains.tools.deferred, domains.tools.settings, domains.tools.views, errors.
"""

from __future__ import annotations

import typer

from pipeline.domains.tools.cli import asking, building

app = typer.Typer(no_args_is_help=True)
for part in (building, asking):
    part.register(app)
