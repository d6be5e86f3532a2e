"""``hoprank graph``: knowledge graphs, listed, explored, imported, exported, drawn and dropped."""

from __future__ import annotations

import webbrowser
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

import pipeline
from pipeline.cli import completion
from pipeline.cli.connection import connected_client
from pipeline.cli.deferred import catalogue, exchange, explore, graph_catalogue, load
from pipeline.cli.deliver import deliver
from pipeline.cli.groups import Commands
from pipeline.cli.options import AsOf, Depth, EdgeTypes, Json, KnownAt, Limit, Way, Yes, confirm, read_settings
from pipeline.cli.views.graphs import edges_table, graphs_table, near_table, nodes_table, path_view
from pipeline.cli.views.output import print_json, say, spinner
from pipeline.cli.views.progress import show_progress
from pipeline.edges import MOST_HOPS
from pipeline.errors import InputError
from pipeline.text.prose import counted

if TYPE_CHECKING:
    from pipeline.db.client import Client

app = Commands(help="Knowledge graphs: list, explore, import, export, draw, drop.", no_args_is_help=True)

File = Annotated[Path, Argument(metavar="FILE", help=".json, .jsonl or .graphml; else give --format.")]
Kind = Annotated[str | None, Option("--format", metavar="FORMAT", help="json, jsonl or graphml.")]
Graph = Annotated[
    str | None, Option("--graph", "-g", metavar="NAME", help="A graph.", autocompletion=completion.graphs)
]
Corpus = Annotated[
    str | None, Option("--corpus", "-c", metavar="NAME", help="A corpus instead.", autocompletion=completion.corpora)
]

Name = Annotated[
    str, Argument(metavar="NAME", help="The graph, or the corpus.", autocompletion=completion.corpora_and_graphs)
]
Node = Annotated[str, Argument(metavar="NODE", help="Its id or name; of a corpus also the key of a document.")]
NodeTypes = Annotated[
    list[str] | None,
    Option("--type", "-t", metavar="TYPE", help="Only nodes of this type; repeatable.", show_default="all"),
]


@dataclass(frozen=True)
class Seen:
    """Options on what of a graph is seen, and how that is printed; each command takes those that it can use."""

    types: EdgeTypes = None
    direction: Way = "both"
    limit: Limit = 100
    as_of: AsOf = None
    known_at: KnownAt = None
    as_json: Json = False

    def of(self, client: Client, name: str) -> pipeline.KnowledgeGraph:
        """Return the graph or the corpus of that name, as it was at that time."""
        graph = explore.open_graph(client, name)
        return graph.at(self.as_of, self.known_at) if self.as_of or self.known_at else graph


Listed = Annotated[Seen, "limit", "as_of", "known_at", "as_json"]
Led = Annotated[Seen, "types", "direction", "as_of", "known_at", "as_json"]


@app.command("list")
def list_(
    name: Annotated[
        str | None,
        Argument(
            metavar="NAME",
            help="A graph or corpus, whose nodes are listed.",
            autocompletion=completion.corpora_and_graphs,
        ),
    ] = None,
    types: NodeTypes = None,
    label: Annotated[str | None, Option("--label", metavar="LABEL", help="Only nodes with this label.")] = None,
    where: Annotated[
        list[str] | None,
        Option("--where", metavar="NAME=VALUE", help="Only nodes whose property is, or holds, this; repeatable."),
    ] = None,
    important: Annotated[bool, Option("--important", help="By PageRank, the most important first.")] = False,
    seen: Listed = Seen(),
) -> None:
    """List the graphs, with what each holds; or the nodes of one, by id."""
    properties = dict(map(_property, where or ()))
    with connected_client(read_settings()) as client:
        if name is not None:
            chosen: dict[str, Any] = {"label": label, "properties": properties, "by_importance": important}
            nodes = explore.list_nodes(seen.of(client, name), types, seen.limit, **chosen)
            documents = [{**_node(node), "properties": dict(node.properties)} for node in nodes]
            deliver(nodes, seen.as_json, nodes_table, f"{name} has no such node.", document=documents)
            return
        graphs = catalogue.list_graphs(client)
    document = [{"name": graph.name, "nodes": nodes, "created_at": graph.created_at} for graph, nodes in graphs]
    none = "There is no graph yet; `hoprank skills build DIR` and `hoprank graph import FILE` make one."
    deliver(graphs, seen.as_json, graphs_table, none, document=document)


@app.command()
def near(name: Name, node: Node, depth: Depth = 1, seen: Seen = Seen(limit=50)) -> None:
    """List the nodes around a node, nearest first."""
    with connected_client(read_settings()) as client:
        graph = seen.of(client, name)
        start = explore.find_node(graph, node).id
        found = explore.near(graph, start, depth, limit=seen.limit, types=seen.types, direction=seen.direction)
    documents = [{**_node(one.node), "hops": one.hops, "score": one.score} for one in found]
    deliver(found, seen.as_json, near_table, f"No edge leads on from {node}.", document=documents)


@app.command()
def edges(
    name: Name,
    node: Annotated[
        str | None, Argument(metavar="NODE", help="Its id or name.", show_default="all edges of the graph")
    ] = None,
    depth: Annotated[
        int | None,
        Option("--depth", min=1, max=MOST_HOPS, help="All among the nodes this near.", show_default="the node's own"),
    ] = None,
    seen: Seen = Seen(),
) -> None:
    """List the edges of a node, or of the whole graph, heaviest first, with what they say."""
    with connected_client(read_settings()) as client:
        graph = seen.of(client, name)
        start = None if node is None else explore.find_node(graph, node).id
        found = explore.list_edges(graph, start, depth, types=seen.types, direction=seen.direction, limit=seen.limit)
        ids = dict.fromkeys(end for edge in found for end in (edge.source, edge.target))
        names = {one.id: explore.name_of(one) for one in graph.get_nodes(list(ids))}
    none = f"{name} has no such edge."
    deliver(found, seen.as_json, lambda it: edges_table(it, names), none, document=list(map(_edge, found)))


@app.command()
def path(
    name: Name,
    source: Annotated[str, Argument(metavar="FROM", help="The id or the name of a node.")],
    target: Annotated[str, Argument(metavar="TO", help="Another one.")],
    depth: Depth = 6,
    seen: Led = Seen(),
) -> None:
    """Print a path with the fewest edges between two nodes, and the types of the edges of each step."""
    with connected_client(read_settings()) as client:
        graph = seen.of(client, name)
        start, goal = (explore.find_node(graph, given).id for given in (source, target))
        found = explore.path(graph, start, goal, depth, types=seen.types, direction=seen.direction)
    steps = [[edge.type for edge in step] for step in found.steps]
    document = {"nodes": [_node(node) for node in found.nodes], "steps": steps}
    none = f"No path of {counted(depth, 'edge')} leads from {source} to {target}."
    deliver(found, seen.as_json, path_view, none, is_empty=not found.nodes, document=document)


@app.command("import")
def import_(
    file: File,
    graph: Annotated[str, Option("--graph", "-g", metavar="NAME", help="The graph.", autocompletion=completion.graphs)],
    kind: Kind = None,
    as_json: Json = False,
) -> None:
    """Make a graph hold what a file holds, and nothing else; the old graph stays until the new one is whole."""
    with connected_client(read_settings()) as client, show_progress() as progress:
        size = load.load(client, graph, exchange.read_graph(file, kind), progress)
    if as_json:
        print_json({"graph": graph, "nodes": size.nodes, "edges": size.edges, "seconds": dict(progress.seconds)})
    else:
        seconds = sum(progress.seconds.values())
        say(
            f"Imported {counted(size.nodes, 'node')} and {counted(size.edges, 'edge')} into {graph} in {seconds:.1f} s."
        )


@app.command()
def export(file: File, graph: Graph = None, corpus: Corpus = None, kind: Kind = None) -> None:
    """Write a graph, or a corpus as one, to a file."""
    with connected_client(read_settings()) as client, spinner("Writing"):
        _open(client, graph, corpus).export(file, kind)
    say(f"Wrote {file}.")


@app.command()
def view(
    graph: Graph = None,
    corpus: Corpus = None,
    out: Annotated[Path, Option("--out", "--output", "-o", metavar="FILE", help="The page.")] = Path("graph.html"),
    node: Annotated[str | None, Option("--node", metavar="ID", help="Only what is around this node.")] = None,
    hops: Annotated[int, Option("--hops", "--depth", min=1, help="How far around it.")] = 2,
    limit: Annotated[int, Option("--limit", "-n", min=1, help="How many nodes at most: the most important.")] = 300,
    show_it: Annotated[bool, Option("--open", help="Open it in the browser.")] = False,
) -> None:
    """Draw a graph, or a corpus as one, as a page that needs no network."""
    with connected_client(read_settings()) as client, spinner("Drawing"):
        opened = _open(client, graph, corpus)
        if node is not None:
            near = opened.multi_hop_retrieval(node, hops, limit=limit, direction="both")
            opened = opened.get_subgraph([neighbour.node.id for neighbour in near])
        opened.view(out, limit)
    say(f"Wrote {out}.")
    if show_it:
        webbrowser.open(out.absolute().as_uri())


@app.command()
def drop(
    name: Annotated[str, Argument(metavar="NAME", help="The graph.", autocompletion=completion.graphs)],
    yes: Yes = False,
) -> None:
    """Delete a graph with all that it holds. There is no way back."""
    with connected_client(read_settings()) as client:
        graph = catalogue.get_graph(client, name)
        confirm(f"Drop {name!r}?", yes)
        graph_catalogue.drop_graph(client, graph)
    say(f"Dropped {name}.")


def _node(node: pipeline.KnowledgeNode) -> dict[str, str]:
    return {"id": node.id, "type": node.type, "name": explore.name_of(node)}


def _edge(edge: pipeline.KnowledgeEdge) -> dict[str, Any]:
    names = ("source", "target", "type", "weight", "directed", "valid_at", "invalid_at")
    return {**{name: getattr(edge, name) for name in names}, "properties": dict(edge.properties)}


def _property(given: str) -> tuple[str, str]:
    name, equals, value = given.partition("=")
    if not (name and equals):
        raise InputError(f"--where {given!r} isn't NAME=VALUE.", "Write, for example, --where path=notes/bees.md.")
    return name, value


def _open(client: Client, graph: str | None, corpus: str | None) -> pipeline.KnowledgeGraph:
    if graph is not None and corpus is None:
        return pipeline.KnowledgeGraph(graph, client=client, create=False)
    if corpus is not None and graph is None:
        return pipeline.KnowledgeGraph.open(corpus, client=client)
    raise InputError("Which graph isn't said.", "Give either --graph NAME or --corpus NAME.")
