"""``hoprank tools``: the graph of MCP tools."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from pipeline.cli import completion
from pipeline.cli.connection import connected
from pipeline.cli.deliver import JsonFile, check_json_file, deliver, deliver_report
from pipeline.cli.groups import Commands
from pipeline.cli.lazy import lazy_imports
from pipeline.cli.options import Embedding, Json, Measuring, Run, read_settings
from pipeline.cli.views.output import say, show, spinner
from pipeline.cli.views.progress import show_progress
from pipeline.domains.tools import views
from pipeline.errors import InputError

with lazy_imports(__name__):
    from pipeline.domains.tools import api

app = Commands(no_args_is_help=True)

Graph = Annotated[str, Option("--graph", "-g", metavar="NAME", help="The graph.", autocompletion=completion.graphs)]
Node = Annotated[str, Argument(metavar="NODE", help="The id of a node, or the name of a tool.")]


@app.command()
def build(
    paths: Annotated[
        list[Path],
        Argument(
            metavar="PATH",
            help="tools/list JSON, server descriptors (server.yaml), corpus.jsonl, or folders with these.",
        ),
    ],
    log: Annotated[
        Path | None,
        Option("--log", metavar="FILE", help='A log of calls, in order: lines of {"session": ..., "tool": ...}.'),
    ] = None,
    graph: Graph = "tools",
    run: Embedding = Run(),
) -> None:
    """Make a graph hold the tools of some files, and nothing else; the old graph stays until the new one is whole."""
    with run.connect() as hoprank, show_progress() as progress:
        built = api.Tools(hoprank, graph).build(*paths, log=log, progress=progress)
    deliver(built, run.as_json, lambda it: views.built_view(it, graph))


@app.command()
def connect(
    server: Annotated[
        list[str], Argument(metavar="SERVER", help="The URL of an MCP server, or a command that starts one.")
    ],
    graph: Graph = "tools",
    timeout: Annotated[float, Option("--timeout", metavar="SECONDS", min=1, help="How long to wait.")] = 30.0,
    run: Embedding = Run(),
) -> None:
    """Add the tools of a live MCP server to a graph, or replace those that it has of this server.

    Options of a command come after --: hoprank tools connect -- uvx mcp-server-time --local-timezone UTC
    """
    with run.connect() as hoprank, show_progress() as progress:
        target = server if len(server) > 1 else server[0]
        built = api.Tools(hoprank, graph).connect(target, timeout=timeout, progress=progress)
    deliver(built, run.as_json, lambda it: views.built_view(it, graph))


@app.command()
def evaluate(
    folder: Annotated[Path, Argument(metavar="DIR", help="A folder with corpus.jsonl, queries.jsonl and qrels.tsv.")],
    json_file: JsonFile = None,
    run: Measuring = Run(),
) -> None:
    """Measure how many of the tools that tasks need are found: by vectors, by BM25, by both, and by all of HopRank."""
    check_json_file(json_file)
    with run.connect() as hoprank, show_progress() as progress:
        report = api.Tools(hoprank).evaluate(folder, progress=progress)
    deliver_report(report.to_json(), json_file, lambda: show(views.report_view(report)))


@app.command()
def find(
    task: Annotated[str, Argument(metavar="TASK", help="What is to be done.")],
    graph: Graph = "tools",
    top_k: Annotated[
        int | None,
        Option("--top-k", "-k", "--limit", "-n", min=1, max=100, help="How many.", show_default="as the task needs"),
    ] = None,
    run: Embedding = Run(),
) -> None:
    """Print the tools for a task, with what they need, best first."""
    with run.connect() as hoprank, spinner("Searching"):
        found = api.Tools(hoprank, graph).find(task, top_k)
    deliver(found, run.as_json, views.found_view, "No tool fits this.")


@app.command()
def chain(
    task: Annotated[str | None, Argument(metavar="TASK", help="What is to be done.")] = None,
    start: Annotated[
        str | None, Option("--from", metavar="NAME", help="A tool, a type or a field: what there is.")
    ] = None,
    goal: Annotated[
        str | None, Option("--to", metavar="NAME", help="A tool, a type or a field: what is wanted.")
    ] = None,
    graph: Graph = "tools",
    limit: Annotated[int | None, Option("--limit", "-n", min=1, max=100, help="How many chains.")] = None,
    mermaid: Annotated[bool, Option("--mermaid", help="Print the best chain as a Mermaid flowchart.")] = False,
    run: Embedding = Run(),
) -> None:
    """Print chains of tools, in which each output fits the next input: for a task, or from one thing to another."""
    if bool(task) == bool(start or goal) or bool(start) != bool(goal):
        raise InputError("A chain is for a task, or leads from one thing to another.", "Give TASK, or --from and --to.")
    with run.connect() as hoprank, spinner("Searching"):
        tools = api.Tools(hoprank, graph)
        chains = tools.chains(task, limit) if task else tools.chains_between(start or "", goal or "", limit)
    if mermaid and chains and not run.as_json:
        say(views.flowchart(chains[0]), end="")
    else:
        deliver(chains, run.as_json, lambda it: list(views.chains_view(it)), "No chain of tools leads there.")


@app.command("show")
def show_(
    tool: Annotated[str, Argument(metavar="TOOL", help="The id or name of a tool.")],
    graph: Graph = "tools",
    as_json: Json = False,
) -> None:
    """Show a tool: what it says of itself, what runs before it, and what its output fits."""
    with connected(read_settings()) as hoprank:
        details = api.Tools(hoprank, graph).show(tool)
    deliver(details, as_json, lambda it: list(views.tool_view(it)))
