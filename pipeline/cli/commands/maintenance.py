"""``hoprank migrate`` and ``hoprank reembed``: rebuild a corpus while the old one is searched."""

from __future__ import annotations

from typing import Annotated

import typer

from pipeline.cli.connection import connected, connected_client
from pipeline.cli.deferred import catalogue, maintain
from pipeline.cli.options import Set, Wait, read_settings
from pipeline.cli.views.progress import show_progress


def migrate(
    corpora: Annotated[
        list[str] | None, typer.Argument(metavar="NAME...", help="The corpora; all of them, if none is named.")
    ] = None,
    settings: Set = None,
    wait: Wait = None,
) -> None:
    """Bring corpora that an older version made to the present layout; vectors are kept, searches go on meanwhile."""
    chosen = read_settings(None, settings, wait)
    with connected_client(chosen) as client, show_progress() as progress:
        for name in corpora or [corpus.name for corpus in catalogue.list_corpora(client)]:
            maintain.migrate(client, chosen, name, progress=progress)
            print(f"{name} is of schema version {catalogue.SCHEMA_VERSION}.")


def reembed(
    corpus: Annotated[str, typer.Argument(metavar="NAME", help="The corpus.")],
    model: Annotated[str, typer.Option("--model", metavar="MODEL", help="A sentence-transformers name, or a folder.")],
    settings: Set = None,
    wait: Wait = None,
) -> None:
    """Embed a corpus with another model, beside the old vectors, and switch when all is there."""
    chosen = read_settings(model, settings, wait)
    with connected(chosen) as hoprank, show_progress() as progress:
        made = maintain.reembed(hoprank.client, hoprank.embedder, chosen, corpus, progress=progress)
    print(f"{corpus} is embedded with {made.fingerprint} now; its chunks are as they were.")
