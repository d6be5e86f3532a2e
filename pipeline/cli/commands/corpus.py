"""``hoprank corpus``: which corpora there are, and what is done to one as a whole."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from pipeline.cli.connection import client_of, connected
from pipeline.cli.options import Json, Model, flags
from pipeline.cli.views.output import print_json, show, warn
from pipeline.cli.views.progress import shown_progress
from pipeline.cli.views.summary import stats_table
from pipeline.errors import InputError
from pipeline.settings import load_settings
from pipeline.transfer.formats import Format

app = typer.Typer(help="Corpora: list, look into, rename, export, import or drop them.", no_args_is_help=True)


@app.command("list")
def list_(as_json: Json = False) -> None:
    """List the corpora, with what each holds and the model it was embedded with."""
    from pipeline.db.catalogue import list_corpora

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


Name = Annotated[str, typer.Argument(metavar="NAME", help="The corpus.")]


@app.command()
def stats(name: Name, as_json: Json = False) -> None:
    """Print what a corpus holds, how it was made and who writes to it."""
    from pipeline.flows import maintain

    with client_of(load_settings()) as client:
        found = maintain.stats(client, name)
    if as_json:
        print_json(found.to_json())
        return
    show(stats_table(found))


@app.command()
def rename(name: Name, other: Annotated[str, typer.Argument(metavar="NEW", help="Its new name.")]) -> None:
    """Give a corpus another name."""
    from pipeline.flows import maintain

    with client_of(load_settings()) as client:
        maintain.rename(client, name, other)
    print(f"Renamed {name} to {other}.")


@app.command()
def export(
    name: Name,
    path: Annotated[Path, typer.Argument(metavar="PATH", help="NAME.jsonl, NAME.graphml, or a folder for Parquet.")],
    form: Annotated[
        Format | None, typer.Option("--format", help="Instead of what the suffix says.", show_default=False)
    ] = None,
    embeddings: Annotated[bool, typer.Option(help="With the vectors; an import makes them again without.")] = True,
) -> None:
    """Write a corpus to JSON lines (everything, for an import), GraphML or Parquet."""
    from pipeline.flows import maintain

    with client_of(load_settings()) as client, shown_progress() as progress:
        maintain.export_corpus(client, name, path, form, embeddings=embeddings, progress=progress)
    print(f"Exported {name} to {path}.")


@app.command("import")
def import_(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="What `corpus export` wrote as JSON lines.")],
    name: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="Another name for it.", show_default=False)
    ] = None,
    model: Model = None,
) -> None:
    """Make a corpus again from an export; the two are equal."""
    from pipeline.flows import maintain

    with connected(load_settings(flags(model))) as hoprank, shown_progress() as progress:
        corpus = maintain.import_corpus(hoprank.client, hoprank.embedder, path, name, progress=progress)
    print(f"Imported {corpus.name}: {corpus.documents:,} documents, {corpus.chunks:,} chunks.")


@app.command()
def drop(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The corpus.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Don't ask.")] = False,
) -> None:
    """Delete a corpus: its documents, chunks, entities and indexes. There is no way back."""
    from pipeline.db.catalogue import get_corpus
    from pipeline.flows.maintain import drop

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
