"""``hoprank tools build``, ``connect`` and ``evaluate``: what makes a tool graph."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from pipeline.cli.connection import connected
from pipeline.cli.deliver import JsonFile, check_json_file, deliver_report
from pipeline.cli.options import Json, Model, Set, read_settings
from pipeline.cli.views.output import print_json, show
from pipeline.cli.views.progress import show_progress
from pipeline.domains.tools import deferred as domain
from pipeline.domains.tools.cli.options import Graph, settings_of
from pipeline.domains.tools.views.building import built_view, report_view


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(build)
    app.command()(connect)
    app.command()(evaluate)


def build(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH...",
            help="tools/list JSON, server descriptors (server.yaml), corpus.jsonl, or folders with these.",
        ),
    ],
    log: Annotated[
        Path | None,
        typer.Option(
            "--log",
            metavar="FILE",
            help='A log of calls, in order: lines of {"session": ..., "tool": ...}.',
            show_default=False,
        ),
    ] = None,
    graph: Graph = "tools",
    as_json: Json = False,
    model: Model = None,
    settings: Set = None,
) -> None:
    """Make a graph hold the tools of some files, and nothing else; until it is whole, the old one is there."""
    with connected(read_settings(model, settings)) as hoprank, show_progress() as progress:
        limits = hoprank.settings.sources.limits
        built = domain.build.build(
            partial(hoprank.graph, graph), paths, settings_of(hoprank), progress, limits=limits, log=log
        )
    if as_json:
        print_json(asdict(built))
    else:
        show(built_view(built, graph))


def connect(
    server: Annotated[
        list[str], typer.Argument(metavar="SERVER...", help="The URL of an MCP server, or a command that starts one.")
    ],
    graph: Graph = "tools",
    timeout: Annotated[float, typer.Option("--timeout", metavar="SECONDS", min=1, help="How long to wait.")] = 30.0,
    as_json: Json = False,
    model: Model = None,
    settings: Set = None,
) -> None:
    """Add the tools of a live MCP server to a graph, or replace those that it has of this server.

    Options of a command come after --: hoprank tools connect -- uvx mcp-server-time --local-timezone UTC
    """
    with connected(read_settings(model, settings)) as hoprank, show_progress() as progress:
        with progress.stage("connect"):
            catalogue = domain.live.list_live(server if len(server) > 1 else server[0], timeout=timeout)
        built = domain.build.add(partial(hoprank.graph, graph), catalogue, settings_of(hoprank), progress)
    if as_json:
        print_json(asdict(built))
    else:
        show(built_view(built, graph))


def evaluate(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A folder with corpus.jsonl, queries.jsonl and qrels.tsv.")
    ],
    json_file: JsonFile = None,
    model: Model = None,
    settings: Set = None,
) -> None:
    """Measure how many of the tools that tasks need are found: by vectors, by BM25, by both, and by all of HopRank."""
    check_json_file(json_file)
    with connected(read_settings(model, settings)) as hoprank, show_progress() as progress:
        make = partial(domain.build.build, settings=settings_of(hoprank), limits=hoprank.settings.sources.limits)
        report = domain.evaluate.evaluate(make, hoprank, folder, progress=progress)
    deliver_report(report.to_json(), json_file, lambda: show(report_view(report)))
