"""``hoprank corpus``: which corpora there are."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import Annotated

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from pipeline.cli.connection import client_of
from pipeline.cli.options import Json
from pipeline.cli.output import print_json, show, warn
from pipeline.errors import InputError
from pipeline.settings import load_settings

app = typer.Typer(help="Corpora: list them, drop one.", no_args_is_help=True)


@app.command("list")
def list_(as_json: Json = False) -> None:
    """List the corpora, with what each holds and the model it was embedded with."""
    from pipeline.graph.corpora import list_corpora

    with client_of(load_settings()) as client:
        corpora = list_corpora(client)
    if as_json:
        print_json([asdict(corpus) for corpus in corpora])
        return
    if not corpora:
        warn("There is no corpus yet; `hoprank ingest PATH... --corpus NAME` makes one.")
        return
    table = Table(box=box.HORIZONTALS, show_edge=False, pad_edge=False)
    table.add_column("corpus", overflow="fold")
    for heading in ("documents", "chunks", "entities"):
        table.add_column(heading, justify="right")
    table.add_column("model", overflow="fold")
    for corpus in corpora:
        counts = (f"{count:,}" for count in (corpus.documents, corpus.chunks, corpus.entities))
        table.add_row(Text(corpus.name), *counts, Text(corpus.fingerprint))
    show(table)


@app.command()
def drop(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The corpus.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Don't ask.")] = False,
) -> None:
    """Delete a corpus: its documents, chunks, entities and indexes. There is no way back."""
    from pipeline.flows import drop
    from pipeline.graph.corpora import get_corpus

    with client_of(load_settings()) as client:
        corpus = get_corpus(client, name)
        if not yes:
            confirm(f"Drop {name!r} ({corpus.documents:,} documents)?")
        drop(client, name)
    print(f"Dropped {name}.")


def confirm(question: str) -> None:
    """Ask before something is deleted; raises InputError if nobody is there to answer."""
    if not sys.stdin.isatty():
        raise InputError("Nobody is there to be asked whether to drop it.", "Give --yes to drop it without a question.")
    typer.confirm(question, abort=True, err=True)
