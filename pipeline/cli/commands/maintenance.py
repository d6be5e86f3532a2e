"""``hoprank migrate`` and ``hoprank reembed``: a corpus rebuilt beside the one that is searched meanwhile."""

from __future__ import annotations

from typing import Annotated

import typer

from pipeline.cli.connection import client_of, connected
from pipeline.cli.options import Set, Wait, flags
from pipeline.cli.views.progress import shown_progress
from pipeline.settings import load_settings


def migrate(
    corpora: Annotated[
        list[str] | None, typer.Argument(metavar="NAME...", help="The corpora; all of them, if none is named.")
    ] = None,
    settings: Set = None,
    wait: Wait = None,
) -> None:
    """Bring corpora that an older version made to the present layout; vectors are kept, searches go on meanwhile."""
    from pipeline.db.catalogue import SCHEMA_VERSION, list_corpora
    from pipeline.flows import maintain

    chosen = load_settings(flags(None, settings, wait))
    with client_of(chosen) as client, shown_progress() as progress:
        for name in corpora or [corpus.name for corpus in list_corpora(client)]:
            maintain.migrate(client, chosen, name, progress=progress)
            print(f"{name} is of schema version {SCHEMA_VERSION}.")


def reembed(
    corpus: Annotated[str, typer.Argument(metavar="NAME", help="The corpus.")],
    model: Annotated[str, typer.Option("--model", metavar="MODEL", help="A sentence-transformers name, or a folder.")],
    settings: Set = None,
    wait: Wait = None,
) -> None:
    """Embed a corpus with another model, beside the old vectors, and switch when all is there."""
    from pipeline.flows import maintain

    chosen = load_settings(flags(model, settings, wait))
    with connected(chosen) as hoprank, shown_progress() as progress:
        made = maintain.reembed(hoprank.client, hoprank.embedder, chosen, corpus, progress=progress)
    print(f"{corpus} is embedded with {made.fingerprint} now; its chunks are as they were.")
