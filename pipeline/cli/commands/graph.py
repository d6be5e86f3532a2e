"""``hoprank graph``: knowledge graphs, listed, imported, exported, drawn and dropped."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from pipeline.cli.commands.corpus import confirm
from pipeline.cli.connection import client_of
from pipeline.cli.options import Json
from pipeline.cli.views.output import print_json, show, waiting, warn
from pipeline.cli.views.progress import shown_progress
from pipeline.errors import InputError
from pipeline.settings import load_settings

if TYPE_CHECKING:
    from pipeline.db.client import Client
    from pipeline.knowledge import KnowledgeGraph

app = typer.Typer(help="Knowledge graphs: list, import, export, draw, drop.", no_args_is_help=True)

File = Annotated[Path, typer.Argument(metavar="FILE", help=".json, .jsonl or .graphml; else give --format.")]
Kind = Annotated[
    str | None,
    typer.Option("--format", metavar="FORMAT", help="json, jsonl, graphml or node-link.", show_default=False),
]
Graph = Annotated[str | None, typer.Option("--graph", "-g", metavar="NAME", help="A graph.", show_default=False)]
Corpus = Annotated[
    str | None, typer.Option("--corpus", "-c", metavar="NAME", help="A corpus instead.", show_default=False)
]


@app.command("list")
def list_(as_json: Json = False) -> None:
    """List the graphs, with what each holds."""
    from pipeline.knowledge.catalogue import list_graphs

    with client_of(load_settings()) as client:
        graphs = list_graphs(client)
    if as_json:
        print_json([{"name": one.name, "nodes": nodes, "created_at": one.created_at} for one, nodes in graphs])
        return
    if not graphs:
        warn("There is no graph yet; `hoprank skills build DIR` and `hoprank graph import FILE` make one.")
        return
    table = Table(box=box.HORIZONTALS, show_edge=False, pad_edge=False)
    table.add_column("graph", overflow="fold")
    table.add_column("nodes", justify="right")
    table.add_column("made")
    for one, nodes in graphs:
        table.add_row(Text(one.name), f"{nodes:,}", one.created_at[:10])
    show(table)


@app.command("import")
def import_(
    file: File,
    graph: Annotated[str, typer.Option("--graph", "-g", metavar="NAME", help="The graph.")],
    kind: Kind = None,
    as_json: Json = False,
) -> None:
    """Make a graph hold what a file holds, and nothing else; until it is whole, the old one is there."""
    from pipeline.knowledge.exchange import read_graph
    from pipeline.knowledge.load import load

    with client_of(load_settings()) as client, shown_progress() as progress:
        size = load(client, graph, read_graph(file, kind), progress)
    if as_json:
        print_json({"graph": graph, "nodes": size.nodes, "edges": size.edges, "seconds": dict(progress.seconds)})
    else:
        seconds = sum(progress.seconds.values())
        print(f"Imported {size.nodes:,} nodes and {size.edges:,} edges into {graph} in {seconds:.1f} s.")


@app.command()
def export(file: File, graph: Graph = None, corpus: Corpus = None, kind: Kind = None) -> None:
    """Write a graph, or a corpus as one, to a file."""
    with client_of(load_settings()) as client, waiting("Writing"):
        _opened(client, graph, corpus).export(file, kind)
    print(f"Wrote {file}.")


@app.command()
def view(
    graph: Graph = None,
    corpus: Corpus = None,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The page.")] = Path("graph.html"),
    node: Annotated[
        str | None, typer.Option("--node", metavar="ID", help="Only what is around this node.", show_default=False)
    ] = None,
    hops: Annotated[int, typer.Option("--hops", min=1, help="How far around it.")] = 2,
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many nodes at most: the most important.")] = 300,
    show_it: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
) -> None:
    """Draw a graph, or a corpus as one, as a page that needs no network."""
    with client_of(load_settings()) as client, waiting("Drawing"):
        opened = _opened(client, graph, corpus)
        if node is not None:
            near = opened.multi_hop_retrieval(node, hops, limit=limit, direction="both")
            opened = opened.get_subgraph([one.node.id for one in near])
        opened.view(out, limit)
    print(f"Wrote {out}.")
    if show_it:
        webbrowser.open(out.absolute().as_uri())


@app.command()
def drop(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The graph.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Don't ask.")] = False,
) -> None:
    """Delete a graph with all that it holds. There is no way back."""
    from pipeline.knowledge.catalogue import drop_graph, get_graph

    with client_of(load_settings()) as client:
        graph = get_graph(client, name)
        if not yes:
            confirm(f"Drop {name!r}?")
        drop_graph(client, graph)
    print(f"Dropped {name}.")


def _opened(client: Client, graph: str | None, corpus: str | None) -> KnowledgeGraph:
    from pipeline.knowledge import KnowledgeGraph

    if graph is not None and corpus is None:
        return KnowledgeGraph(graph, client=client, create=False)
    if corpus is not None and graph is None:
        return KnowledgeGraph.open(corpus, client=client)
    raise InputError("Which graph isn't said.", "Give either --graph NAME or --corpus NAME.")
