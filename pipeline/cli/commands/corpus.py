"""``hoprank corpus``: the list of corpora, and work on one as a whole."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from pipeline.cli import completion
from pipeline.cli.connection import UNFINISHED, connected, connected_client
from pipeline.cli.deferred import catalogue, maintain, questions
from pipeline.cli.deliver import deliver
from pipeline.cli.groups import Commands
from pipeline.cli.options import Json, Model, Yes, confirm, read_settings
from pipeline.cli.views.output import say, warn
from pipeline.cli.views.progress import show_progress
from pipeline.cli.views.summary import corpora_table, stats_table
from pipeline.text.prose import counted
from pipeline.transfer.formats import Format

app = Commands(help="Corpora: list, look into, rename, export, import or drop them.", no_args_is_help=True)

Name = Annotated[str, Argument(metavar="NAME", help="The corpus.", autocompletion=completion.corpora)]


@app.command("list")
def list_(as_json: Json = False) -> None:
    """List the corpora, with what each holds and the model it was embedded with."""
    with connected_client(read_settings()) as client:
        corpora = catalogue.list_corpora(client)
    none = "There is no corpus yet; `hoprank ingest PATH... --corpus NAME` makes one."
    deliver([corpus for corpus in corpora if corpus.generation], as_json, corpora_table, none)
    for unfinished in (corpus.name for corpus in corpora if not corpus.generation):
        warn(UNFINISHED.format(name=unfinished))


@app.command()
def stats(name: Name, as_json: Json = False) -> None:
    """Print what a corpus holds, how it was made and who writes to it."""
    with connected_client(read_settings()) as client:
        statistics = maintain.stats(client, name)
    deliver(statistics, as_json, stats_table)


@app.command()
def rename(name: Name, new_name: Annotated[str, Argument(metavar="NEW", help="Its new name.")]) -> None:
    """Give a corpus another name."""
    with connected_client(read_settings()) as client:
        maintain.rename(client, name, new_name)
    say(f"Renamed {name} to {new_name}.")


@app.command()
def export(
    name: Name,
    path: Annotated[Path, Argument(metavar="PATH", help="NAME.jsonl, NAME.graphml, or a folder: for Parquet.")],
    form: Annotated[Format | None, Option("--format", help="Instead of what the suffix says.")] = None,
    embeddings: Annotated[bool, Option(help="With the vectors; an import makes them again without.")] = True,
) -> None:
    """Write a corpus to JSON lines (everything, for an import), GraphML or Parquet."""
    chosen = form or Format.of(path)
    with connected_client(read_settings()) as client, show_progress() as progress:
        maintain.export_corpus(client, name, path, chosen, embeddings=embeddings, progress=progress)
    say(f"Exported {name} to {path}.")


@app.command()
def judgements(
    name: Name,
    folder: Annotated[Path, Option("--to", metavar="DIR", help="The folder; it is made.")],
    documents: Annotated[bool, Option("--documents", help="With the corpus's documents, for `hoprank tune`.")] = False,
) -> None:
    """Write what people said of hits as a queryset, for `hoprank evaluate DIR --corpus NAME`."""
    with connected_client(read_settings()) as client:
        size = questions.write_judgements(client, name, folder, documents=documents)
    say(f"Wrote {counted(size.judgements, 'judgement')} of {counted(size.questions, 'question')} to {folder}.")


@app.command("import")
def import_(
    path: Annotated[Path, Argument(metavar="PATH", help="A .jsonl or a folder of Parquet that `export` wrote.")],
    name: Annotated[str | None, Option("--as", metavar="NAME", help="Another name for it.")] = None,
    model: Model = None,
) -> None:
    """Make a corpus again from an export; the two are equal."""
    with connected(read_settings(model)) as hoprank, show_progress() as progress:
        corpus = maintain.import_corpus(hoprank.client, hoprank.embedder, path, name, progress=progress)
    say(f"Imported {corpus.name}: {counted(corpus.documents, 'document')}, {counted(corpus.chunks, 'chunk')}.")


@app.command()
def drop(name: Name, yes: Yes = False) -> None:
    """Delete a corpus: its documents, chunks, entities and indexes. There is no way back."""
    with connected_client(read_settings()) as client:
        corpus = catalogue.get_corpus(client, name)
        confirm(f"Drop {name!r} ({counted(corpus.documents, 'document')})?", yes)
        maintain.drop(client, name)
    say(f"Dropped {name}.")
