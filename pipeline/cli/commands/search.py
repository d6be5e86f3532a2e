"""``hoprank search``: the passages that answer a question."""

from __future__ import annotations

from typing import Annotated

import typer

from pipeline.cli.connection import connected
from pipeline.cli.deferred import excerpt
from pipeline.cli.deferred import question as questions
from pipeline.cli.options import Corpus, Filters, Json, Model, Set, read_filter, read_settings
from pipeline.cli.views.hits import result_views, warn_of_unknown_fields
from pipeline.cli.views.output import print_json, show, spinner
from pipeline.retrieve.legs import Leg


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
    questions.check_question(question)
    conditions = read_filter(filters)
    with connected(read_settings(model, settings)) as hoprank:
        with spinner("Searching"):
            result = hoprank.search(question, top_k=top_k, filters=conditions, corpus=corpus, leg=leg, explain=explain)
            passages = [item.content.strip() for item in result.items]
            if not (full or as_json):
                passages = excerpt.excerpts(result.items, question, hoprank.embedder, vector=result.query_vector)
        # Printed before the connection closes, which waits for a projection that the search began.
        warn_of_unknown_fields(result.metadata)
        if as_json:
            print_json(result.to_json())
        else:
            show(*result_views(result, passages, explain=explain))
