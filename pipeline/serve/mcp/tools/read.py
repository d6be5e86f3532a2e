"""Tools that read texts: search, fetch, context, list_corpora."""

import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from pipeline.db.catalogue import DEFAULT_NAME, corpus_or_only, list_graphs
from pipeline.db.catalogue import list_corpora as list_all
from pipeline.edges import evidence_line
from pipeline.errors import InputError
from pipeline.retrieve.context import fence, source_of
from pipeline.retrieve.legs import Leg
from pipeline.retrieve.results import RetrieverResultItem
from pipeline.retrieve.window import Expand
from pipeline.serve.mcp import models
from pipeline.serve.mcp.models import Corpus, Filters, MinRelevance, Query, TopK
from pipeline.serve.mcp.service import Call
from pipeline.serve.mcp.uris import document_uri, parse_document_uri

_ADDRESS = re.compile(
    r"https?://(\[[\da-f:.]+\]|[^/?#@:\[\]\s\"<>\\^`{|}]+)(:\d+)?([/?#][^\s\"<>\\^`{|}]*)?", re.IGNORECASE
)
"""A plain address on the web: words in it, or the name of another host before an @, would mislead."""

_LONGEST_ADDRESS = 2_000  # characters; chosen by hand: browsers take as many
_ADDRESSES = ("url", "source", "link")
"""Metadata of a document that may hold its address."""

_TRIES = 3
"""Attempts to fit a context with its markers into the budget."""


def search(
    call: Call,
    query: Query,
    corpus: Corpus = "default",
    top_k: TopK = 10,
    filters: Filters = None,
    leg: Annotated[Leg, Field(description="The ranking; hoprank is all of them, fused.")] = Leg.WHOLE,
    min_relevance: MinRelevance = None,
    excerpts: Annotated[
        bool, Field(description="Add to each passage the sentences that answer best; without them a search is faster.")
    ] = True,
) -> models.SearchResults:
    """Return the passages that answer a question best."""
    corpus = _chosen(call, corpus)
    found = call.hoprank.search(
        query,
        None,
        top_k,
        filters,
        corpus=corpus,
        leg=leg,
        min_relevance=min_relevance,
        explain=True,
        excerpts=excerpts,
    )
    results = [_result(corpus, item) for item in found.items]
    return models.SearchResults(results=results, **_judged(found.metadata))


def fetch(
    call: Call,
    id: Annotated[str, Field(min_length=1, description="The id of a search result.")],  # noqa: A002 - clients' name
    start: Annotated[int, Field(ge=0, description="The first character: next_start of the part before.")] = 0,
    length: Annotated[int, Field(ge=1, le=1_000_000, description="The most characters.")] = 50_000,
) -> models.FetchedDocument:
    """Return a document with its text."""
    corpus, key = parse_document_uri(id)
    call.grant.check(corpus)
    stored = call.hoprank.document(key, corpus)
    if start > len(stored.text):
        raise InputError(f"The document has {len(stored.text):,} characters.", "Begin before its end.")
    end = min(start + length, len(stored.text))
    place = models.FetchMetadata(
        corpus=corpus,
        document=key,
        path=stored.entry.path,
        characters=len(stored.text),
        start=start,
        end=end,
        next_start=end if end < len(stored.text) else None,
        document_metadata=dict(stored.entry.metadata),
    )
    uri = document_uri(corpus, key)
    title, text = stored.entry.title or key, stored.text[start:end]
    return models.FetchedDocument(id=uri, title=title, text=text, url=_url(uri, stored.entry.metadata), metadata=place)


def context(
    call: Call,
    query: Query,
    corpus: Corpus = "default",
    tokens: Annotated[int, Field(ge=50, le=100_000, description="The most tokens of the text.")] = 2000,
    top_k: TopK = 20,
    filters: Filters = None,
    expand: Annotated[
        Expand,
        Field(description="Adds the best passages' neighbours, or the rest of their sections, in half of the tokens."),
    ] = Expand.NONE,
    min_relevance: MinRelevance = None,
) -> models.ContextResult:
    """Return passages to answer from, with their sources, within a budget of tokens."""
    corpus = _chosen(call, corpus)
    room = tokens
    for _ in range(_TRIES):
        found = call.hoprank.context(
            query,
            corpus=corpus,
            tokens=max(room, 1),
            top_k=top_k,
            filters=filters,
            expand=expand,
            min_relevance=min_relevance,
        )
        text = fence([f"{one.head}\nSource: {one.citation}\n\n{one.shown}" for one in found.passages])
        size = call.hoprank.embedder.count_tokens(text)
        if size <= tokens or not found.passages:
            break
        room -= size - tokens
    sources = [
        models.Source(number=number, id=uri, title=passage.title, url=uri, source=passage.source)
        for number, passage in enumerate(found.passages, 1)
        for uri in [document_uri(corpus, passage.document)]
    ]
    judged = _judged(found.metadata)
    return models.ContextResult(text=text, sources=sources, tokens=size, left_out=found.left_out, **judged)


def list_corpora(call: Call) -> models.Corpora:
    """Return the corpora and the knowledge graphs that the token opens."""
    client, sizes = call.hoprank.client, ("name", "documents", "chunks", "entities")
    corpora = [
        models.CorpusEntry(**{name: getattr(corpus, name) for name in sizes}, writing=corpus.staging is not None)
        for corpus in list_all(client)
        if call.grant.opens(corpus.name)
    ]
    graphs = [
        models.GraphEntry(name=graph.name, nodes=nodes)
        for graph, nodes in list_graphs(client)
        if call.grant.opens(graph.name)
    ]
    return models.Corpora(corpora=corpora, graphs=graphs)


def _chosen(call: Call, corpus: str) -> str:
    """Return the corpus to search: for ``default``, if there is none, the only one that the token opens."""
    if corpus == DEFAULT_NAME:
        corpus = corpus_or_only(call.hoprank.client, None, call.grant.opens)
    call.grant.check(corpus)
    return corpus


def _judged(metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {"relevance": metadata["relevance"], "warnings": metadata.get("warnings", [])}


def _result(corpus: str, item: RetrieverResultItem) -> models.SearchResult:
    hit = item.metadata
    uri = document_uri(corpus, hit["document"])
    return models.SearchResult(
        id=uri,
        title=hit["title"] or hit["document"],
        url=_url(uri, hit["document_metadata"]),
        text=item.content,
        excerpt=hit.get("excerpt", ""),
        path=evidence_line(hit["evidence"]),
        source=source_of(hit["document"], hit["path"], hit["line_start"], hit["line_end"]),
        heading=hit["heading"],
        lines=(hit["line_start"], hit["line_end"]),
        rank=hit["rank"],
        score=hit["score"],
        relevance=hit["relevance"],
        node=hit["id"],
        metadata={**hit["document_metadata"], **hit["chunk_metadata"]},
    )


def _url(uri: str, metadata: Mapping[str, Any]) -> str:
    """Return the address of a document on the web, if its metadata has it, else its URI here."""
    values = (metadata.get(name) for name in _ADDRESSES)
    plain = (value for value in values if isinstance(value, str) and len(value) <= _LONGEST_ADDRESS)
    return next((value for value in plain if value.isprintable() and _ADDRESS.fullmatch(value)), uri)
