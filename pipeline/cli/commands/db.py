"""``hoprank db``: the embedded Neo4j server."""

from __future__ import annotations

import json
import sys
import time
from collections import deque
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from pipeline.cli.connection import connected_client
from pipeline.cli.deferred import backups, catalogue, embedded
from pipeline.cli.deferred import settings as all_settings
from pipeline.cli.options import Json, Yes, confirm, read_settings
from pipeline.cli.views.output import say
from pipeline.cli.views.progress import show_startup, status_lines
from pipeline.errors import ConfigurationError, InputError

app = typer.Typer(
    help="The embedded Neo4j server: start it, stop it, see how it is.\n\n"
    "Other commands start it when they need it, and it stops by itself after a while without a connection, so these"
    " commands are seldom needed. With NEO4J_URI set, that server is used instead and there is nothing to start.",
    no_args_is_help=True,
)

_FOLLOW_SECONDS = 0.5
"""Between two looks at a log; chosen by hand: a reader sees no delay, and a look costs next to nothing."""


@app.command()
def start() -> None:
    """Start the server unless it runs, and print its URI."""
    options = embedded.ServerOptions.of(_own_server("start"))
    with show_startup() as report:
        address = embedded.ensure_running(options, report)
    print(address.uri)


@app.command()
def stop() -> None:
    """Close the databases and stop the server; whoever is connected is cut off."""
    stopped = embedded.stop(embedded.ServerOptions.of(_own_server("stop")))
    print("Stopped." if stopped else "It isn't running.")


@app.command()
def aot() -> None:
    """Record Java's ahead-of-time cache: the server then starts in half the time. Takes a minute or two, once.

    A server on an empty database of its own ingests and searches meanwhile; yours is left alone.
    """
    options = embedded.ServerOptions.of(_own_server("train"))
    with show_startup() as report:
        cache = embedded.train(options, report)
    say(f"Servers start with {cache}.")


@app.command()
def backup(
    file: Annotated[Path, Argument(metavar="FILE", help="The file to write.")],
    force: Annotated[bool, Option("--force", help="Replace FILE if it is there.")] = False,
    as_json: Json = False,
) -> None:
    """Write a backup of all corpora and graphs to FILE, which appears complete or not at all.

    A server that runs is closed for the seconds of the dump, but not while somebody writes to a corpus.
    """
    settings = _own_server("back up", _BY_NEO4J)
    if file.exists() and not force:
        raise InputError(f"{file} is there already.", "Name another file, or give --force to replace it.")
    _check_idle(settings)
    with show_startup() as report:
        made = backups.back_up(embedded.ServerOptions.of(settings), file, report)
    _print_backup(file, asdict(made), as_json)


@app.command()
def restore(
    file: Annotated[Path, Argument(metavar="FILE", help="A file that `hoprank db backup` wrote.")],
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Replace all corpora and graphs by those of a backup.

    An interruption leaves the old ones or the new ones, whole. The password stays that of the home.
    """
    settings = _own_server("restore", _BY_NEO4J)
    backups.read_backup(file)
    confirm(f"Replace all corpora and graphs in {settings.data_home} by those of {file}?", yes)
    _check_idle(settings)
    with show_startup() as report:
        made = backups.restore(embedded.ServerOptions.of(settings), file, report)
    _print_backup(file, asdict(made), as_json)


@app.command()
def status(as_json: Json = False) -> None:
    """Say whether the server runs, where, since when, and how much disk its data takes."""
    settings = read_settings()
    server = embedded.status(embedded.ServerOptions.of(settings))
    if as_json:
        print(json.dumps(asdict(server) | {"neo4j_uri": settings.neo4j.uri}, default=str))
        return
    if settings.neo4j.uri:
        say(f"NEO4J_URI is set, so commands use {settings.neo4j.uri} and not this server.\n")
    print(*status_lines(server), sep="\n")


@app.command()
def logs(
    lines: Annotated[int, Option("--lines", "--limit", "-n", min=0, help="How many of the last lines to print.")] = 50,
    follow: Annotated[bool, Option("--follow", "-f", help="Go on printing as lines come; Ctrl-C ends it.")] = False,
    debug: Annotated[bool, Option("--debug", help="Neo4j's own debug log instead of the server's.")] = False,
) -> None:
    """Print the end of the server's log."""
    log = embedded.log_path(embedded.ServerOptions.of(read_settings()))
    log = log.with_name("debug.log") if debug else log
    if not log.exists():
        print(f"There is no log yet at {log}: the server has never been started.", file=sys.stderr)
        return
    with log.open(encoding="utf-8", errors="replace") as stream:
        print(*deque(stream, maxlen=lines), sep="", end="")
        position = stream.tell()
    while follow:
        time.sleep(_FOLLOW_SECONDS)
        if not log.exists():  # between two starts
            position = 0
            continue
        with log.open("rb") as tail:
            # A new start begins a new file.
            tail.seek(position if log.stat().st_size >= position else 0)
            print(tail.read().decode("utf-8", "replace"), end="", flush=True)
            position = tail.tell()


@app.command()
def uri(as_json: Json = False) -> None:
    """Print the URI that commands connect to, starting the server if need be.

    --json adds the user name, the database and the file that holds the password.
    """
    settings = read_settings()
    if settings.neo4j.uri:
        login = {"uri": settings.neo4j.uri, "username": settings.neo4j.username, "password_file": None}
        database = settings.neo4j.database
    else:
        options = embedded.ServerOptions.of(settings)
        with show_startup() as report:
            address = embedded.ensure_running(options, report)
        password_file = str(embedded.status(options).password_file)
        login = {"uri": address.uri, "username": address.username, "password_file": password_file}
        database = address.database
    print(json.dumps(login | {"database": database}) if as_json else login["uri"])


def _check_idle(settings: all_settings.Settings) -> None:
    if embedded.status(embedded.ServerOptions.of(settings)).running:
        with connected_client(settings) as client:
            catalogue.check_idle(client)


def _print_backup(file: Path, made: dict[str, Any], as_json: bool) -> None:
    facts = {"file": str(file), "bytes": file.stat().st_size} | made
    said = "{file}: {bytes:,} bytes, made at {made} by HopRank {hoprank} with Neo4j {neo4j}."
    print(json.dumps(facts) if as_json else said.format(**facts))


_OWN_MEANS = "Unset it to use the embedded server; a server of your own is started and stopped by its own means."
_BY_NEO4J = (
    "Use that server's own means: `neo4j-admin database dump` and `load` where it runs, Aura's snapshots; or"
    " `hoprank corpus export`, a corpus at a time."
)


def _own_server(verb: str, fix: str = _OWN_MEANS) -> all_settings.Settings:
    settings = read_settings()
    if settings.neo4j.uri:
        raise ConfigurationError(
            f"NEO4J_URI is set to {settings.neo4j.uri}, so there is no embedded server to {verb}.", fix
        )
    return settings
