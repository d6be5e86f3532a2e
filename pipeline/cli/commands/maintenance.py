"""``hoprank reembed`` and ``relink``: rebuild a corpus while the old one is searched."""

from typing import Annotated

from typer import Argument, Option

from pipeline.cli import completion
from pipeline.cli.connection import connected
from pipeline.cli.deferred import maintain
from pipeline.cli.options import Filterable, Rebuilding, fields_of, read_settings
from pipeline.cli.views.output import say
from pipeline.cli.views.progress import show_progress


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
