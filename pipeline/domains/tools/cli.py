"""``hoprank tools``: the graph of MCP tools."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipeline.cli.connection import connected
from pipeline.cli.deliver import JsonFile, check_json_file, deliver_report
from pipeline.cli.options import Json, Model, Set, read_settings
from pipeline.cli.views.output import print_json, say, show, spinner, warn
from pipeline.cli.views.progress import show_progress
from pipeline.domains.tools import deferred as domain
from pipeline.domains.tools.views import (
    built_view,
    chains_view,
    flowchart,
    found_view,
    path_view,
    reached_view,
    report_view,
    tool_view,
    tools_view,
)
from pipeline.errors import InputError

if TYPE_CHECKING:
    import pipeline
    from pipeline.domains.tools.settings import ToolSettings

app = typer.Typer(no_args_is_help=True)

Graph = Annotated[str, typer.Option("--graph", "-g", metavar="NAME", help="The graph.")]
EdgeTypes = Annotated[
    list[str] | None,
    typer.Option("--type", metavar="TYPE", help="Follow only edges of this type; repeatable.", show_default="all"),
]
Node = Annotated[str, typer.Argument(metavar="NODE", help="The id of a node, or the name of a tool.")]


@app.command()
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
            partial(hoprank.graph, graph), paths, _settings(hoprank), progress, limits=limits, log=log
        )
    if as_json:
        print_json(asdict(built))
    else:
        show(built_view(built, graph))


@app.command()
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
        built = domain.build.add(partial(hoprank.graph, graph), catalogue, _settings(hoprank), progress)
    if as_json:
        print_json(asdict(built))
    else:
        show(built_view(built, graph))


@app.command()
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
        make = partial(domain.build.build, settings=_settings(hoprank), limits=hoprank.settings.sources.limits)
        report = domain.evaluate.evaluate(make, hoprank, folder, progress=progress)
    deliver_report(report.to_json(), json_file, lambda: show(report_view(report)))


@app.command()
def find(
    task: Annotated[str, typer.Argument(metavar="TASK", help="What is to be done.")],
    graph: Graph = "tools",
    top_k: Annotated[
        int | None,
        typer.Option("--top-k", "-k", min=1, max=100, help="How many tools.", show_default="as many as the task needs"),
    ] = None,
    as_json: Json = False,
    model: Model = None,
    settings: Set = None,
) -> None:
    """Print the tools for a task, with what they need, best first."""
    with connected(read_settings(model, settings)) as hoprank, spinner("Searching"):
        found = domain.queries.ToolSearch.open(hoprank, graph).find(task, top_k)
    if as_json:
        print_json([asdict(tool) for tool in found])
    elif found:
        show(found_view(found))
    else:
        warn("No tool fits this.")


@app.command()
def chain(
    task: Annotated[str | None, typer.Argument(metavar="TASK", help="What is to be done.", show_default=False)] = None,
    start: Annotated[
        str | None,
        typer.Option("--from", metavar="NAME", help="A tool, a type or a field: what there is.", show_default=False),
    ] = None,
    goal: Annotated[
        str | None,
        typer.Option("--to", metavar="NAME", help="A tool, a type or a field: what is wanted.", show_default=False),
    ] = None,
    graph: Graph = "tools",
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", min=1, max=100, help="How many chains.", show_default=False)
    ] = None,
    mermaid: Annotated[bool, typer.Option("--mermaid", help="Print the best chain as a Mermaid flowchart.")] = False,
    as_json: Json = False,
    model: Model = None,
    settings: Set = None,
) -> None:
    """Print chains of tools, in which each output fits the next input: for a task, or from one thing to another."""
    if bool(task) == bool(start or goal) or bool(start) != bool(goal):
        raise InputError("A chain is for a task, or leads from one thing to another.", "Give TASK, or --from and --to.")
    with connected(read_settings(model, settings)) as hoprank, spinner("Searching"):
        search = domain.queries.ToolSearch.open(hoprank, graph)
        chains = search.chains(task, limit) if task else search.chains_between(start or "", goal or "", limit)
    if as_json:
        print_json([asdict(one) for one in chains])
    elif not chains:
        warn("No chain of tools leads there.")
    elif mermaid:
        say(flowchart(chains[0]), end="")
    else:
        show(*chains_view(chains))


@app.command("list")
def list_(graph: Graph = "tools", as_json: Json = False) -> None:
    """List the tools, service by service."""
    with connected(read_settings()) as hoprank:
        catalogue = domain.catalogue.stored_catalogue(hoprank.graph(graph, create=False))
    tools = sorted(catalogue.tools, key=lambda tool: tool.id)
    if as_json:
        print_json([{"id": tool.id, "service": tool.service, "description": tool.description} for tool in tools])
    elif tools:
        show(tools_view(tools, {service.id: service.name for service in catalogue.services}))
    else:
        warn(f"The graph {graph} holds no tools.")


@app.command("show")
def show_(
    tool: Annotated[str, typer.Argument(metavar="TOOL", help="The id or name of a tool.")],
    graph: Graph = "tools",
    as_json: Json = False,
) -> None:
    """Show a tool: what it says of itself, what runs before it, and what its output fits."""
    with connected(read_settings()) as hoprank:
        details = domain.queries.describe(hoprank.graph(graph, create=False), tool)
    if as_json:
        print_json(asdict(details))
    else:
        show(*tool_view(details))


@app.command()
def traverse(
    node: Node,
    depth: Annotated[int, typer.Option("--depth", min=1, max=8, help="How many edges away.")] = 2,
    edge_types: EdgeTypes = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many nodes at most.")] = 50,
    graph: Graph = "tools",
    as_json: Json = False,
) -> None:
    """List the nodes around a node, nearest first, with their similarity: 1 / (1 + distance)."""
    with connected(read_settings()) as hoprank:
        opened = hoprank.graph(graph, create=False)
        reached = domain.queries.traverse(opened, node, depth, edge_types or (), limit)
    if as_json:
        print_json(
            [
                {"id": one.node.id, "type": one.node.type, "distance": one.distance, "similarity": one.similarity}
                for one in reached
            ]
        )
    elif reached:
        show(reached_view(reached))
    else:
        warn(f"No edge leads on from {node}.")


@app.command()
def path(
    source: Annotated[str, typer.Argument(metavar="FROM", help="The id of a node, or the name of a tool.")],
    target: Annotated[str, typer.Argument(metavar="TO", help="Another one.")],
    depth: Annotated[int, typer.Option("--depth", min=1, max=8, help="How many edges at most.")] = 8,
    edge_types: EdgeTypes = None,
    graph: Graph = "tools",
    as_json: Json = False,
) -> None:
    """Print a path with the fewest edges between two nodes."""
    with connected(read_settings()) as hoprank:
        nodes = domain.queries.path(hoprank.graph(graph, create=False), source, target, depth, edge_types or ())
    if as_json:
        print_json([{"id": node.id, "type": node.type} for node in nodes])
    elif nodes:
        show(path_view(nodes))
    else:
        warn(f"No path of {depth} edges leads from {source} to {target}.")


def _settings(hoprank: pipeline.HopRank) -> ToolSettings:
    """Return the section ``tools`` of the settings."""
    return hoprank.settings.section(domain.settings.ToolSettings)
