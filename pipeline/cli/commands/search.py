"""``hoprank search``: the passages that answer a question."""

from __future__ import annotations

from typing import Annotated

import typer

from pipeline.cli.connection import connected
from pipeline.cli.options import Corpus, Filters, Json, Model, Set, filters_of, flags
from pipeline.cli.views.hits import result_views, warn_of_unknown_fields
from pipeline.cli.views.output import print_json, show, waiting
from pipeline.retrieve.legs import Leg
from pipeline.retrieve.question import check_question
from pipeline.settings import load_settings


def search(
    question: Annotated[str, typer.Argument(help="What to search for; operators of query languages are only text.")],
    corpus: Corpus = "default",
    top_k: Annotated[int, typer.Option("--top-k", "-k", min=1, help="How many passages.")] = 10,
    filters: Filters = None,
    leg: Annotated[Leg, typer.Option("--leg", help="Rank by one leg instead of the fused whole.")] = Leg.WHOLE,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show each leg's rank and score, and the path that led to the hit.")
    ] = False,
    full: Annotated[bool, typer.Option("--full", help="Print whole passages instead of excerpts.")] = False,
    as_json: Json = False,
    model: Model = None,
    settings: Set = None,
) -> None:
    """Print the passages of a corpus that answer a question best."""
    from pipeline.retrieve.excerpt import excerpts

    check_question(question)
    wanted = filters_of(filters)
    with connected(load_settings(flags(model, settings))) as hoprank, waiting("Searching"):
        result = hoprank.search(question, top_k=top_k, filters=wanted, corpus=corpus, leg=leg, explain=explain)
        passages = [item.content.strip() for item in result.items]
        if not (full or as_json):
            passages = excerpts(result.items, question, hoprank.embedder, vector=result.query_vector)
    warn_of_unknown_fields(result.metadata)
    if as_json:
        print_json(result.to_json())
    else:
        show(*result_views(result, passages, explain=explain))
