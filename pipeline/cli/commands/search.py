"""``hoprank search`` and ``context``: the passages that answer a question, for people and for a language model."""

from typing import Annotated

from typer import Argument, Option

from pipeline.cli.connection import corpus_or_only, warn_if_unfinished
from pipeline.cli.deferred import excerpt
from pipeline.cli.deferred import question as questions
from pipeline.cli.deliver import deliver
from pipeline.cli.options import (
    AnyCorpus,
    Embedding,
    Filters,
    MinRelevance,
    Passages,
    Run,
    TopK,
    read_filter,
    read_relevance,
)
from pipeline.cli.views.hits import result_views, warn_of_search
from pipeline.cli.views.output import print_json, say, spinner, warn
from pipeline.errors import InputError
from pipeline.registry import search_by_route
from pipeline.retrieve.legs import Leg
from pipeline.text.plain import plain


def search(
    question: Annotated[
        str, Argument(metavar="QUESTION", help="What to search for; operators of query languages are only text.")
    ],
    corpus: AnyCorpus = None,
    top_k: TopK = 10,
    filters: Filters = None,
    leg: Annotated[Leg, Option("--leg", help="Rank by one leg instead of the fused whole.")] = Leg.WHOLE,
    routing: Annotated[
        str | None,
        Option(
            "--routing",
            metavar="MODE",
            help="Search projects instead of a corpus (`hoprank help routing`): graph, the few that the project graph"
            " and a first look choose; all; or oracle, those of --project.",
        ),
    ] = None,
    source: Annotated[
        str | None,
        Option(
            "--from",
            metavar="PROJECT",
            help="With --routing: the project that asks; none if no project does.",
            show_default="the one that holds the working directory",
        ),
    ] = None,
    projects: Annotated[
        list[str] | None,
        Option("--project", metavar="PROJECT", help="With --routing oracle: a project to search; repeatable."),
    ] = None,
    min_relevance: MinRelevance = None,
    explain: Annotated[
        bool, Option("--explain", help="Show each leg's rank and score, and the path that led to the hit.")
    ] = False,
    full: Annotated[bool, Option("--full", help="Print whole passages instead of excerpts.")] = False,
    run: Embedding = Run(),
) -> None:
    """Print the passages of a corpus, or of several projects, that answer a question best."""
    questions.refuse_empty(question)
    if (source or projects) and routing is None:
        raise InputError("--from and --project are for a routed search.", "Give --routing too, or leave them out.")
    if corpus is not None and routing is not None:
        raise InputError("--routing searches projects instead of a corpus.", "Leave out --corpus or --routing.")
    conditions = read_filter(filters)
    with run.connect() as hoprank:
        name = corpus_or_only(hoprank.client, corpus) if routing is None else ""
        known = hoprank.settings.retrieve.known_relevance
        with spinner("Searching"):
            least = read_relevance(min_relevance, known)
            options = {"top_k": top_k, "filters": conditions, "leg": leg, "explain": explain, "min_relevance": least}
            if routing is None:
                result = hoprank.search(question, corpus=name, **options)
            else:
                asking = {"none": "", ".": None}.get(source or "", source)
                routed = {"mode": routing, "source": asking, "projects": projects or ()}
                result = search_by_route(hoprank, question, **routed, **options)
            passages = [plain(item.content).strip() for item in result.items]
            if not (full or run.as_json):
                passages = excerpt.excerpts(
                    result.items, questions.as_asked(question), hoprank.embedder, vector=result.query_vector
                )
        # Printed before the connection closes, which waits for a projection that the search began.
        warn_of_search(result.metadata, known)
        deliver(result, run.as_json, lambda it: result_views(it, passages, explain=explain))
        if not result.items and name:
            warn_if_unfinished(hoprank.client, name)


def context(
    question: Annotated[str, Argument(metavar="QUESTION", help="What the passages are to answer.")],
    passages: Passages = Passages(),
    tokens: Annotated[
        int, Option("--tokens", "-t", min=1, help="How many tokens of the embedding model they may take in all.")
    ] = 2000,
    run: Embedding = Run(),
) -> None:
    """Print passages for a language model as Markdown: numbered, with sources, in the order of a chain."""
    questions.refuse_empty(question)
    conditions = read_filter(passages.filters)
    with run.connect() as hoprank:
        asked = passages.asked(hoprank, conditions)
        with spinner("Searching"):
            result = hoprank.context(question, tokens=tokens, **asked)
        # Printed before the connection closes, which waits for a projection that the search began.
        warn_of_search(result.metadata, hoprank.settings.retrieve.known_relevance)
        if run.as_json:
            print_json(result.to_json())
        elif result.passages:
            say(result.to_markdown(), end="")
        else:
            reason = f"has room in {tokens:,} tokens" if result.left_out else "answers this"
            warn(f"Nothing in the corpus {asked['corpus']} {reason}.")
            warn_if_unfinished(hoprank.client, asked["corpus"])
