"""``hoprank vault``: vaults of linked notes.

May import: cli, domains.vault.deferred, domains.vault.records, domains.vault.sync, domains.vault.vault,
domains.vault.views, errors, ingest.
"""

from __future__ import annotations

import typer

from pipeline.domains.vault.cli import acting, maps, reading, syncing, upkeep

app = typer.Typer(no_args_is_help=True)
for part in (syncing, reading, acting, maps, upkeep):
    part.register(app)
