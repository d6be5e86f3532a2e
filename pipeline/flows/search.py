"""Search: a question, its candidates, their neighbourhood, the walk, fusion, and the passages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pipeline.db.catalogue import get_corpus
from pipeline.db.client import Client
from pipeline.errors import QuestionError
from pipeline.retrieve.context import Context, build_context
from pipeline.retrieve.explain import present
from pipeline.retrieve.filters.parse import parse_filter
from pipeline.retrieve.legs import Leg, leg_named
from pipeline.retrieve.passage_relations import read_ties
from pipeline.retrieve.question import check_question, check_vector
from pipeline.retrieve.results import RetrieverResult
from pipeline.retrieve.retriever import Retriever


def search(
    client: Client,
    retriever: Retriever,
    query_text: str | None,
    query_vector: Sequence[float] | None = None,
    top_k: int = 10,
    *,
    filters: Mapping[str, Any] | None = None,
    leg: Leg | str = Leg.WHOLE,
    explain: bool = False,
) -> RetrieverResult:
    """Return the ``top_k`` passages that answer a question best; none, if every leg is empty.

    ``query_vector`` replaces the embedding of the text; with it alone only the vector leg and the walk from it speak.
    ``filters`` says which chunks may answer (:mod:`pipeline.retrieve.filters.parse`). ``leg`` asks for one
    leg instead of the fused whole. ``explain`` adds to each hit the path that led to it.

    Raises QuestionError on an empty or overlong question, a vector that can't be one, an unknown leg, or a ``top_k``
    under 1; FilterError on filters that are malformed.
    """
    if top_k < 1:
        raise QuestionError(f"top_k is {top_k}.", "Ask for 1 passage or more.")
    if query_vector is not None:
        check_vector(query_vector, retriever.corpus.dimension)
    question = check_question(query_text or "") if query_vector is None or query_text else ""
    wanted = leg_named(leg)
    admitted = None if filters is None else retriever.admit(parse_filter(filters))
    found = retriever.find(question, wanted, query_vector, admitted)
    return present(client, retriever.corpus, found, top_k, explain=explain, admitted=admitted)


def context(
    client: Client,
    retriever: Retriever,
    count_tokens: Callable[[str], int],
    question: str,
    *,
    tokens: int = 2000,
    top_k: int = 20,
    filters: Mapping[str, Any] | None = None,
) -> Context:
    """Return the best ``top_k`` passages for a question, as far as ``tokens`` of the embedder go, in reading order.

    Raises what :func:`search` does, and QuestionError if ``tokens`` is under 1.
    """
    if tokens < 1:
        raise QuestionError(f"The budget is {tokens} tokens.", "Allow 1 token or more.")
    result = search(client, retriever, question, top_k=top_k, filters=filters)
    corpus = get_corpus(client, retriever.corpus.name)
    chunks = [item.metadata["id"] for item in result.items]
    ties = read_ties(client, chunks, corpus.generation, corpus.chunks)
    return build_context(question, result, ties, tokens, count_tokens)
