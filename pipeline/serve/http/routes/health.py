"""Health, readiness and metrics: for those who run the service."""

from importlib.metadata import version

from fastapi import APIRouter, Response

from pipeline.api import HopRank
from pipeline.serve.http.metrics import MEDIA_TYPE
from pipeline.serve.http.models import Health, Readiness
from pipeline.serve.http.state import Granted, Service

router = APIRouter(tags=["operations"])


@router.get("/health")
async def health() -> Health:
    """Tell that the service answers; it asks neither the server nor the model, so it answers during an ingest too."""
    return Health(version=version("hoprank"))


@router.get("/ready")
async def ready(service: Service) -> Readiness:
    """Tell that the server is reachable and the model is loaded; else 503."""
    return await service.hoprank.run(_readiness, service.connection)


@router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
async def metrics(service: Service, _: Granted) -> Response:
    """Return the metrics in Prometheus's text format."""
    return Response(service.metrics.text(service.gate.running), media_type=MEDIA_TYPE)


def _readiness(hoprank: HopRank) -> Readiness:
    hoprank.client.verify()
    hoprank.embedder.embed_query("ready")
    return Readiness(server=hoprank.client.address.uri, model=hoprank.embedder.name)
