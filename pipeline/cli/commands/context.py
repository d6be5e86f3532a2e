"""``hoprank context``: passages for a language model."""

from typing import Annotated

from typer import Argument, Option

from pipeline.cli.deferred import question as questions
from pipeline.cli.options import Corpus, Embedding, Filters, Run, read_filter
from pipeline.cli.views.hits import warn_of_unknown_fields
from pipeline.cli.views.output import print_json, say, spinner, warn


def context(
    question: Annotated[str, Argument(help="What the passages are to answer.")],
    corpus: Corpus = "default",
    tokens: Annotated[
        int, Option("--tokens", "-t", min=1, help="How many tokens of the embedding model they may take in all.")
    ] = 2000,
    top_k: Annotated[int, Option("--top-k", "-k", min=1, help="How many hits to take them from.")] = 20,
    filters: Filters = None,
    run: Embedding = Run(),
) -> None:
    """Print passages for a language model as Markdown: numbered, with sources, in the order of a chain."""
    questions.check_question(question)
    conditions = read_filter(filters)
    with run.connect() as hoprank:
        with spinner("Searching"):
            result = hoprank.context(question, corpus=corpus, tokens=tokens, top_k=top_k, filters=conditions)
        # Printed before the connection closes, which waits for a projection that the search began.
        warn_of_unknown_fields(result.metadata)
        if run.as_json:
            print_json(result.to_json())
        elif result.passages:
            say(result.to_markdown(), end="")
        else:
            reason = f"has room in {tokens:,} tokens" if result.left_out else "answers this"
            warn(f"Nothing in the corpus {corpus} {reason}.")
