"""Search, and context for a language model."""

from typing import Any

from fastapi import APIRouter

from pipeline.serve.http.models import ContextRequest, ContextResponse, SearchRequest, SearchResponse
from pipeline.serve.http.state import Granted, Service

router = APIRouter(prefix="/v1", tags=["search"])


@router.post("/search", response_model=SearchResponse, response_model_exclude_unset=True)
async def search(body: SearchRequest, service: Service, grant: Granted) -> dict[str, object]:
    """Return the passages of a corpus that answer a question best."""
    grant.check(body.corpus)
    service.check_question(body.query)
    service.check_top_k(body.top_k)
    result = await service.gate.run(
        service.connection.search,
        body.query,
        top_k=body.top_k,
        filters=body.filters,
        corpus=body.corpus,
        leg=body.leg,
        explain=body.explain,
        min_relevance=body.min_relevance,
        excerpts=body.excerpts,
    )
    return result.to_json()


@router.post("/context", response_model=ContextResponse)
async def context(body: ContextRequest, service: Service, grant: Granted) -> dict[str, object]:
    """Return passages as a language model reads them best: numbered, with sources, within a budget of tokens."""
    grant.check(body.corpus)
    service.check_question(body.query)
    service.check_top_k(body.top_k)

    def call() -> dict[str, Any]:
        found = service.connection.context(
            body.query,
            corpus=body.corpus,
            tokens=body.tokens,
            top_k=body.top_k,
            filters=body.filters,
            expand=body.expand,
            min_relevance=body.min_relevance,
        )
        return found.to_json()

    return await service.gate.run(call)
