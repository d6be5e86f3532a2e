"""``hoprank route``: the graph of projects.

May import: cli, domains.routing.deferred, domains.routing.graph, domains.routing.learn, domains.routing.records,
domains.routing.schema, domains.routing.settings, domains.routing.sync, domains.routing.views, errors.
"""

from __future__ import annotations

import typer

from pipeline.domains.routing.cli import graph, learning, measuring, syncing

app = typer.Typer(no_args_is_help=True)
for part in (syncing, graph, learning, measuring):
    part.register(app)
