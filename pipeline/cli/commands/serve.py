"""``hoprank serve`` and ``mcp``: the HTTP service, the MCP server, and what clients' configurations need."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

from typer import Option

from pipeline import telemetry
from pipeline.addresses import is_loopback
from pipeline.cli import completion
from pipeline.cli.connection import connected
from pipeline.cli.deferred import access, listening, logs, mcp_run, mcp_service, mcp_table, service
from pipeline.cli.deferred import settings as all_settings
from pipeline.cli.options import Measuring, Run
from pipeline.cli.views.output import print_json, warn
from pipeline.errors import ExtraMissing
from pipeline.serve.mcp.client_config import McpClient, address_config, command_config


def serve(
    host: Annotated[str, Option("--host", help="The address to listen at.")] = "127.0.0.1",
    port: Annotated[int, Option("--port", "-p", min=0, max=65535, help="The port; 0 takes a free one.")] = 8765,
    root_path: Annotated[
        str | None,
        Option("--root-path", metavar="PATH", help="The path below which a proxy shows it.", show_default="none"),
    ] = None,
    run: Measuring = Run(),
) -> None:
    """Serve search, context, corpora, ingest and sync over HTTP, with a page to explore at /.

    It listens on this machine alone. For others to use it, set HOPRANK_SERVE__TOKEN to a secret and give --host.
    """
    chosen = run.read() if root_path is None else run.setting(f"serve.root_path={root_path}").read()
    tokens = access.Access(chosen.serve)
    access.check_exposure(host, tokens)
    with listening.listen(host, port) as sock:
        url = access.url_of(host, sock.getsockname()[1])
        logs.write_logs(chosen.observe)
        logging.getLogger("hoprank").setLevel(logging.INFO)
        with connected(chosen) as hoprank:
            service.serve(hoprank, tokens, sock, lambda: warn(f"HopRank serves at {url}. Ctrl-C stops it."))


def mcp(
    corpus: Annotated[
        str,
        Option(
            "--corpus",
            "-c",
            metavar="NAME",
            help="The corpus that calls mean when they name none.",
            autocompletion=completion.corpora,
        ),
    ] = "default",
    read_only: Annotated[bool, Option("--read-only", help="Leave out the tools that write.")] = False,
    folders: Annotated[
        list[Path] | None,
        Option(
            "--folder",
            metavar="DIR",
            help="A folder whose files the tool ingest may read, beside serve.folders; repeatable.",
            show_default="none",
        ),
    ] = None,
    domains: Annotated[
        list[str] | None,
        Option(
            "--domain",
            metavar="NAME",
            help="Add the verbs of a domain (memory, routing, skills, tools, vault); repeatable. A client chooses worse"
            " among many tools, so name those that it needs.",
            show_default="none",
        ),
    ] = None,
    http: Annotated[bool, Option("--http", help="Serve over streamable HTTP at /mcp.")] = False,
    host: Annotated[str, Option("--host", help="With --http: the address to listen at.")] = "127.0.0.1",
    port: Annotated[
        int, Option("--port", "-p", min=0, max=65535, help="With --http: the port; 0 takes a free one.")
    ] = 8766,
    print_config: Annotated[
        McpClient | None, Option("--print-config", help="Print what to paste into a client's configuration, and stop.")
    ] = None,
    run: Measuring = Run(),
) -> None:
    """Serve search, documents and graphs to agents by the Model Context Protocol (MCP).

    A client starts the command and talks over its standard streams. With --http it serves many, by the same tokens as
    `hoprank serve`.
    """
    chosen = run.read()
    allowed = [folder.resolve() for folder in folders or ()]
    if print_config is not None and http:
        with_token = not access.Access(chosen.serve).is_open or not is_loopback(host)
        print_json(address_config(print_config, _url(host, port), with_token=with_token))
    elif print_config is not None:
        options = [] if corpus == "default" else ["--corpus", corpus]
        options += ["--read-only"] if read_only else []
        models = [] if run.model is None else [run.model]
        repeated = {"--folder": allowed, "--domain": domains or (), "--model": models, "--set": run.settings or ()}
        options += [str(part) for name, values in repeated.items() for value in values for part in (name, value)]
        print_json(command_config(print_config, options))
    else:
        tools = mcp_table.core_tools(chosen.serve, corpus, read_only=read_only)
        tools += mcp_table.domain_tools(domains or (), read_only=read_only)
        if http:
            _serve_http(chosen, tools, allowed, host, port)
        else:
            _serve_streams(chosen, tools, allowed)


def _serve_streams(settings: all_settings.Settings, tools: list[mcp_table.Tool], folders: list[Path]) -> None:
    with _needs_mcp():
        serve = mcp_run.serve_stdio
    if sys.stdin.isatty():
        warn("Waiting for an MCP client on stdin; --print-config prints its configuration. Ctrl-C stops.")
    logs.write_logs(settings.observe)
    telemetry.start(settings.observe.traces)  # a client's first call may come before Neo4j is there
    serve(mcp_service.Service(lambda: connected(settings), settings.serve, folders), tools)


def _serve_http(
    settings: all_settings.Settings, tools: list[mcp_table.Tool], folders: list[Path], host: str, port: int
) -> None:
    tokens = access.Access(settings.serve)
    access.check_exposure(host, tokens)
    with _needs_mcp():
        serve, listen = mcp_run.serve_http, listening.listen
    with listen(host, port) as sock, connected(settings) as hoprank:
        url = _url(host, sock.getsockname()[1])
        logs.write_logs(settings.observe)
        service = mcp_service.Service(lambda: hoprank, settings.serve, folders)
        serve(service, tools, tokens, host, sock, lambda: warn(f"HopRank serves MCP at {url}. Ctrl-C stops it."))


def _url(host: str, port: int) -> str:
    return f"{access.url_of(host, port)}/mcp"


@contextmanager
def _needs_mcp() -> Iterator[None]:
    """Turn the absence of a package within the context into ExtraMissing, which names the extra to install."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] == "pipeline":
            raise
        raise ExtraMissing.of("mcp", error) from error
