"""The tree of commands."""

from __future__ import annotations

import logging
from importlib.metadata import version
from typing import Annotated

import typer

from pipeline.cli.commands.calibrate import calibrate
from pipeline.cli.commands.compare import compare
from pipeline.cli.commands.config import app as config
from pipeline.cli.commands.context import context
from pipeline.cli.commands.corpus import app as corpus
from pipeline.cli.commands.db import app as db
from pipeline.cli.commands.evaluate import evaluate
from pipeline.cli.commands.graph import app as graph
from pipeline.cli.commands.help import help_
from pipeline.cli.commands.ingest import ingest, remove
from pipeline.cli.commands.maintenance import migrate, reembed
from pipeline.cli.commands.quickstart import quickstart
from pipeline.cli.commands.search import search
from pipeline.cli.commands.skills import app as skills
from pipeline.cli.commands.sync import sync
from pipeline.cli.commands.tune import tune
from pipeline.cli.errors import Edge

app = typer.Typer(
    cls=Edge,
    help="Graph RAG on Neo4j without an LLM: ingest documents, search them, measure the search.\n\n"
    "The first command that needs it starts a Neo4j of its own; NEO4J_URI makes it use yours. Begin with"
    " `hoprank quickstart`.",
    epilog="Exit codes: 0 success, also without hits; 2 wrong input or configuration; 1 a fault; 130 Ctrl-C.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(version("hoprank"))
        raise typer.Exit


@app.callback()
def root(
    verbose: Annotated[
        bool, typer.Option("--verbose", envvar="HOPRANK_DEBUG", help="Show the traceback of an error.")
    ] = False,
    show_version: Annotated[  # noqa: ARG001 - its callback prints it
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Take what is asked of all commands; ``verbose`` is read at the edge too."""
    # The driver logs each connection that breaks as an error; what comes of it is said at the edge.
    logging.getLogger("neo4j.io").setLevel(logging.NOTSET if verbose else logging.CRITICAL)


for command in (
    quickstart,
    ingest,
    sync,
    remove,
    search,
    context,
    evaluate,
    compare,
    tune,
    calibrate,
    reembed,
    migrate,
):
    app.command()(command)
app.command("help")(help_)
for name, group in {"corpus": corpus, "graph": graph, "skills": skills, "db": db, "config": config}.items():
    app.add_typer(group, name=name)
