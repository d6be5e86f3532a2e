"""Search, and context for a language model."""

from fastapi import APIRouter

from pipeline.serve.http.models import ContextRequest, ContextResponse, SearchRequest, SearchResponse
from pipeline.serve.http.state import Granted, Service

router = APIRouter(prefix="/v1", tags=["search"])


@router.post("/search", response_model=SearchResponse, response_model_exclude_unset=True)
async def search(body: SearchRequest, service: Service, grant: Granted) -> dict[str, object]:
    """Return the passages of a corpus that answer a question best."""
    service.check(grant, body)
    asked = body.model_dump(exclude={"query"})
    return (await service.gate.run(service.connection.search, body.query, **asked)).to_json()


@router.post("/context", response_model=ContextResponse)
async def context(body: ContextRequest, service: Service, grant: Granted) -> dict[str, object]:
    """Return passages as a language model reads them best: numbered, with sources, within a budget of tokens."""
    service.check(grant, body)
    asked = body.model_dump(exclude={"query"})
    return await service.gate.run(lambda: service.connection.context(body.query, **asked).to_json())
