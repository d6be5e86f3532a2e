"""``hoprank memory``: texts, entities and facts of a memory.

May import: cli, domains.memory.deferred, domains.memory.facts, domains.memory.memory, domains.memory.records,
domains.memory.views, knowledge.
"""

from __future__ import annotations

import typer

from pipeline.domains.memory.cli import asking, facts, measuring, merging, relating, remembering

app = typer.Typer(no_args_is_help=True)
for part in (remembering, asking, relating, facts, measuring):
    part.register(app)
app.add_typer(merging.app, name="dedupe")
