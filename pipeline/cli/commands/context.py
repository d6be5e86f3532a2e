"""``hoprank context``: passages for a language model."""

from __future__ import annotations

from typing import Annotated

import typer

from pipeline.cli.connection import connected
from pipeline.cli.options import Corpus, Filters, Json, Model, Set, filters_of, flags
from pipeline.cli.views.hits import warn_of_unknown_fields
from pipeline.cli.views.output import print_json, waiting, warn
from pipeline.retrieve.question import check_question
from pipeline.settings import load_settings


def context(
    question: Annotated[str, typer.Argument(help="What the passages are to answer.")],
    corpus: Corpus = "default",
    tokens: Annotated[
        int, typer.Option("--tokens", "-t", min=1, help="How many tokens of the embedding model they may take in all.")
    ] = 2000,
    top_k: Annotated[int, typer.Option("--top-k", "-k", min=1, help="How many hits to take them from.")] = 20,
    filters: Filters = None,
    as_json: Json = False,
    model: Model = None,
    settings: Set = None,
) -> None:
    """Print passages for a language model as Markdown: numbered, with sources, in the order of a chain."""
    check_question(question)
    wanted = filters_of(filters)
    with connected(load_settings(flags(model, settings))) as hoprank, waiting("Searching"):
        found = hoprank.context(question, corpus=corpus, tokens=tokens, top_k=top_k, filters=wanted)
    warn_of_unknown_fields(found.metadata)
    if as_json:
        print_json(found.to_json())
        return
    if not found.passages:
        room = f"has room in {tokens:,} tokens" if found.left_out else "answers this"
        warn(f"Nothing in the corpus {corpus} {room}.")
        return
    print(found.to_markdown(), end="")
