"""``hoprank migrate``, ``reembed`` and ``relink``: rebuild a corpus or a graph while the old one is searched."""

from typing import Annotated

from typer import Argument, Option

from pipeline.cli import completion
from pipeline.cli.connection import connected, connected_client
from pipeline.cli.deferred import catalogue, maintain
from pipeline.cli.options import Filterable, Rebuilding, Run, fields_of, read_settings
from pipeline.cli.views.output import say
from pipeline.cli.views.progress import show_progress


def migrate(
    names: Annotated[
        list[str] | None,
        Argument(
            metavar="NAME",
            help="The corpora and graphs; all of them, if none is named.",
            autocompletion=completion.corpora_and_graphs,
        ),
    ] = None,
    run: Rebuilding = Run(),
) -> None:
    """Bring corpora and graphs that an older version made to the present layout; vectors are kept.

    Searches go on meanwhile.
    """
    chosen = run.read()
    with connected_client(chosen) as client, show_progress() as progress:
        corpora = {corpus.name for corpus in catalogue.list_corpora(client)}
        graphs = {graph.name for graph, _ in catalogue.list_graphs(client)}
        for name in names or sorted(corpora | graphs):
            if name in corpora or name not in graphs:
                maintain.migrate(client, chosen, name, progress=progress.of(name))
                say(f"{name} is of schema version {catalogue.SCHEMA_VERSION}.")
            if name in graphs:
                maintain.migrate_graph(client, chosen, name, progress=progress.of(name))
                say(f"The graph {name} is of schema version {catalogue.GRAPH_SCHEMA_VERSION}.")


def reembed(
    corpus: Annotated[str, Argument(metavar="NAME", help="The corpus.", autocompletion=completion.corpora)],
    model: Annotated[str, Option("--model", metavar="MODEL", help="A sentence-transformers name, or a folder.")],
    run: Rebuilding,
) -> None:
    """Embed a corpus with another model, beside the old vectors, and switch when all is there."""
    chosen = read_settings(model, run.settings, run.wait)
    with connected(chosen) as hoprank, show_progress() as progress:
        made = maintain.reembed(hoprank.client, hoprank.embedder, chosen, corpus, progress=progress)
    say(f"{corpus} is embedded with {made.fingerprint} now; its chunks are as they were.")


def relink(
    names: Annotated[list[str], Argument(metavar="NAME", help="The corpora.", autocompletion=completion.corpora)],
    run: Rebuilding,
    filterable: Filterable = None,
) -> None:
    """Link corpora anew by the present link settings; vectors are kept.

    With --filterable they declare these fields to filter by. An ingest keeps the settings that a corpus was linked
    with, so that two thresholds never mix. Searches go on meanwhile.
    """
    chosen = run.read()
    fields = fields_of(filterable)
    with connected(chosen) as hoprank, show_progress() as progress:
        for name in names:
            made = maintain.relink(hoprank.client, hoprank.embedder, chosen, name, filterable=fields, progress=progress)
            links = ", ".join(f"{kind} {count:,}" for kind, count in made.edges.items() if count)
            say(f"{name} is linked by the present settings: {links or 'no edges'}.")
